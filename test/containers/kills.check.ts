import { describe, expect, it } from '@jest/globals';
import { atCheckout } from '../../stack/demo/payer.js';
import { eventually } from '../support/eventually.js';
import { allHealthy, compose, docker, SERVICES, signal, untilHealth } from './compose.js';
import { type Begun, begin, create, endWell } from './merchant.js';

describe('with payments under way', () => {
  it.each(SERVICES)('%s is killed, and comes back; no payment is lost or made twice', async (service) => {
    const begun = await begin();
    await signal(service, 'KILL');
    await allHealthy();
    await endWell(begun);
  });

  it('all are killed at once', async () => {
    const begun = await begin();
    await Promise.all(SERVICES.map((service) => signal(service, 'KILL')));
    await allHealthy();
    await endWell(begun);
  });
});

describe('an open link', () => {
  const survives = async (act: () => Promise<unknown>) => {
    const begun: Begun = await begin();
    await act();
    await allHealthy();
    await atCheckout(begun.link.link ?? '', { action: 'pay', phone: '677123000' });
    await endWell(begun);
  };

  it('can be paid after stop and start', async () => {
    await survives(async () => {
      await compose('stop');
      await compose('start');
    });
  });

  it('can be paid after down and up', async () => {
    await survives(async () => {
      await compose('down');
      // A profile that is on for up alone would leave its containers behind.
      expect(await docker('ps', '--quiet', '--filter', 'label=com.docker.compose.project=sanaga')).toBe('');
      await compose('up', '-d');
    });
  });
});

describe('Temporal at another address', () => {
  it('takes payments as soon as it is healthy', async () => {
    await compose('up', '-d', '--no-deps', '--force-recreate', 'temporal');
    await untilHealth('temporal', 'healthy');
    const isTaken = () =>
      create('/v1/payouts', { amount: 500, phone: '677000000' }).then(
        () => true,
        () => false,
      );
    // With the address of its container, its parts look for the one from before, for half a minute at least.
    await eventually(isTaken, (taken) => taken, 20_000);
  });
});

describe('a volume with another password', () => {
  it('is said to be the reason', async () => {
    const refused = compose('run', '--rm', '--no-deps', '-T', '-e', 'SQL_PASSWORD=another', 'temporal-schema');
    await expect(refused).rejects.toThrow('An old volume keeps the password of its first start');
  });
});
