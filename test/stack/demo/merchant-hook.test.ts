import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type MerchantHook, openMerchantHook } from '../../../stack/demo/merchant-hook.js';

const notice = {
  type: 'payment.succeeded',
  data: { id: 'col_1', status: 'SUCCESSFUL', final: true },
};

describe("the merchant's address for notifications", () => {
  let hook: MerchantHook;

  beforeEach(async () => {
    hook = await openMerchantHook();
  });

  afterEach(async () => {
    await hook.close();
  });

  async function notify(secret: string, body = JSON.stringify(notice)) {
    const sentAt = new Date();
    const { status } = await fetch(hook.url, {
      method: 'POST',
      body,
      headers: {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign('evt_1', sentAt, body),
      },
    });
    return status;
  }

  it('takes a notification that is signed with its secret', async () => {
    const next = hook.next('col_1');
    expect(await notify(hook.secret)).toBe(204);
    await next;
    expect(hook.notices('col_1')).toEqual([notice]);
  });

  it('refuses one that is signed with another, and one that is not signed', async () => {
    expect(await notify(`whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(401);
    const { status } = await fetch(hook.url, { method: 'POST', body: JSON.stringify(notice) });
    expect(status).toBe(401);
    expect(hook.notices('col_1')).toEqual([]);
  });

  it('refuses what is no notification', async () => {
    expect(await notify(hook.secret, '{"type": "payment.succeeded"}')).toBe(401);
  });
});
