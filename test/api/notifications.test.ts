import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { resendNotification } from '../../src/api/routes/notifications.js';
import type { DeliveryOutcome } from '../../src/payments/words/delivery.js';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, recordingMerchant, useStack } from '../support/payment-stack.js';

let answer: DeliveryOutcome = { kind: 'delivered' };
const { notified, merchant } = recordingMerchant(() => answer);
const stack = useStack({ merchant });

const list = (id: string, key: string = KEYS.shop) => stack.api.ask('GET', `/v1/payments/${id}/notifications`, { key });
const resend = (id: string, number: number | string = 1, key: string = KEYS.shop) =>
  stack.post(`/v1/payments/${id}/notifications/${number}/resend`, undefined, undefined, key);
const notifiedOf = (id: string) => notified.filter(({ payment }) => payment.id === id);

describe('the notifications of a payment', () => {
  it('are none before anything has happened', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    const { status, body } = await list(id);
    expect([status, body]).toEqual([200, { data: [] }]);
  });

  it('are listed while it runs and after it has ended, with what became of each', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'decline');
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    const first = {
      number: 1,
      id: `evt_${payment.id}_attempt_failed_1`,
      type: 'payment.attempt_failed',
      at,
      delivery: { status: 'delivered', at },
    };
    const running = await eventually(
      () => list(payment.id),
      ({ body }) => body.data[0]?.delivery.status === 'delivered',
    );
    expect(running.body).toEqual({ data: [first] });

    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    await stack.read(payment.id, '?wait=60');
    const ended = await eventually(
      () => list(payment.id),
      ({ body }) => body.data[1]?.delivery.status === 'delivered',
    );
    expect(ended.body.data).toMatchObject([first, { number: 2, type: 'payment.succeeded' }]);
    expect(notifiedOf(payment.id).map(({ id }) => id)).toEqual(ended.body.data.map(({ id }: { id: string }) => id));
  });

  it('that are still to be told say when, and how often that was tried', async () => {
    answer = { kind: 'failed', reason: 'down' };
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    const { body } = await eventually(
      () => list(payment.id),
      (listed) => listed.body.data[0]?.delivery.tries > 0,
    );
    answer = { kind: 'delivered' };
    const { lastTriedAt, ...delivery } = body.data[0].delivery;
    expect(delivery).toMatchObject({ status: 'due', tries: 1, lastError: 'down' });
    expect(Math.abs(Date.parse(lastTriedAt) - Date.now())).toBeLessThan(60_000);
    expect(notifiedOf(payment.id)[0]).toMatchObject({ merchant: 'shop' });
    expect(Date.parse(body.data[0].delivery.at)).toBeGreaterThan(Date.now() - 60_000);
  });

  it('that had no address to go to are not called delivered', async () => {
    answer = { kind: 'noAddress' };
    const payment = await stack.paid();
    const { body } = await eventually(
      () => list(payment.id),
      (listed) => listed.body.data[0].delivery.status !== 'due',
    );
    answer = { kind: 'delivered' };
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(body.data).toMatchObject([{ number: 1, type: 'payment.succeeded' }]);
    expect(body.data[0].delivery).toEqual({ status: 'no_address', at });
    expect((await resend(payment.id)).status).toBe(202);
  });

  it("are nobody else's business", async () => {
    const { id } = await stack.begun('/v1/collections', link);
    expect((await list(id, KEYS.rival)).status).toBe(404);
    expect((await list(id, KEYS.operator)).status).toBe(200);
    expect((await resend(id, 1, KEYS.rival)).body.code).toBe('not_found');
  });
});

describe('a notification that is sent again', () => {
  it('goes out once more under its id while the payment runs', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'decline');
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    await eventually(
      () => list(payment.id),
      ({ body }) => body.data[0]?.delivery.status === 'delivered',
    );
    const { status, body } = await resend(payment.id);
    expect([status, body.id, body.status]).toEqual([202, payment.id, 'FAILED']);
    await eventually(
      async () => notifiedOf(payment.id),
      (sent) => sent.length === 2,
    );
    expect(new Set(notifiedOf(payment.id).map(({ id }) => id)).size).toBe(1);
  });

  it('goes out once more when the payment has ended', async () => {
    const payment = await stack.paid('notified-again');
    const until = (count: number) =>
      eventually(
        async () => notifiedOf(payment.id),
        ({ length }) => length === count,
      );
    await until(1);
    const { status, body } = await resend(payment.id, 1, KEYS.operator);
    expect([status, body.status, body.final]).toEqual([202, 'SUCCESSFUL', true]);
    expect((await until(2)).map(({ id, type }) => [id, type])).toEqual([
      [`evt_${payment.id}_succeeded_1`, 'payment.succeeded'],
      [`evt_${payment.id}_succeeded_1`, 'payment.succeeded'],
    ]);
  });

  it('must be there', async () => {
    const running = await stack.begun('/v1/collections', link);
    const ended = await stack.paid();
    for (const [id, number] of [
      [running.id, 1],
      [ended.id, 2],
      [ended.id, 0],
      [ended.id, 'one'],
      [ended.id, '1e0'],
      [ended.id, '9'.repeat(40)],
    ]) {
      const { status, body } = await resend(id, number);
      expect([status, body.code]).toEqual([404, 'no_such_notification']);
    }
  });

  it('goes out once a worker is there', async () => {
    const payment = await stack.paid();
    await eventually(
      async () => notifiedOf(payment.id),
      ({ length }) => length === 1,
    );
    await stack.withoutWorker(async () => {
      expect((await resend(payment.id)).status).toBe(202);
    });
    await eventually(
      async () => notifiedOf(payment.id),
      ({ length }) => length === 2,
    );
  });
});

describe('the notifications that are due', () => {
  interface Due {
    readonly payment: { readonly id: string; readonly status: string };
    readonly notification: { readonly delivery: { readonly tries: number } };
  }
  const of = (data: readonly Due[], id: string) => data.filter(({ payment }) => payment.id === id);
  const due = (query = '') => stack.api.ask('GET', `/v1/notifications/due${query}`, { key: KEYS.operator });

  it('are listed for operators, with their payments, until they were acknowledged', async () => {
    answer = { kind: 'failed', reason: 'answered 500' };
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    const listed = await eventually(
      () => due(),
      (one) => (of(one.body.data, payment.id)[0]?.notification.delivery.tries ?? 0) > 0,
    );
    expect(of(listed.body.data, payment.id)).toMatchObject([
      {
        payment: { merchant: 'shop', kind: 'collection', status: 'SUCCESSFUL', amount: 500, currency: 'XAF' },
        notification: { number: 1, type: 'payment.succeeded', delivery: { lastError: 'answered 500' } },
      },
    ]);
    expect(listed.body).not.toHaveProperty('nextCursor');

    answer = { kind: 'delivered' };
    await resend(payment.id);
    await eventually(
      () => due(),
      (one) => of(one.body.data, payment.id).length === 0,
    );
  });

  it('are listed of a link whose payer tries again', async () => {
    answer = { kind: 'failed', reason: 'answered 500' };
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'decline');
    await stack.post(`/v1/payments/${payment.id}/refresh`);
    await stack.visit(payment, 'pay');
    stack.sandbox.faults.add({ fault: 'statusRegression', transId: payment.transId });
    const { body } = await stack.post(`/v1/payments/${payment.id}/refresh`);
    expect(body.status).toBe('PENDING');
    const listed = await eventually(
      () => due(),
      (one) =>
        of(one.body.data, payment.id).length > 0 && of(one.body.data, payment.id)[0]?.payment.status === 'PENDING',
    );
    expect(of(listed.body.data, payment.id)).toMatchObject([{ notification: { type: 'payment.attempt_failed' } }]);
    answer = { kind: 'delivered' };
    await resend(payment.id);
  });

  it('are listed so many at a time, each once, the oldest first, with how many there are', async () => {
    answer = { kind: 'failed', reason: 'answered 500' };
    const made: string[] = [];
    for (let number = 0; number < 3; number++) {
      const payment = await stack.begun('/v1/collections', link);
      await stack.visit(payment, 'pay');
      await stack.hint(payment);
      made.push(payment.id);
    }
    const idsOf = (data: readonly Due[]) => data.map(({ payment }) => payment.id).filter((id) => made.includes(id));
    const all = await eventually(
      () => due(),
      ({ body }) => idsOf(body.data).length === 3,
    );
    expect(idsOf(all.body.data)).toEqual(made);
    const { total } = all.body;

    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await due(`?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      expect(body.data.length).toBeLessThanOrEqual(1);
      expect(body.total).toBe(total);
      found.push(...idsOf(body.data));
      cursor = body.nextCursor;
    } while (cursor !== undefined);
    expect(found).toEqual(made);

    answer = { kind: 'delivered' };
    for (const id of made) await resend(id);
    await eventually(
      () => due(),
      ({ body }) => idsOf(body.data).length === 0,
    );
  });

  it('are not listed from where no page has ended', async () => {
    const { status, body } = await due('?cursor=nonsense');
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.detail).toContain('cursor must be the nextCursor of another page');
  });

  it('are for operators alone', async () => {
    expect((await stack.api.ask('GET', '/v1/notifications/due', { key: KEYS.shop })).status).toBe(403);
  });
});

describe('the notifications that were given up', () => {
  const HOUR = 3_600_000;
  const givenUp = (query = '') => stack.api.ask('GET', `/v1/notifications/abandoned${query}`, { key: KEYS.operator });
  const idsOf = ({ body }: Awaited<ReturnType<typeof givenUp>>): string[] =>
    body.data.map(({ payment }: { payment: { id: string } }) => payment.id);
  const untilListed = (...ids: string[]) => eventually(givenUp, (one) => ids.every((id) => idsOf(one).includes(id)));
  const untilNotListed = (id: string) => eventually(givenUp, (one) => !idsOf(one).includes(id));

  /** A payment of which the last try of three days has failed. */
  async function aged(): Promise<string> {
    answer = { kind: 'delivered' };
    const { id } = await stack.paid();
    await eventually(
      () => list(id),
      ({ body }) => body.data[0]?.delivery.status === 'delivered',
    );
    answer = { kind: 'failed', reason: 'answered 500' };
    const now = Date.now();
    await stack.book.query(
      `UPDATE notifications SET delivery = 'due', due_at = $2, attempt = NULL, tries = 9, first_tried_at = $3, ended_at = NULL
       WHERE payment_id = $1`,
      [id, new Date(now), new Date(now - 72 * HOUR)],
    );
    await untilListed(id);
    return id;
  }

  it('are listed for operators, the oldest payment first, with how many there are, until they are sent again', async () => {
    const made = [await aged(), await aged()];
    const { body } = await untilListed(...made);
    expect(idsOf({ ...(await givenUp()) }).filter((id) => made.includes(id))).toEqual(made);
    expect(body).toMatchObject({ total: 2 });
    expect(body.data[0]).toMatchObject({
      payment: { merchant: 'shop', kind: 'collection', status: 'SUCCESSFUL', amount: 500 },
      notification: {
        type: 'payment.succeeded',
        delivery: { status: 'abandoned', lastTriedAt: expect.any(String), lastError: 'answered 500' },
      },
    });
    const first = await givenUp('?limit=1');
    const second = await givenUp(`?limit=1&cursor=${first.body.nextCursor}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(made);
    expect(second.body).not.toHaveProperty('nextCursor');

    answer = { kind: 'delivered' };
    for (const id of made) {
      await resend(id);
      await untilNotListed(id);
    }
    expect((await stack.api.ask('GET', '/v1/notifications/abandoned', { key: KEYS.shop })).status).toBe(403);
  });
});

describe("the settings guide's scopes", () => {
  it('may have notifications sent again as the API takes them', async () => {
    const guide = await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8');
    const scopes = [...guide.matchAll(/^\| `([a-z]+)` \| (.*) \|$/gm)];
    const may = scopes.filter(([, , allows = '']) => /notif.*again/.test(allows));
    expect(may.map(([, name]) => name)).toEqual(resendNotification.scopes);
  });
});
