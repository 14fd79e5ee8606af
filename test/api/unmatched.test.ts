import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { link, useStack } from '../support/payment-stack.js';

const stack = useStack();

const unmatched = async () =>
  (await stack.api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator })).body.data;

describe('a notification that matches no payment', () => {
  it('is none at first', async () => {
    const { status, body } = await stack.api.ask('GET', '/v1/notifications/unmatched', {
      key: KEYS.operator,
    });
    expect([status, body]).toEqual([200, { data: [] }]);
  });

  it('is acknowledged, counted, logged, and kept without what is personal', async () => {
    const unknown = `pay_${'0'.repeat(32)}`;
    const person = { payerName: 'Jane Doe', email: 'jane@example.org', amount: 500 };
    const before = await stack.counted('unmatched');
    for (const externalId of [unknown, 'order-17', 'jane@example.org', undefined]) {
      const { status, headers } = await stack.notify({
        transId: 'T1',
        status: 'SUCCESSFUL',
        externalId,
        ...person,
      });
      expect(status).toBe(200);
      const line = stack.api.lines.find((text) => text.includes(headers.get('x-request-id') ?? ''));
      expect(JSON.parse(line ?? '{}')).toMatchObject({ result: 'unmatched' });
    }
    expect(await stack.counted('unmatched')).toBe(before + 4);

    const kept = await unmatched();
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(kept).toEqual([
      { at, transId: 'T1', status: 'SUCCESSFUL' },
      { at, transId: 'T1', status: 'SUCCESSFUL' },
      { at, transId: 'T1', status: 'SUCCESSFUL', externalId: 'order-17' },
      { at, transId: 'T1', status: 'SUCCESSFUL', externalId: unknown },
    ]);
    expect(JSON.stringify(kept)).not.toMatch(/jane/i);
  });

  it('that is malformed is not kept', async () => {
    const before = await unmatched();
    expect((await stack.notify({ transId: 'T2', status: 'PAID' })).status).toBe(200);
    expect(await unmatched()).toEqual(before);
  });
});

describe('a flood of notifications', () => {
  let fresh: ApiUnderTest;
  beforeAll(async () => {
    fresh = await stack.startMore();
  });

  const flood = async (count: number, body: object, address = `/webhooks/provider/${WEBHOOK_TOKEN}`) => {
    const answers = await Promise.all(
      Array.from({ length: count }, () =>
        fresh.ask('POST', address, { body: { status: 'SUCCESSFUL', ...body } }),
      ),
    );
    return answers.filter(({ status }) => status === 429);
  };

  it('for one payment passes 60 a minute on, and holds up no other payment', async () => {
    const payment = await stack.begun('/v1/collections', link);
    const { transId, id: externalId } = payment;
    const [refused, ...others] = await flood(75, { transId, externalId });
    expect(others).toHaveLength(14);
    expect(refused?.body).toMatchObject({ code: 'too_many_notifications', status: 429 });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(await fresh.metrics()).toContain('result="throttled"} 15');

    const { historyLength } = await stack.api.client.workflow.getHandle(payment.id).describe();
    expect(historyLength).toBeLessThan(200);
    expect(stack.transactionsOf(payment.id)[0]?.statusCalls.throttled).toBe(0);
    const other = await stack.begun('/v1/collections', link);
    expect(await flood(1, { transId: other.transId, externalId: other.id })).toHaveLength(0);
  });

  it('for payments that nobody knows keeps 60 a minute of them', async () => {
    const before = (await unmatched()).length;
    expect(await flood(65, { transId: 'T3', externalId: 'order-17' })).toHaveLength(5);
    expect(await flood(1, { transId: 'T4', externalId: `col_${'1'.repeat(32)}` })).toHaveLength(1);
    expect((await unmatched()).length).toBe(before + 60);
  });

  it('with a wrong token is told nothing of all this', async () => {
    expect(
      await flood(3, { transId: 'T3', externalId: 'order-17' }, '/webhooks/provider/wrong'),
    ).toHaveLength(0);
  });
});
