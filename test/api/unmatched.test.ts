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
      const line = await stack.api.lineOf(headers.get('x-request-id') ?? '');
      expect(line).toMatchObject({ result: 'unmatched' });
    }
    expect(await stack.counted('unmatched')).toBe(before + 4);

    const kept = await unmatched();
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(kept).toEqual([
      // Two of them say the same, without what isn't kept.
      { at, transId: 'T1', status: 'SUCCESSFUL' },
      { at, transId: 'T1', status: 'SUCCESSFUL', externalId: 'order-17' },
      { at, transId: 'T1', status: 'SUCCESSFUL', externalId: unknown },
    ]);
    expect(JSON.stringify(kept)).not.toMatch(/jane/i);
  });

  it("that can't be read is counted, and kept as it came, and nothing of it is logged", async () => {
    const before = await stack.counted('malformed');
    const { status, headers } = await stack.notify('<payer>Jane Doe</payer>');
    expect(status).toBe(200);
    const [kept] = await unmatched();
    expect(kept).toEqual({ at: expect.any(String), unread: '<payer>Jane Doe</payer>' });
    expect(await stack.counted('malformed')).toBe(before + 1);
    await stack.api.lineOf(headers.get('x-request-id') ?? '');
    const lines = stack.api.lines.filter((text) => text.includes(headers.get('x-request-id') ?? ''));
    expect(lines.join()).toContain('malformed');
    expect(lines.join()).not.toContain('Jane');
  });

  it.each(['\u00e9', '\u0001', '\u0000'])(
    "that can't be read is kept by its beginning, whatever its characters: %j",
    async (character) => {
      await stack.notify(character.repeat(5_000));
      const [kept] = await unmatched();
      expect(kept.unread).toBe(character.repeat(1_000));
    },
  );
});

describe('a flood of notifications', () => {
  let fresh: ApiUnderTest;
  beforeAll(async () => {
    fresh = await stack.startMore();
  });

  const flood = async (
    count: number,
    body: object | ((number: number) => object),
    address = `/webhooks/provider/${WEBHOOK_TOKEN}`,
  ) => {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, number) => {
        const said = typeof body === 'function' ? body(number) : body;
        return fresh.ask('POST', address, { body: { status: 'SUCCESSFUL', ...said } });
      }),
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
    const made = (number: number) => ({ transId: `M${number}`, externalId: 'order-17' });
    expect(await flood(75, made)).toHaveLength(15);
    expect(await flood(1, { transId: 'T4', externalId: `col_${'1'.repeat(32)}` })).toHaveLength(1);
    // Of those that were refused, ten of each payment are kept, too.
    expect((await unmatched()).length).toBe(before + 60 + 10 + 1);
  });

  it('that say the same are kept once, as they came last', async () => {
    const api = await stack.startMore();
    const body = { transId: 'T3', status: 'SUCCESSFUL', externalId: 'order-18' };
    const send = () => api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
    const before = (await unmatched()).length;
    await send();
    const [first] = await unmatched();
    for (let times = 0; times < 20; times++) await send();
    const kept = await unmatched();
    expect(kept).toHaveLength(before + 1);
    expect(kept[0]).toMatchObject(body);
    expect(Date.parse(kept[0].at)).toBeGreaterThan(Date.parse(first.at));
  });

  it("that can't be read neither keeps out one that names a transaction, nor is kept more than once", async () => {
    const api = await stack.startMore();
    const send = (body: string | object) => api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
    const before = (await unmatched()).length;
    for (let times = 0; times < 61; times++) await send('PING');
    expect((await send('PING')).status).toBe(429);
    expect((await send({ transId: 'T5', status: 'SUCCESSFUL' })).status).toBe(200);
    const kept = await unmatched();
    expect(kept).toHaveLength(before + 2);
    expect(kept[0]).toMatchObject({ transId: 'T5' });
  });

  it('that names many transactions keeps out no other for good: those beyond the limit are kept, too', async () => {
    const api = await stack.startMore();
    const send = (body: object) => api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
    await send(Array.from({ length: 60 }, (_, index) => ({ transId: `X${index}`, status: 'SUCCESSFUL' })));
    expect((await send({ transId: 'T6', status: 'SUCCESSFUL' })).status).toBe(429);
    expect((await unmatched())[0]).toMatchObject({ transId: 'T6', status: 'SUCCESSFUL' });
  });

  it('with a wrong token is told nothing of all this', async () => {
    expect(await flood(3, { transId: 'T3', externalId: 'order-17' }, '/webhooks/provider/wrong')).toHaveLength(0);
  });
});
