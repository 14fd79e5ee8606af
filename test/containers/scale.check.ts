import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { allHealthy, asRoot, compose, containersOf, docker } from './compose.js';
import { begin, create, ends, endWell } from './merchant.js';

/** The first process of each of a service's containers. */
const processesOf = async (service: string) =>
  await Promise.all((await containersOf(service)).map((id) => docker('inspect', '--format', '{{.State.Pid}}', id)));

describe('with two APIs and two workers', () => {
  beforeAll(async () => {
    await compose('up', '-d', '--scale', 'api=2', '--scale', 'worker=2');
  }, 600_000);
  afterAll(async () => {
    await compose('up', '-d');
    await allHealthy();
  }, 600_000);

  it('both run, behind one address', async () => {
    expect(await containersOf('api')).toHaveLength(2);
    expect(await containersOf('worker')).toHaveLength(2);
    await endWell(await begin());
  });

  it.each([0, 1])('payments go on while API %i stands still', async (index) => {
    const begun = await begin();
    const pid = (await processesOf('api'))[index] ?? '';
    await asRoot('kill', '-s', 'STOP', pid);
    try {
      // What that one has taken is cut off, and the caller asks again; after that, nobody gets to it.
      const endsWell = () =>
        endWell(begun).then(
          () => true,
          () => false,
        );
      await eventually(endsWell, (ended) => ended, 120_000);
      for (let count = 0; count < 10; count++)
        await ends(await create('/v1/payouts', { amount: 500, phone: '677000000' }));
    } finally {
      await asRoot('kill', '-s', 'CONT', pid);
    }
  });
});
