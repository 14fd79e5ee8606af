import { describe, expect, it } from '@jest/globals';
import { createNotificationLimits, NotificationLimit } from '../../src/engine/notification-limits.js';
import { type ApiUnderTest, type ApiUnderTestOptions, KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { recordingMerchant, useStack } from '../support/payment-stack.js';

const stack = useStack({ merchant: recordingMerchant().merchant });

/** Runs something with an API of its own. */
async function withApi<T>(options: ApiUnderTestOptions, run: (api: ApiUnderTest) => Promise<T>): Promise<T> {
  const api = await stack.startMore(options);
  try {
    return await run(api);
  } finally {
    await api.stop();
  }
}

const notify = (api: ApiUnderTest, body: object) => api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
const unmatched = async () =>
  (await stack.api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator })).body.data;
/** Messages that the payment has taken. */
const takenBy = async (id: string) => {
  const [row] = await stack.book.query(
    'SELECT count(*) AS taken FROM inbox WHERE payment_id = $1 AND taken_in IS NOT NULL',
    [id],
  );
  return Number(row?.taken);
};

describe("a notification that a payment's limit refuses", () => {
  it('is kept for an operator when it contradicts the outcome, however often it comes', async () => {
    const payment = await stack.paid();
    const contradiction = { transId: payment.transId, status: 'EXPIRED', externalId: payment.id };
    const before = await takenBy(payment.id);
    await withApi({ limits: { ...createNotificationLimits(), reopenings: new NotificationLimit(0) } }, async (api) => {
      for (let times = 0; times < 3; times++) {
        const { status, headers, body } = await notify(api, contradiction);
        expect([status, body.code]).toEqual([429, 'too_many_notifications']);
        expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
    });
    expect(await takenBy(payment.id)).toBe(before);
    const kept = (await unmatched()).filter(({ externalId }: { externalId: string }) => externalId === payment.id);
    expect(kept).toMatchObject([contradiction]);
  });

  it('is kept when it is beyond the sixty that a payment takes, too, and can be sent again by hand', async () => {
    const payment = await stack.paid();
    const contradiction = { transId: payment.transId, status: 'EXPIRED', externalId: payment.id };
    await withApi({ limits: { ...createNotificationLimits(), hints: new NotificationLimit(0) } }, async (api) => {
      expect((await notify(api, contradiction)).status).toBe(429);
    });
    const [{ at: _, ...kept }] = await unmatched();
    expect(kept).toEqual(contradiction);

    const before = await takenBy(payment.id);
    expect((await notify(stack.api, kept)).status).toBe(200);
    await eventually(
      () => takenBy(payment.id),
      (now) => now > before,
    );
  });
});
