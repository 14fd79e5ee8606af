import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Book } from '../../src/book/book.js';
import { resealAll } from '../../src/book/resealing.js';
import { type EncryptionKey, keysOf } from '../../src/temporal/encryption.js';
import { type ApiUnderTest, KEYS, terms, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { readPage } from '../support/pages.js';
import { useStack } from '../support/payment-stack.js';
import { freshKey } from '../support/test-encryption.js';

const encryptedBy = (...keys: EncryptionKey[]) => ({ keys: keysOf(keys), isOn: true });

/** The ENCRYPTION_KEYS of a process before the rotation, and after each of its steps. */
const [old, next, later] = [freshKey('old'), freshKey('next'), freshKey('later')];
const BEFORE = encryptedBy(old);
const BOTH_READ = encryptedBy(old, next);
const ROTATED = encryptedBy(next, old);
const AFTER = encryptedBy(next);

const LINK = { method: 'link', amount: 500, email: 'awa@example.cm', metadata: { seat: '12A' } };
const PAYOUT = { amount: 900, phone: '670000800', name: 'Awa Mballa' };
const REVIEWED = { amount: 700, phone: '677000000', name: 'Jean Etoa' };
const UNREADABLE = '<status>PAID</status>';

const stack = useStack({ encryption: BEFORE });
let api: ApiUnderTest;

/** The API and the worker, as after a restart with these keys. */
async function restart(keys: typeof BEFORE, workersKeys = keys): Promise<void> {
  await stack.restartWorker(workersKeys);
  const grace = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  api = await stack.startMore({ encryption: keys, terms: grace });
}

const post = (path: string, body: unknown, idempotencyKey: string = randomUUID()) =>
  api.ask('POST', path, { key: KEYS.shop, body, headers: { 'idempotency-key': idempotencyKey } });
const read = (id: string, key: string = KEYS.shop) => api.ask('GET', `/v1/payments/${id}`, { key });
const notify = (body: unknown) => api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
const hint = ({ id, transId }: Begun) => notify({ transId, status: 'SUCCESSFUL', externalId: id });
const unmatched = () => api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator });

const untilStatus = (id: string, status: string) =>
  eventually(
    () => read(id),
    ({ body }) => body.status === status,
  );

/** A payment with this key, once the provider has taken it, or a person has to decide. */
async function begun(path: string, body: unknown, idempotencyKey: string) {
  const { body: answer } = await post(path, body, idempotencyKey);
  const payment = await eventually(
    () => read(answer.id ?? answer.paymentId),
    (now) => now.body.transId !== undefined || now.body.status === 'REVIEW',
  );
  return payment.body;
}
type Begun = Awaited<ReturnType<typeof begun>>;

async function settle(payment: Begun): Promise<void> {
  for (const transaction of stack.transactionsOf(payment.id)) stack.sandbox.ledger.settle(transaction, 'SUCCESSFUL');
  expect((await hint(payment)).status).toBe(200);
}

/** The ids of the keys that the states of payments are sealed with: they stand before what is sealed. */
async function keysOfStates(): Promise<Record<string, string>> {
  const rows = await stack.book.query(
    `SELECT id, convert_from(substring(sealed FROM 3 FOR get_byte(sealed, 1)), 'UTF8') AS key FROM states`,
  );
  return Object.fromEntries(rows.map(({ id, key }) => [String(id), String(key)]));
}

describe('payments that are under way while the encryption key is rotated', () => {
  const keys = { link: randomUUID(), payout: randomUUID(), reviewed: randomUUID(), ended: randomUUID() };
  /** The API's answers from before anything was encrypted with the new key. */
  let link: Begun;
  let payout: Begun;
  let reviewed: Begun;
  let ended: Begun;
  let rotatedAt: string;

  beforeAll(async () => {
    await restart(BEFORE);
    link = await begun('/v1/collections', LINK, keys.link);
    payout = await begun('/v1/payouts', PAYOUT, keys.payout);
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    reviewed = await begun('/v1/payouts', REVIEWED, keys.reviewed);
    ended = await begun('/v1/payouts', PAYOUT, keys.ended);
    await settle(ended);
    ended = (await untilStatus(ended.id, 'SUCCESSFUL')).body;
    await notify(UNREADABLE);
    await restart(BOTH_READ);
    expect(new Set(Object.values(await keysOfStates()))).toEqual(new Set(['old']));
    await restart(ROTATED);
    rotatedAt = new Date().toISOString();
  });

  it('are read with their personal data', async () => {
    for (const payment of [link, payout, reviewed, ended]) expect((await read(payment.id)).body).toEqual(payment);
    expect(link).toMatchObject({ status: 'CREATED', metadata: LINK.metadata });
    expect(payout).toMatchObject({ status: 'CREATED', phone: '•••• 800' });
    expect(reviewed).toMatchObject({ status: 'REVIEW', phone: '•••• 000' });
  });

  it('are what a repeated request gets, and nothing is sent', async () => {
    const sent = stack.sandbox.ledger.all().length;
    const again = [
      await post('/v1/collections', LINK, keys.link),
      await post('/v1/payouts', PAYOUT, keys.payout),
      await post('/v1/payouts', REVIEWED, keys.reviewed),
      await post('/v1/payouts', PAYOUT, keys.ended),
    ];
    expect(again.map(({ status, body }) => [status, body.id])).toEqual(
      [link, payout, reviewed, ended].map(({ id }) => [200, id]),
    );
    expect(stack.sandbox.ledger.all()).toHaveLength(sent);
  });

  it('go on, end, and are sealed with the new key by that', async () => {
    await stack.visit(link, 'pay');
    await hint(link);
    await settle(payout);
    await untilStatus(link.id, 'SUCCESSFUL');
    await untilStatus(payout.id, 'SUCCESSFUL');
    const of = await keysOfStates();
    expect([link, payout, reviewed, ended].map(({ id }) => of[id])).toEqual(['next', 'next', 'old', 'old']);
    expect([link, payout, reviewed].map(({ id }) => stack.transactionsOf(id).length)).toEqual([1, 1, 0]);
  });

  it('need the old key until all is sealed anew: nothing can be read without, and nothing is lost', async () => {
    await restart(AFTER, ROTATED);
    for (const { id } of [reviewed, ended]) expect((await read(id)).body.code).toBe('record_unreadable');
    expect((await unmatched()).body.data).toEqual([{ at: expect.any(String) }]);
    expect((await notify(UNREADABLE)).status).toBe(200);
    expect((await post('/v1/payouts', REVIEWED, keys.reviewed)).body.code).toBe('record_unreadable');

    await restart(ROTATED);
    const both = new Book(stack.bookUrl, ROTATED);
    const resealed: string[] = [];
    await resealAll(both, (what, rows) => rows > 0 && resealed.push(what));
    await both.close();
    expect(resealed).toEqual(expect.arrayContaining(['states.sealed', 'unmatched.sealed', 'payments.payers']));
    await restart(AFTER, ROTATED);
    expect((await unmatched()).body.data).toMatchObject(Array(2).fill({ unread: UNREADABLE }));
    for (const { id } of [link, payout]) expect((await read(id)).body).toMatchObject({ status: 'SUCCESSFUL' });
    for (const payment of [reviewed, ended]) expect((await read(payment.id)).body).toEqual(payment);
    const { data, unreadable } = (await api.ask('GET', '/v1/payments', { key: KEYS.operator })).body;
    expect([data.length, unreadable]).toEqual([4, []]);
  });

  it('are decided and told of without the old key', async () => {
    const { number } = (await read(reviewed.id, KEYS.operator)).body.review;
    const decision = { action: 'fail', review: number, why: 'the provider confirms: none' };
    await api.ask('POST', `/v1/payments/${reviewed.id}/resolve`, { key: KEYS.operator, body: decision });
    await untilStatus(reviewed.id, 'FAILED');
    const told = await eventually(
      async () => (await api.ask('GET', '/v1/events?limit=100', { key: KEYS.shop })).body.data,
      (events) => events.some(({ type }: Begun) => type === 'payment.failed'),
    );
    for (const { id } of [link, payout, ended]) {
      expect(told).toContainEqual(expect.objectContaining({ paymentId: id, type: 'payment.succeeded' }));
    }
    expect(stack.transactionsOf(reviewed.id)).toEqual([]);
  });

  it('have workflows from before, which need the old key: what the guide counts before it is removed', async () => {
    const { text } = await readPage('docs/operators.md');
    const query = /--query "(StartTime <= .*)"$/m.exec(text)?.[1]?.replace('$ROTATED', rotatedAt) ?? 'none';
    const counted = async () => {
      const ids: string[] = [];
      for await (const { workflowId } of api.client.workflow.list({ query })) ids.push(workflowId);
      return ids.sort();
    };
    const before = [link, payout, reviewed, ended].map(({ id }) => id).sort();
    await eventually(counted, (ids) => before.every((id) => ids.includes(id)));
    const { id } = await begun('/v1/payouts', PAYOUT, randomUUID());
    expect(await counted()).not.toContain(id);
  });
});

describe('an API that encrypts with a key which the workers have not been given', () => {
  const EARLY = encryptedBy(later, next, old);

  it('loses nothing: the payment goes on when they have the key', async () => {
    await restart(ROTATED);
    const payment = await begun('/v1/payouts', PAYOUT, randomUUID());
    await restart(EARLY, ROTATED);
    await settle(payment);
    // What was notified waits in the inbox, and can be opened by no worker.
    const rung = await stack.api.client.workflow.getHandle(payment.id).describe();
    expect(rung.status.name).toBe('RUNNING');
    expect((await read(payment.id)).body.status).toBe('CREATED');

    await restart(EARLY);
    await untilStatus(payment.id, 'SUCCESSFUL');
    expect((await keysOfStates())[payment.id]).toBe('later');
    expect(stack.transactionsOf(payment.id)).toHaveLength(1);
  });
});
