import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import proto from '@temporalio/proto';
import { pino } from 'pino';
import { RecordsUnavailableError } from '../../src/records/database.js';
import { Records } from '../../src/records/records.js';
import { type Encryption, keysOf } from '../../src/temporal/encryption.js';
import { freePort } from '../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../stack/records/pglite-server.js';
import { type Answered, type ApiUnderTest, KEYS, merchantsWith, terms } from '../support/api-under-test.js';
import { startHanging } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { sumOf } from '../support/metrics-page.js';
import { link, payout, useStack } from '../support/payment-stack.js';
import { PACE, startRecorder } from '../support/running-recorder.js';
import { freshKey, testEncryption } from '../support/test-encryption.js';

const { Payload } = proto.temporal.api.common.v1;

const stack = useStack({
  // Otherwise the server deletes a workflow only when it has noted down, half a minute later, that all its tasks are
  // done.
  dynamicConfig: {
    'history.transferProcessorEnsureCloseBeforeDelete': 'false',
    'history.visibilityProcessorEnsureCloseBeforeDelete': 'false',
  },
});
const logger = pino({ level: 'silent' });

let server: PGliteServer;
let port: number;
let records: Records;
let api: ApiUnderTest;
let stopRecorder: () => Promise<void>;
const opened: Records[] = [];

function open(port: number, encryption: Encryption = testEncryption): Records {
  const one = Records.open(`postgres://postgres@127.0.0.1:${port}/postgres`, encryption, logger);
  opened.push(one);
  return one;
}

beforeAll(async () => {
  port = await freePort();
  server = await startPGliteServer(port);
  records = open(port);
  const grace = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  api = await stack.startMore({ records, terms: grace });
  stopRecorder = startRecorder(stack.api.client, records);
});
afterAll(async () => {
  await stopRecorder();
  for (const one of opened) await one.close();
  await server.stop();
});

const ask = (path: string, key: string = KEYS.shop) => api.ask('GET', path, { key });
const post = (path: string, body: unknown, idempotencyKey: string, on = api) =>
  on.ask('POST', path, { key: KEYS.shop, body, headers: { 'idempotency-key': idempotencyKey } });

async function untilRecorded(id: string) {
  const { runId } = await stack.api.client.workflow.getHandle(id).describe();
  return await eventually(
    () => records.find(id as Parameters<Records['find']>[0]),
    (record) => record?.runId === runId && record.closedAt !== undefined,
  );
}

/** Has Temporal forget a payment, as it does when its retention is over. */
async function forget(id: string): Promise<void> {
  await untilRecorded(id);
  const { client } = stack.api;
  await client.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: id },
  });
  await eventually(
    () => stack.api.ask('GET', `/v1/payments/${id}`, { key: KEYS.shop }),
    ({ status }) => status === 404,
  );
  // The index forgets it some moments later.
  await eventually(
    () => stack.api.ask('GET', '/v1/payments?limit=100', { key: KEYS.shop }),
    ({ body }) => body.data.every((payment: { id: string }) => payment.id !== id),
  );
}

async function allEvents(query = '', key: string = KEYS.shop): Promise<Answered['body'][]> {
  return (await ask(`/v1/events?limit=100${query}`, key)).body.data;
}

describe('a payment that Temporal has forgotten', () => {
  const idempotencyKey = randomUUID();
  let id: string;
  let before: Readonly<Record<string, Answered['body']>>;

  beforeAll(async () => {
    id = (await stack.paid(idempotencyKey)).id;
    const read = async (path: string) => (await ask(path)).body;
    const shown = await eventually(
      () => read(`/v1/payments/${id}`),
      (payment) => payment.refundable !== undefined,
    );
    before = {
      payment: shown,
      events: await read(`/v1/payments/${id}/events`),
      notifications: await read(`/v1/payments/${id}/notifications`),
    };
    await forget(id);
  });

  it('is answered as it was, with its timeline and its notifications', async () => {
    for (const query of ['', '?wait=1']) {
      // On a busy machine, it may be shown without the sums of its refunds.
      const { body } = await eventually(
        () => ask(`/v1/payments/${id}${query}`),
        (answer) => answer.body.refundable !== undefined,
      );
      expect(body).toEqual(before.payment);
    }
    expect((await ask(`/v1/payments/${id}/events`)).body).toEqual(before.events);
    expect((await ask(`/v1/payments/${id}/notifications`)).body).toEqual(before.notifications);
  });

  it('is listed in its place, among those that Temporal has', async () => {
    const older = await stack.paid();
    const { data } = (await ask('/v1/payments?limit=100')).body;
    const ids = data.map((payment: { id: string }) => payment.id);
    expect(ids.indexOf(id)).toBeGreaterThan(ids.indexOf(older.id));
    expect(data.find((payment: { id: string }) => payment.id === id)).toMatchObject({
      status: 'SUCCESSFUL',
      amount: 500,
      createdAt: expect.any(String),
    });
    const byTransaction = await ask(`/v1/payments?transId=${before.payment.transId}`);
    expect(byTransaction.body.data).toHaveLength(1);
    const byReference = await ask(`/v1/payments?financialTransId=${before.payment.financialTransId}`);
    expect(byReference.body.data).toEqual(byTransaction.body.data);
    // Every page of one: none twice, none left out.
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await ask(`/v1/payments?limit=1${cursor}`);
      seen.push(...body.data.map((payment: { id: string }) => payment.id));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual(ids);
  });

  it('is what a repeated request gets, and nothing is sent', async () => {
    const made = stack.sandbox.ledger.all().length;
    const again = await post('/v1/collections', link, idempotencyKey);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const { refunded: _, refunding: __, refundable: ___, ...payment } = before.payment;
    expect(again.body).toEqual(payment);
    expect(stack.sandbox.ledger.all()).toHaveLength(made);
    await expect(stack.api.client.workflow.getHandle(id).describe()).rejects.toThrow();
  });

  it('refuses its key with another body', async () => {
    const other = await post('/v1/collections', { ...link, amount: 600 }, idempotencyKey);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
  });

  it("is nobody else's", async () => {
    for (const path of [`/v1/payments/${id}`, `/v1/payments/${id}/events`]) {
      expect((await ask(path, KEYS.rival)).status).toBe(404);
    }
    const { data } = (await ask('/v1/payments?limit=100', KEYS.rival)).body;
    expect(data).toEqual([]);
    expect((await ask(`/v1/payments/${id}`, KEYS.operator)).body.merchant).toBe('shop');
  });

  it('can have a notification sent again, for which it is opened from its record', async () => {
    const resent = await post(`/v1/payments/${id}/notifications/1/resend`, undefined, '');
    expect(resent.status).toBe(202);
    await stack.api.client.workflow.getHandle(id).result();
    const { body } = await ask(`/v1/payments/${id}`);
    expect(body).toMatchObject({ id, status: 'SUCCESSFUL', createdAt: before.payment.createdAt });
    const record = await untilRecorded(id);
    expect(record?.content?.fingerprint).toBeDefined();
    expect((await allEvents()).filter(({ paymentId }) => paymentId === id)).toHaveLength(1);
  });
});

describe('a payment of a list that Temporal has', () => {
  const listed = async (query: string) => (await ask(`/v1/payments?${query}`)).body.data;

  it('shows what it came to once it is recorded, as it does when Temporal has forgotten it', async () => {
    const userId = 'recorded-and-listed';
    const begun = await stack.begun('/v1/payouts', { ...payout, userId });
    await stack.post(`/v1/payments/${begun.id}/refresh`);
    await stack.api.client.workflow.getHandle(begun.id).result();
    await untilRecorded(begun.id);
    const { fee, revenue, medium, updatedAt } = (await ask(`/v1/payments/${begun.id}`)).body;
    expect(fee).toBeGreaterThan(0);
    const came = { fee, revenue, medium, updatedAt, final: true };
    const [present] = await eventually(
      () => listed(`userId=${userId}&final=true`),
      (data) => data.length === 1,
    );
    expect(present).toMatchObject(came);
    await forget(begun.id);
    expect(await listed(`userId=${userId}`)).toMatchObject([came]);
    expect(await listed(`userId=${userId}&final=true`)).toMatchObject([came]);
    expect(await listed(`userId=${userId}&final=false`)).toEqual([]);
  });

  it('shows why it failed', async () => {
    const userId = 'failed-and-listed';
    const begun = await stack.begun('/v1/payouts', { ...payout, phone: '677000100', userId });
    await stack.post(`/v1/payments/${begun.id}/refresh`);
    await stack.api.client.workflow.getHandle(begun.id).result();
    await untilRecorded(begun.id);
    const { failureCode, reason } = (await ask(`/v1/payments/${begun.id}`)).body;
    expect([failureCode, reason]).toEqual(['failed_at_provider', expect.any(String)]);
    await eventually(
      () => listed(`userId=${userId}`),
      ([one]) => one?.failureCode === failureCode && one?.reason === reason,
    );
  });
});

describe('a payout that Temporal has forgotten', () => {
  it('is never made again with its key', async () => {
    const key = randomUUID();
    const made = await stack.begun('/v1/payouts', payout, key);
    await stack.hint(made);
    await stack.api.client.workflow.getHandle(made.id).result();
    await forget(made.id);
    const again = await post('/v1/payouts', payout, key);
    expect([again.status, again.body.id, again.body.status]).toEqual([200, made.id, 'SUCCESSFUL']);
    expect(stack.transactionsOf(made.id)).toHaveLength(1);
  });

  it('tells nothing of a recipient whose data was erased, and keeps its key', async () => {
    const key = randomUUID();
    const phone = '677456012';
    const made = await stack.begun('/v1/payouts', { ...payout, phone, name: 'Jane Payee' }, key);
    await stack.hint(made);
    await stack.api.client.workflow.getHandle(made.id).result();
    await forget(made.id);
    const { confirmation } = await records.payerData.preview({ payer: phone });
    const reason = { by: 'ann', why: 'ticket 4711' };
    expect(await records.payerData.erase({ payer: phone }, reason, confirmation)).toEqual([made.id]);
    const { body } = await ask(`/v1/payments/${made.id}`);
    expect(body).toMatchObject({ id: made.id, amount: 700, status: 'SUCCESSFUL' });
    expect(body.phone).toBeUndefined();
    const again = await post('/v1/payouts', { ...payout, phone, name: 'Jane Payee' }, key);
    expect([again.status, again.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect(again.body.detail).toContain('erased');
    expect(stack.transactionsOf(made.id)).toHaveLength(1);
  });
});

describe('the refunds of a collection that Temporal has forgotten', () => {
  const merchants = merchantsWith([{ name: 'shop', secret: KEYS.shop, scopes: ['collections', 'read', 'refunds'] }]);
  let collection: string;
  let made: string;
  const refund = (on: ApiUnderTest, amount: number, key: string = randomUUID()) =>
    post(`/v1/collections/${collection}/refunds`, { amount, reason: 'returned' }, key, on);

  beforeAll(async () => {
    const own = await stack.startMore({ records, merchants });
    const paid = await stack.begun('/v1/collections', { method: 'direct', amount: 1_000, phone: '677000000' });
    collection = paid.id;
    await stack.hint(paid);
    await untilRecorded(collection);
    const { body } = await refund(own, 600);
    made = body.id;
    await eventually(
      () => ask(`/v1/payments/${made}`),
      (read) => read.body.transId !== undefined,
    );
    await stack.hint((await ask(`/v1/payments/${made}`)).body);
    await forget(made);
    await forget(collection);
    const handle = stack.api.client.workflow.getHandle(`refunds-of-${collection}`);
    await handle.terminate();
    await stack.api.client.workflowService.deleteWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: `refunds-of-${collection}` },
    });
    const isThere = () =>
      handle.describe().then(
        () => true,
        () => false,
      );
    await eventually(isThere, (there) => !there);
  });

  it('are known from the records, and so is what is left', async () => {
    const own = await stack.startMore({ records, merchants });
    const { body } = await own.ask('GET', `/v1/collections/${collection}/refunds`, { key: KEYS.shop });
    expect(body).toMatchObject({ collected: 1_000, refunded: 600, refunding: 0, refundable: 400 });
    expect(body.data).toMatchObject([{ id: made, refundOf: collection, status: 'SUCCESSFUL' }]);
    expect((await ask(`/v1/payments/${collection}`)).body).toMatchObject({ refunded: 600, refundable: 400 });
    expect((await refund(own, 401)).body.code).toBe('more_than_refundable');
    expect([201, 202]).toContain((await refund(own, 400)).status);
  });

  it('are not guessed while the records are away: nothing is sent, and nothing shown', async () => {
    const paid = await stack.begun('/v1/collections', { method: 'direct', amount: 1_000, phone: '677000000' });
    await stack.hint(paid);
    await stack.api.client.workflow.getHandle(paid.id).result();
    const away = await stack.startMore({ records: open(await freePort()), merchants });
    const sent = stack.sandbox.ledger.all().length;
    const body = { reason: 'returned' };
    const refused = await post(`/v1/collections/${paid.id}/refunds`, body, randomUUID(), away);
    expect([refused.status, refused.body.code]).toEqual([503, 'records_unavailable']);
    expect(refused.body.detail).toContain('Nothing was sent');
    const list = await away.ask('GET', `/v1/collections/${paid.id}/refunds`, { key: KEYS.shop });
    expect([list.status, list.body.code]).toEqual([503, 'records_unavailable']);
    const shown = (await away.ask('GET', `/v1/payments/${paid.id}`, { key: KEYS.shop })).body;
    expect(shown.status).toBe('SUCCESSFUL');
    expect(shown).not.toHaveProperty('refundable');
    expect(stack.sandbox.ledger.all()).toHaveLength(sent);
  });
});

describe('a payment whose workflow was terminated', () => {
  it('is REVIEW in the records, too, and its timeline says so', async () => {
    const { id } = await stack.begun('/v1/collections', link, randomUUID());
    await stack.api.client.workflow.getHandle(id).terminate();
    await forget(id);
    const { body } = await ask(`/v1/payments/${id}`);
    expect(body).toMatchObject({ status: 'REVIEW', final: false });
    const { data } = (await ask(`/v1/payments/${id}/events`)).body;
    expect(data.at(-1)).toMatchObject({ type: 'stopped', status: 'REVIEW' });
  });
});

describe('a payment that a late notification opens again', () => {
  type Outcome = 'SUCCESSFUL' | 'FAILED';
  type Id = Parameters<Records['find']>[0];

  /** A payout that has come to this end, and is recorded so; its transaction can be made to change all the same. */
  async function ended(outcome: Outcome) {
    const { id, transId } = await stack.begun('/v1/payouts', payout, randomUUID());
    const entry = stack.sandbox.ledger.find(transId);
    if (entry === undefined) throw new Error('the provider has no such transaction');
    const turns = async (status: Outcome) => {
      entry.status = status;
      expect((await stack.hint({ id, transId }, status)).status).toBe(200);
    };
    await turns(outcome);
    await stack.api.client.workflow.getHandle(id).result();
    const record = await untilRecorded(id);
    expect(record).toMatchObject({ indexed: { status: outcome, final: true } });
    return { id: id as Id, record, turns };
  }

  /** Its record, once it has this status. */
  const untilStatus = (id: Id, status: string) =>
    eventually(
      () => records.find(id),
      (record) => record?.indexed.status === status,
    );
  const told = async (id: Id) =>
    (await allEvents()).filter(({ paymentId }) => paymentId === id).map(({ type }) => type);

  it.each([
    ['SUCCESSFUL', 'FAILED', 'payment.succeeded'],
    ['FAILED', 'SUCCESSFUL', 'payment.failed'],
  ] as const)('is REVIEW in the records when it was %s and the provider says %s', async (was, is, first) => {
    const { id, record, turns } = await ended(was);
    await turns(is);
    const reopened = await untilStatus(id, 'REVIEW');
    expect(reopened?.runId).not.toBe(record?.runId);
    expect(reopened?.closedAt).toBeUndefined();
    expect(reopened?.content?.payment).toMatchObject({ status: 'REVIEW', final: false });
    expect(await told(id)).toEqual([first, 'payment.review']);
  });
});

describe("the feed of a merchant's events", () => {
  it('has what open payments tell, too', async () => {
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const { body: payment } = await post('/v1/payouts', payout, randomUUID());
    const events = await eventually(
      () => allEvents('&type=payment.review'),
      (found) => found.some(({ paymentId }) => paymentId === payment.id),
    );
    const event = events.find(({ paymentId }) => paymentId === payment.id);
    expect(event).toMatchObject({
      id: `evt_${payment.id}_review_1`,
      type: 'payment.review',
      data: { id: payment.id, status: 'REVIEW', final: false },
    });
    expect((await ask(`/v1/payments/${payment.id}`)).body.status).toBe('REVIEW');
  });

  it('has each event once, though recorders are killed, and two are at work', async () => {
    await stopRecorder();
    const { id } = await stack.paid();
    const stops = [startRecorder(stack.api.client, records), startRecorder(stack.api.client, records)];
    await untilRecorded(id);
    for (const stop of stops) await stop();
    stopRecorder = startRecorder(stack.api.client, records);
    const { id: next } = await stack.paid();
    await untilRecorded(next);
    const ids = (await allEvents()).map((event) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((one) => one.startsWith(`evt_${id}`))).toEqual([`evt_${id}_succeeded_1`]);
  });

  it('goes on where its cursor stands, and has nothing twice', async () => {
    const all = await allEvents();
    const seen: string[] = [];
    let cursor = '';
    for (let hasMore = true; hasMore; ) {
      const { body } = await ask(`/v1/events?limit=2${cursor}`);
      seen.push(...body.data.map((event: { id: string }) => event.id));
      ({ hasMore } = body);
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual(all.map((event) => event.id));
    expect((await ask(`/v1/events?limit=2${cursor}`)).body).toMatchObject({ data: [], hasMore: false });
    const { id } = await stack.paid();
    await untilRecorded(id);
    const later = (await ask(`/v1/events?limit=2${cursor}`)).body.data;
    expect(later.map((event: { paymentId: string }) => event.paymentId)).toEqual([id]);
    const since = await allEvents(`&since=${later[0].timestamp}`);
    expect(since.map((event) => event.paymentId)).toEqual([id]);
  });

  it("shows a merchant its own, an operator everybody's", async () => {
    expect(await allEvents('', KEYS.rival)).toEqual([]);
    expect((await ask('/v1/events?merchant=shop', KEYS.rival)).status).toBe(403);
    const [first] = await allEvents('&merchant=shop', KEYS.operator);
    expect(first.merchant).toBe('shop');
  });

  it('refuses a cursor that is none', async () => {
    expect((await ask('/v1/events?cursor=abc')).body.code).toBe('invalid_request');
    const { nextCursor } = (await ask('/v1/events?limit=1')).body;
    // A position would tell how many events all merchants have.
    expect(Buffer.from(nextCursor, 'base64url').toString('latin1')).not.toMatch(/event|^\d+$/);
    const bytes = Buffer.from(nextCursor, 'base64url');
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    const plain = Payload.encode({ metadata: {}, data: Buffer.from('event 1') }).finish();
    for (const forged of [bytes, plain, Buffer.from('1')]) {
      const cursor = Buffer.from(forged).toString('base64url');
      expect((await ask(`/v1/events?cursor=${cursor}`)).body.code).toBe('invalid_request');
    }
  });

  it('says when there are no records at all', async () => {
    const { status, body } = await stack.api.ask('GET', '/v1/events', { key: KEYS.shop });
    expect([status, body.code]).toEqual([501, 'no_records']);
  });
});

describe("payments by the mobile operator's reference", () => {
  let id: string;
  let transId: string;
  let reference: string;
  /** The ids that a list has. */
  const found = async (query: string, key: string = KEYS.shop) => {
    const { status, body } = await ask(`/v1/payments?financialTransId=${query}`, key);
    expect(status).toBe(200);
    return body.data.map((payment: { id: string }) => payment.id);
  };

  beforeAll(async () => {
    ({ id, transId } = await stack.begun('/v1/payouts', { ...payout, externalId: 'by-reference' }));
    await stack.hint({ id, transId });
    await stack.api.client.workflow.getHandle(id).result();
    await untilRecorded(id);
    reference = (await ask(`/v1/payments/${id}`)).body.financialTransId;
  });

  it('are found once they are recorded, by those alone who may read them', async () => {
    expect(await found(reference)).toEqual([id]);
    expect(await found(reference, KEYS.rival)).toEqual([]);
    expect(await found(reference, KEYS.operator)).toEqual([id]);
    expect(await found(`${reference}&merchant=rival`, KEYS.operator)).toEqual([]);
    expect(await found('nobody-has-this')).toEqual([]);
    const asCsv = await api.ask('GET', `/v1/payments?financialTransId=${reference}`, {
      key: KEYS.shop,
      headers: { accept: 'text/csv' },
    });
    expect(asCsv.text).toContain(id);
  });

  it('are what else is asked for, too', async () => {
    const { createdAt } = (await ask(`/v1/payments/${id}`)).body;
    const since = (ms: number) => new Date(Date.parse(createdAt) + ms).toISOString();
    for (const fitting of [
      'kind=payout',
      'status=SUCCESSFUL',
      'externalId=by-reference',
      `transId=${transId}`,
      `created[gte]=${since(-5_000)}`,
      `created[lt]=${since(5_000)}`,
    ])
      expect([fitting, await found(`${reference}&${fitting}`)]).toEqual([fitting, [id]]);
    for (const other of [
      'kind=collection',
      'status=REVIEW',
      'externalId=order-1',
      'userId=ann',
      'transId=another',
      `created[gte]=${since(5_000)}`,
      `created[lt]=${since(-5_000)}`,
    ])
      expect([other, await found(`${reference}&${other}`)]).toEqual([other, []]);
  });

  /** Records what was paid as another payment, too. */
  async function recordAs(name: string, merchant: string, createdAt: (own: number) => number) {
    const record = await untilRecorded(id);
    if (record?.content === undefined) throw new Error('the payment is not recorded');
    const { content, indexed } = record;
    const copied = name as typeof record.id;
    const copy = {
      ...record,
      id: copied,
      merchant,
      indexed: { ...indexed, createdAt: createdAt(indexed.createdAt) },
      content: {
        ...content,
        state: { ...content.state, order: { ...content.state.order, id: copied }, notifications: [] },
      },
    };
    await records.write([copy]);
    return copied;
  }

  it("come in pages when there are several, never with another merchant's", async () => {
    const older = await recordAs(`pay_${'a'.repeat(32)}`, 'shop', (own) => own - 1_000);
    const others = await recordAs(`pay_${'b'.repeat(32)}`, 'rival', (own) => own - 500);
    expect(await found(reference)).toEqual([id, older]);
    expect(await found(reference, KEYS.rival)).toEqual([others]);
    expect(await found(reference, KEYS.operator)).toEqual([id, others, older]);
    expect(await found(`${reference}&merchant=rival`, KEYS.operator)).toEqual([others]);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await ask(`/v1/payments?financialTransId=${reference}&limit=1${cursor}`);
      seen.push(...body.data.map((payment: { id: string }) => payment.id));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual([id, older]);
  });

  it('are not what another payment has come to that was made under the same id since', async () => {
    const made = await stack.begun('/v1/collections', link);
    await recordAs(made.id, 'shop', (own) => own - 40 * 86_400_000);
    const { body } = await ask(
      `/v1/payments?financialTransId=${reference}&created[lt]=${new Date(Date.now() - 86_400_000).toISOString()}`,
    );
    expect(body.data).toMatchObject([{ id: made.id, amount: payout.amount, status: 'SUCCESSFUL' }]);
  });

  it('are shown as Temporal has them, although the records are behind', async () => {
    await stopRecorder();
    const entry = stack.sandbox.ledger.find(transId);
    if (entry !== undefined) entry.status = 'FAILED';
    await stack.hint({ id, transId }, 'FAILED');
    await eventually(
      () => ask(`/v1/payments?transId=${transId}&status=REVIEW`),
      ({ body }) => body.data.length === 1,
    );
    expect(await records.find(id as Parameters<Records['find']>[0])).toMatchObject({
      indexed: { status: 'SUCCESSFUL' },
    });
    const { body } = await ask(`/v1/payments?financialTransId=${reference}&transId=${transId}&limit=1`);
    expect(body.data).toMatchObject([{ id, status: 'REVIEW', final: false }]);
    for (const { data } of [body, (await ask(`/v1/payments?transId=${transId}`)).body]) {
      const shown = data.find((one: { id: string }) => one.id === id);
      expect(shown).toMatchObject({ status: 'REVIEW' });
      expect(shown).not.toHaveProperty('fee');
      expect(shown).not.toHaveProperty('updatedAt');
    }
    expect(await found(`${reference}&status=REVIEW`)).toEqual([id]);
    expect(await found(`${reference}&status=SUCCESSFUL`)).not.toContain(id);
    stopRecorder = startRecorder(stack.api.client, records);
  });

  it('are not looked for where nothing is recorded, which the answer says', async () => {
    const { status, body } = await stack.api.ask('GET', `/v1/payments?financialTransId=${reference}`, {
      key: KEYS.shop,
    });
    expect([status, body.code]).toEqual([501, 'no_records']);
    expect(body.detail).toContain('RECORDS_URL is not set');
    expect(body.detail).toContain('look by externalId');
  });
});

describe('a payment whose record can not be decrypted', () => {
  let id: string;
  let other: ApiUnderTest;
  const idempotencyKey = randomUUID();

  beforeAll(async () => {
    id = (await stack.paid(idempotencyKey)).id;
    await forget(id);
    const keys = keysOf([freshKey('another-key')]);
    other = await stack.startMore({ records: open(port, { keys, isOn: true }) });
  });

  it('was made all the same: a repeated request is told so, and nothing is sent', async () => {
    const made = stack.sandbox.ledger.all().length;
    const { status, body, headers } = await post('/v1/collections', link, idempotencyKey, other);
    expect([status, body.code, body.paymentId]).toEqual([500, 'record_unreadable', id]);
    expect(body.detail).toContain("it may have been paid, but its record can't be read. Don't pay it again");
    expect(headers.has('retry-after')).toBe(false);
    expect(stack.sandbox.ledger.all()).toHaveLength(made);
  });

  it('is answered the same when it is read', async () => {
    for (const path of ['', '/events', '/notifications']) {
      const { status, body } = await other.ask('GET', `/v1/payments/${id}${path}`, { key: KEYS.shop });
      expect([status, body.code, body.paymentId]).toEqual([500, 'record_unreadable', id]);
    }
  });

  it('is in doubt, and not unsent, when the records go away between two questions', async () => {
    const known: Partial<Records> = {
      has: async () => true,
      find: async () => Promise.reject(new RecordsUnavailableError('gone')),
    };
    const flaky = await stack.startMore({ records: known as Records });
    const { status, body } = await post('/v1/collections', link, idempotencyKey, flaky);
    expect([status, body.code, body.paymentId]).toEqual([503, 'temporarily_unavailable', id]);
    expect(body.detail).toContain('may or may not have been accepted');
  });
});

describe('while the records take connections and answer nothing', () => {
  let hanging: Awaited<ReturnType<typeof startHanging>>;
  let stuck: ApiUnderTest;
  beforeAll(async () => {
    hanging = await startHanging();
    stuck = await stack.startMore({
      records: open(hanging.port),
      merchants: merchantsWith([{ name: 'shop', secret: KEYS.shop, scopes: ['collections', 'payouts'] }], {
        maxPayoutsPerDay: 1_000_000,
      }),
    });
  });
  afterAll(() => hanging.stop());

  it('a new payout is refused, though within the limits of its day, and nothing is sent', async () => {
    const made = stack.sandbox.ledger.all().length;
    const { status, body } = await post('/v1/payouts', payout, randomUUID(), stuck);
    expect([status, body.code]).toEqual([503, 'records_unavailable']);
    expect(body.detail).toContain('Nothing was sent');
    expect(stack.sandbox.ledger.all()).toHaveLength(made);
  });

  it('links are made, and what Temporal knows is answered', async () => {
    const key = randomUUID();
    const links = await Promise.all(
      Array.from({ length: 5 }, () => post('/v1/collections', link, randomUUID(), stuck)),
    );
    for (const { status } of links) expect([201, 202]).toContain(status);
    const made = await stack.begun('/v1/payouts', payout, key);
    expect(await post('/v1/payouts', payout, key, stuck)).toMatchObject({
      status: 200,
      body: { id: made.id },
    });
  });

  it('the API is ready, with a warning', async () => {
    const { status, body } = await stuck.ask('GET', '/readyz');
    expect([status, body.warnings]).toEqual([200, [expect.stringContaining("records can't be read")]]);
  });
});

describe('while the records are away', () => {
  let away: ApiUnderTest;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    away = await stack.startMore({ records: open(port) });
  });
  const direct = { method: 'direct', amount: 500, phone: '677000000' };

  it('a new payout is refused, and nothing is sent', async () => {
    const made = stack.sandbox.ledger.all().length;
    const { status, body, headers } = await post('/v1/payouts', payout, randomUUID(), away);
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'records_unavailable', '5']);
    expect(body.detail).toContain('Nothing was sent');
    expect(stack.sandbox.ledger.all()).toHaveLength(made);
  });

  it('a payout that Temporal knows is answered', async () => {
    const key = randomUUID();
    const made = await stack.begun('/v1/payouts', payout, key);
    const again = await post('/v1/payouts', payout, key, away);
    expect([again.status, again.body.id]).toEqual([200, made.id]);
  });

  it('so is a direct collection with a key; one without a key is made, and so is a link', async () => {
    const refused = await post('/v1/collections', direct, randomUUID(), away);
    expect([refused.status, refused.body.code]).toEqual([503, 'records_unavailable']);
    const keyless = await away.ask('POST', '/v1/collections', { key: KEYS.shop, body: direct });
    expect([201, 202]).toContain(keyless.status);
    expect([201, 202]).toContain((await post('/v1/collections', link, randomUUID(), away)).status);
  });

  it('what only they know can not be read, and lists say that it is missing', async () => {
    const read = (path: string, headers = {}) => away.ask('GET', path, { key: KEYS.shop, headers });
    const unknown = await read('/v1/payments/col_0123456789abcdef0123456789abcdef');
    expect([unknown.status, unknown.body.code]).toEqual([503, 'records_unavailable']);
    const list = await read('/v1/payments');
    expect([list.status, list.body.incomplete]).toEqual([200, true]);
    expect((await read('/v1/payments', { accept: 'text/csv' })).body.code).toBe('records_unavailable');
    expect((await read('/v1/events')).body.code).toBe('records_unavailable');
    const byReference = await read('/v1/payments?financialTransId=3034752116');
    expect([byReference.status, byReference.body.code]).toEqual([503, 'records_unavailable']);
    expect(byReference.body.detail).toContain('Try again shortly');
  });

  it('the API is ready all the same, with a warning', async () => {
    const { status, body } = await away.ask('GET', '/readyz');
    expect([status, body.warnings]).toEqual([200, [expect.stringContaining("records can't be read")]]);
    const { body: well } = await api.ask('GET', '/readyz');
    expect(well).toEqual({ status: 'ready' });
  });

  it('the metrics say that nobody knows how far behind they are', async () => {
    const lagOf = async (one: ApiUnderTest) => sumOf(await one.metrics(), 'sanaga_records_lag_seconds');
    expect(await lagOf(away)).toBe(Number.POSITIVE_INFINITY);
    expect(await lagOf(stack.api)).toBeNaN();
    const lag = await lagOf(api);
    expect(lag).toBeGreaterThanOrEqual(PACE.overlapMs / 1_000);
    expect(lag).toBeLessThan(600);
  });

  it('the metrics miss a statement since the first payment, where there are records to look in', async () => {
    const ageOf = async (one: ApiUnderTest) => sumOf(await one.metrics(), 'sanaga_statement_age_seconds');
    expect(await ageOf(away)).toBeNaN();
    expect(await ageOf(stack.api)).toBeNaN();
    expect(await ageOf(api)).toBeGreaterThan(0);
    expect(sumOf(await api.metrics(), 'sanaga_statement_complete')).toBeNaN();
  });

  it("a notification of the provider's for a payment that Temporal doesn't know is kept for an operator", async () => {
    const id = 'col_fedcba9876543210fedcba9876543210';
    const said = { transId: 'longAgo000000001', status: 'FAILED', externalId: id };
    const { status } = await away.ask('POST', '/webhooks/provider/hook-token-0123456789', { body: said });
    expect(status).toBe(200);
    const { data } = (await away.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator })).body;
    expect(data[0]).toMatchObject({ transId: 'longAgo000000001', externalId: id });
  });

  it("one that names a transaction alone reaches the payment that Temporal has, and is kept when it hasn't", async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    // The index shows the transaction some moments later.
    await eventually(
      () => stack.api.ask('GET', `/v1/payments?transId=${payment.transId}`, { key: KEYS.shop }),
      ({ body }) => body.data.length === 1,
    );
    const results = async () => {
      const page = await away.metrics();
      const counted = (result: string) => sumOf(page, 'sanaga_provider_webhooks_total', { result });
      return { taken: counted('taken'), unmatched: counted('unmatched') };
    };
    const before = await results();
    for (const transId of [payment.transId, 'longAgo000000002']) {
      const said = { transId, status: 'SUCCESSFUL' };
      const { status } = await away.ask('POST', '/webhooks/provider/hook-token-0123456789', { body: said });
      expect(status).toBe(200);
    }
    expect(await results()).toEqual({ taken: before.taken + 1, unmatched: before.unmatched + 1 });
    const { data } = (await away.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator })).body;
    expect(data[0].transId).toBe('longAgo000000002');
    await eventually(
      () => stack.read(payment.id),
      ({ body }) => body.status === 'SUCCESSFUL',
    );
  });

  it('payments go on, and are recorded once they are back', async () => {
    const late = open(port);
    const stop = startRecorder(stack.api.client, late);
    const { id } = await stack.paid();
    const recovered = await startPGliteServer(port);
    const known = () => late.has(id as Parameters<Records['has']>[0]).catch(() => false);
    await eventually(known, (isKnown) => isKnown);
    const taken = await post('/v1/payouts', payout, randomUUID(), away);
    expect([201, 202]).toContain(taken.status);
    await stop();
    await recovered.stop();
  });
});
