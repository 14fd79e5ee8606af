import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { scaledClock } from '../../../sandbox/clock.js';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.js';
import { atCheckout } from '../../../stack/demo/payer.js';

const secret = randomBytes(12).toString('hex');

describe('the payer at the checkout page', () => {
  let sandbox: Sandbox;
  let url: string;

  beforeEach(async () => {
    const service = (apiUser: string) => ({ apiUser, apiKey: secret });
    sandbox = createSandbox({
      clock: scaledClock(),
      merchantName: 'Shop',
      services: { collection: service('c'), payout: service('p') },
    });
    ({ url } = await sandbox.listen(0));
  });

  afterEach(async () => {
    await sandbox.close();
  });

  function openLink() {
    const { transId, linkToken } = sandbox.ledger.openLink({
      service: 'collection',
      serviceName: 'Shop',
      method: 'link',
      amount: 500,
    });
    return { transId, link: `${url}/pay/${linkToken}` };
  }

  it('pays', async () => {
    const { transId, link } = openLink();
    await atCheckout(link, { action: 'pay', phone: '677000000' });
    expect(sandbox.ledger.find(transId)?.status).toBe('SUCCESSFUL');
  });

  it('declines, and can pay after that', async () => {
    const { transId, link } = openLink();
    await atCheckout(link, { action: 'decline' });
    expect(sandbox.ledger.find(transId)?.status).toBe('FAILED');
    await atCheckout(link, { action: 'pay', phone: '699000000' });
    expect(sandbox.ledger.find(transId)?.status).toBe('SUCCESSFUL');
  });

  it('cannot pay what has expired, or what the page does not take', async () => {
    const { transId, link } = openLink();
    await expect(atCheckout(link, { action: 'pay', phone: '12' })).rejects.toThrow('answered the form with 422');
    sandbox.ledger.expire(transId);
    await expect(atCheckout(link, { action: 'decline' })).rejects.toThrow('the checkout page answered 410');
  });

  it('finds no form on a page that has none', async () => {
    const { link } = openLink();
    await atCheckout(link, { action: 'pay', phone: '677000000' });
    await expect(atCheckout(link, { action: 'decline' })).rejects.toThrow('no form to decline with');
  });
});
