import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import proto from '@temporalio/proto';
import pg from 'pg';
import { pino } from 'pino';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { Records } from '../../src/records/records.js';
import { connectClient } from '../../src/temporal/connection.js';
import { type EncryptionKey, keysOf } from '../../src/temporal/encryption.js';
import { UNMATCHED_WORKFLOW } from '../../src/workflows/messages.js';
import { freePort } from '../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../stack/records/pglite-server.js';
import { type ApiUnderTest, KEYS, terms, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { readPage } from '../support/pages.js';
import { useStack } from '../support/payment-stack.js';
import { startRecorder } from '../support/running-recorder.js';
import { freshKey } from '../support/test-encryption.js';

const { Payload } = proto.temporal.api.common.v1;

const encryptedBy = (...keys: EncryptionKey[]) => ({ keys: keysOf(keys), isOn: true });

/** The ENCRYPTION_KEYS of a process before the rotation, and after each of its steps. */
const [old, next, later] = [freshKey('old'), freshKey('next'), freshKey('later')];
const BEFORE = encryptedBy(old);
const BOTH_READ = encryptedBy(old, next);
const ROTATED = encryptedBy(next, old);

const STAYS_PENDING = '670000800';
const LINK = { method: 'link', amount: 500, email: 'awa@example.cm', metadata: { seat: '12A' } };
const PAYOUT = { amount: 900, phone: STAYS_PENDING, name: 'Awa Mballa' };
const REVIEWED = { amount: 700, phone: '677000000', name: 'Jean Etoa' };

const stack = useStack({ encryption: BEFORE });
const logger = pino({ level: 'silent' });
let database: PGliteServer;
let url: string;
/** The API, and the records as it and the workers read them. */
let api: ApiUnderTest;
let records: Records;
let stopRecording = async () => {};

/** The API and the worker, with its recorder, as after a restart with these keys. */
async function restart(keys: typeof BEFORE, workersKeys = keys): Promise<void> {
  await stopRecording();
  await stack.restartWorker(workersKeys);
  const [apis, workers] = [Records.open(url, keys, logger), Records.open(url, workersKeys, logger)];
  const client = connectClient({ address: stack.address, namespace: 'default' }, workersKeys);
  const stopRecorder = startRecorder(client, workers);
  stopRecording = async () => {
    await stopRecorder();
    await client.connection.close();
    await workers.close();
    await apis.close();
  };
  records = apis;
  const grace = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  api = await stack.startMore({ records, encryption: keys, terms: grace });
}

beforeAll(async () => {
  const port = await freePort();
  database = await startPGliteServer(port);
  url = `postgres://postgres@127.0.0.1:${port}/postgres`;
});
afterAll(async () => {
  await stopRecording();
  await database.stop();
});

const post = (path: string, body: unknown, idempotencyKey: string = randomUUID()) =>
  api.ask('POST', path, { key: KEYS.shop, body, headers: { 'idempotency-key': idempotencyKey } });
const read = (id: string, key: string = KEYS.shop) => api.ask('GET', `/v1/payments/${id}`, { key });
const notify = (notification: object) => api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body: notification });
const hint = ({ id, transId }: { id: string; transId: string }) =>
  notify({ transId, status: 'SUCCESSFUL', externalId: id });
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

async function settle(payment: { id: string; transId: string }): Promise<void> {
  for (const transaction of stack.transactionsOf(payment.id)) {
    stack.sandbox.ledger.settle(transaction, 'SUCCESSFUL');
  }
  expect((await hint(payment)).status).toBe(200);
}

/** The ids of the keys with which the events of a payment's history are encrypted, from the first to the last. */
async function keysOfHistory(id: string): Promise<string[][]> {
  const { history } = await api.client.workflowService.getWorkflowExecutionHistory({
    namespace: 'default',
    execution: { workflowId: id },
  });
  return (history?.events ?? []).map((event) => [...new Set(keyIdsIn(event))]);
}

/** The ids of the keys of all payloads in a part of a message. */
function keyIdsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  const { metadata } = value as { metadata?: Record<string, Uint8Array> | null };
  const id = metadata?.['encryption-key-id'];
  return id === undefined ? Object.values(value).flatMap(keyIdsIn) : [Buffer.from(id).toString()];
}

/** The id of the key that a payment's record is encrypted with. */
async function keyOfRecord(id: string): Promise<string | undefined> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ content: Buffer }>('SELECT content FROM payments WHERE id = $1', [id]);
    return rows[0] && keyIdsIn(Payload.decode(rows[0].content))[0];
  } finally {
    await client.end();
  }
}

const untilRecorded = (id: string, status: string) =>
  eventually(
    () => records.find(id as PaymentId),
    (record) => record?.closedAt !== undefined && record.indexed.status === status,
  );

describe('payments that are under way while the encryption key is rotated', () => {
  const keys = { link: randomUUID(), payout: randomUUID(), reviewed: randomUUID() };
  /** The API's answers and events from before anything was encrypted with the new key. */
  let link: ApiAnswer;
  let payout: ApiAnswer;
  let reviewed: ApiAnswer;
  let ended: ApiAnswer;
  const eventsBefore = new Map<string, number>();
  let rotatedAt: number;
  type ApiAnswer = Awaited<ReturnType<typeof begun>>;

  beforeAll(async () => {
    await restart(BEFORE);
    link = await begun('/v1/collections', LINK, keys.link);
    payout = await begun('/v1/payouts', PAYOUT, keys.payout);
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    reviewed = await begun('/v1/payouts', REVIEWED, keys.reviewed);
    ended = await begun('/v1/payouts', PAYOUT, randomUUID());
    await settle(ended);
    await untilRecorded(ended.id, 'SUCCESSFUL');
    expect((await notify({ transId: 'T1', status: 'SUCCESSFUL' })).status).toBe(200);
    // A worker that stops as it gets a task may leave Temporal waiting for it, for ten seconds.
    expect((await unmatched()).body.data).toMatchObject([{ transId: 'T1' }]);

    await restart(BOTH_READ);
    for (const { id } of [link, payout, reviewed]) {
      const before = await keysOfHistory(id);
      expect(new Set(before.flat())).toEqual(new Set(['old']));
      eventsBefore.set(id, before.length);
    }
    await restart(ROTATED);
    rotatedAt = Date.now();
  });

  it('are read with their personal data', async () => {
    for (const payment of [link, payout, reviewed]) expect((await read(payment.id)).body).toEqual(payment);
    expect(link).toMatchObject({ status: 'CREATED', metadata: LINK.metadata });
    expect(payout).toMatchObject({ status: 'CREATED', phone: '•••• 800' });
    expect(reviewed).toMatchObject({ status: 'REVIEW', phone: '•••• 000' });
    const { data } = (await api.ask('GET', '/v1/payments?limit=100', { key: KEYS.shop })).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining([link.id, payout.id, reviewed.id, ended.id]),
    );
  });

  it('are what a repeated request gets, and nothing is sent', async () => {
    const sent = stack.sandbox.ledger.all().length;
    const again = [
      await post('/v1/collections', LINK, keys.link),
      await post('/v1/payouts', PAYOUT, keys.payout),
      await post('/v1/payouts', REVIEWED, keys.reviewed),
    ];
    expect(again.map(({ status, body }) => [status, body.id])).toEqual(
      [link, payout, reviewed].map(({ id }) => [200, id]),
    );
    expect(stack.sandbox.ledger.all()).toHaveLength(sent);
  });

  it('go on, and end', async () => {
    await stack.visit(link, 'pay');
    await hint(link);
    await settle(payout);
    const { number } = (await read(reviewed.id, KEYS.operator)).body.review;
    const decision = { action: 'fail', review: number, why: 'the provider confirms: none' };
    await api.ask('POST', `/v1/payments/${reviewed.id}/resolve`, { key: KEYS.operator, body: decision });
    await untilStatus(link.id, 'SUCCESSFUL');
    await untilStatus(payout.id, 'SUCCESSFUL');
    await untilStatus(reviewed.id, 'FAILED');
    const sent = [link, payout, reviewed].map(({ id }) => stack.transactionsOf(id).length);
    expect(sent).toEqual([1, 1, 0]);
  });

  it('have all that is written from then on encrypted with the new key', async () => {
    for (const { id } of [link, payout, reviewed]) {
      const events = await keysOfHistory(id);
      const since = events.slice(eventsBefore.get(id)).flat();
      expect([id, new Set(since)]).toEqual([id, new Set(['next'])]);
    }
    const { id } = await begun('/v1/collections', LINK, randomUUID());
    expect(new Set((await keysOfHistory(id)).flat())).toEqual(new Set(['next']));
  });

  it('are recorded with the new key, beside those that were recorded with the old one', async () => {
    for (const [{ id }, name] of [
      [payout, PAYOUT.name],
      [ended, PAYOUT.name],
    ] as const) {
      const record = await untilRecorded(id, 'SUCCESSFUL');
      expect(record?.content?.state.order).toMatchObject({ phone: STAYS_PENDING, name });
    }
    const record = await untilRecorded(link.id, 'SUCCESSFUL');
    expect(record?.content?.state.order).toMatchObject({ email: LINK.email });
    expect(await keyOfRecord(link.id)).toBe('next');
    expect(await keyOfRecord(payout.id)).toBe('next');
    expect(await keyOfRecord(ended.id)).toBe('old');
    const { data } = (await api.ask('GET', '/v1/events?limit=100', { key: KEYS.shop })).body;
    const told = data.map((event: { paymentId: string; type: string; data?: { status: string } }) => [
      event.paymentId,
      event.type,
      event.data?.status,
    ]);
    for (const { id } of [link, payout, ended]) {
      expect(told).toContainEqual([id, 'payment.succeeded', 'SUCCESSFUL']);
    }
  });

  it("aren't all that needs the old key: so do the notifications that match no payment", async () => {
    expect((await unmatched()).body.data).toMatchObject([{ transId: 'T1' }]);
    await restart(encryptedBy(next));
    expect(await unmatched()).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable' } });
    await restart(ROTATED);
    expect((await unmatched()).body.data).toMatchObject([{ transId: 'T1' }]);
  });

  it('are found, with those, by what the guide has counted before the old key is removed', async () => {
    const { text } = await readPage('docs/operators.md');
    const query = /--query "(StartTime <= .*)"$/m
      .exec(text)?.[1]
      ?.replace('$ROTATED', new Date(rotatedAt).toISOString())
      .replace('$(date -d $ROTATED +%s)000', String(rotatedAt));
    const found: string[] = [];
    for await (const { workflowId } of api.client.workflow.list({ query: query ?? 'none' })) {
      found.push(workflowId);
    }
    expect(found.sort()).toEqual([link.id, payout.id, reviewed.id, ended.id, UNMATCHED_WORKFLOW.id].sort());
  });
});

describe('an API that encrypts with a key which the workers have not been given', () => {
  const EARLY = encryptedBy(later, next, old);

  it('loses nothing: the payment stands still, and goes on when they have the key', async () => {
    await restart(ROTATED);
    const payment = await stack.asked(LINK, randomUUID());
    await restart(EARLY, ROTATED);
    await stack.visit(payment, 'pay');
    expect((await hint(payment)).status).toBe(200);
    expect(await read(payment.id)).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable' } });

    await restart(EARLY);
    await untilStatus(payment.id, 'SUCCESSFUL');
    const record = await untilRecorded(payment.id, 'SUCCESSFUL');
    expect(record?.content?.state.order).toMatchObject({ email: LINK.email });
    expect(stack.transactionsOf(payment.id)).toHaveLength(1);
  });
});
