import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import type { Entry } from '../../sandbox/entry.js';
import { Statements } from '../../src/book/statements.js';
import { ringer } from '../../src/engine/ring.js';
import { SERVICES } from '../../src/payments/words/order.js';
import { dayAfter, dayOf, endOfDay, isoTime, MINUTE_MS, startOf } from '../../src/payments/words/time.js';
import { createStatementSteps } from '../../src/statements/steps.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import {
  type MadeStatement,
  type StatementSteps,
  statementSoFarWorkflowId,
  statementsQueue,
} from '../../src/workflows/messages.js';
import { KEYS } from '../support/api-under-test.js';
import { startDesk } from '../support/desk-under-test.js';
import { eventually } from '../support/eventually.js';
import { useStack } from '../support/payment-stack.js';
import { testEncryption } from '../support/test-encryption.js';

const logger = pino({ level: 'silent' });
let steps: StatementSteps;
let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;
let today: string;

// Before the stack's own: what runs on it is stopped first.
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
});
const stack = useStack();

beforeAll(async () => {
  // These tests are of one day in Douala.
  const left = endOfDay(Date.now()) - Date.now();
  if (left < 4 * MINUTE_MS) await pause(left);
  today = dayOf(Date.now());
  const { book, providers, api } = stack;
  const ring = ringer(api.client, 'payments', book);
  steps = createStatementSteps({ book, providers, ring, logger, pauseMs: 0 });
  connection = await NativeConnection.connect({ address: stack.address });
  worker = await Worker.create({
    connection,
    taskQueue: statementsQueue('payments'),
    dataConverter: dataConverterOf(testEncryption),
    activities: steps,
  });
  running = worker.run();
});

const get = (path: string, key: string = KEYS.operator, accept = 'application/json') =>
  stack.api.ask('GET', path, { key, headers: { accept } });
const ask = (date: string) => stack.api.ask('POST', '/v1/statements', { key: KEYS.operator, body: { date } });

/** Has the statement of today made so far, and waits for it. */
async function madeSoFar(): Promise<MadeStatement> {
  expect(await ask(today)).toMatchObject({ status: 202, body: { date: today } });
  const handle = stack.api.client.workflow.getHandle<() => Promise<MadeStatement>>(statementSoFarWorkflowId(today));
  return await handle.result();
}

/** The payments that a statement has, as lists have them by now. */
async function untilListed(count: number): Promise<void> {
  await eventually(
    async () => (await get('/v1/payments?limit=100')).body.data.length,
    (found) => found === count,
  );
}

/** A stranger's transaction, paid. */
async function stranger(): Promise<Entry> {
  const draft = { service: 'collection', serviceName: 'Shop', method: 'direct', amount: 1_234 } as const;
  const entry = stack.sandbox.ledger.openPending(
    { ...draft, medium: 'mobile money', externalId: 'invoice-9', userId: undefined },
    { kind: 'settles', after: 'atOnce', status: 'SUCCESSFUL' },
  );
  await eventually(
    async () => stack.sandbox.ledger.find(entry.transId)?.status,
    (status) => status === 'SUCCESSFUL',
  );
  return entry;
}

describe('the statement of a day so far', () => {
  let paid: { readonly id: string };
  let doubtful: { readonly id: string };
  let open: { readonly id: string };
  let theirs: { readonly id: string };

  beforeAll(async () => {
    paid = await stack.paid('order-1');
    doubtful = await stack.paid('order-2');
    // As if the provider had booked another amount, which no answer of its had said before.
    for (const entry of stack.transactionsOf(doubtful.id)) Object.assign(entry, { amount: 450 });
    open = await stack.begun('/v1/collections', { method: 'link', amount: 900 }, 'order-3');
    theirs = (await stack.post('/v1/collections', { method: 'link', amount: 800 }, 'order-1', KEYS.rival)).body;
    await stranger();
    await untilListed(4);
  });

  it('has the payments until it was asked for, those under way among them, and is not complete', async () => {
    const asked = Date.now();
    expect((await get(`/v1/statements/${today}`)).body.detail).toContain(
      'an operator can have one made of the day so far',
    );
    const made = await madeSoFar();
    expect(made).toMatchObject({ date: today, version: 1, complete: false, payments: 4 });
    const late = await stack.begun('/v1/collections', { method: 'link', amount: 700 }, 'order-4');

    const { body } = await get(`/v1/statements/${today}`);
    expect(body).toMatchObject({ version: 1, complete: false, from: isoTime(startOf(today)) });
    expect(Date.parse(body.to)).toBeGreaterThanOrEqual(asked - 1_000);
    expect(body.to < body.madeAt).toBe(true);
    const lines = body.payments.map(({ id, status }: { id: string; status: string }) => [id, status]);
    expect(lines).toHaveLength(4);
    expect(lines).toEqual(
      expect.arrayContaining([
        [paid.id, 'SUCCESSFUL'],
        [open.id, 'CREATED'],
        [theirs.id, 'CREATED'],
      ]),
    );
    expect(JSON.stringify(body)).not.toContain(late.id);
    expect(body.services.payout.coverage).toMatchObject({ complete: false, gaps: [expect.stringContaining(' on: ')] });
    expect(body.services.collection).not.toHaveProperty('closing');
  });

  it('shows what differs, and does nothing about it', async () => {
    const { body } = await get(`/v1/statements/${today}`);
    const found = body.differences.map(({ kind, handling }: { kind: string; handling: string }) => [kind, handling]);
    expect(found.sort()).toEqual([
      ['amount_differs', 'noted'],
      ['only_at_provider', 'noted'],
    ]);
    expect((await get(`/v1/payments/${doubtful.id}`)).body.status).toBe('SUCCESSFUL');
    expect((await get('/v1/notifications/unmatched')).body.data).toEqual([]);
  });

  it('shows a merchant only what is his', async () => {
    const own = (await get(`/v1/statements/${today}`, KEYS.rival)).body;
    expect(own).toMatchObject({ complete: false, differences: [] });
    expect(own.payments).toEqual([expect.objectContaining({ id: theirs.id })]);
    expect(own.services.collection.coverage.gaps).toEqual([expect.stringContaining("wasn't over")]);
    expect((await get(`/v1/statements/${today}`, KEYS.reader)).body.payments).toEqual([]);
  });

  it('says in CSV, too, from when on it covers nothing', async () => {
    const { text } = await get(`/v1/statements/${today}`, KEYS.shop, 'text/csv');
    const rows = text.split('\r\n').filter((row) => row.startsWith('not_covered,'));
    expect(rows).toEqual(
      ['collection', 'payout'].map((service) =>
        expect.stringMatching(`^not_covered,${today},${service},.* on: it wasn't over`),
      ),
    );
    const all = await get(`/v1/statements/${today}`, KEYS.operator, 'text/csv');
    expect(all.text).toContain('opening_balance,');
    expect(all.text).not.toContain('closing_balance,');
  });

  it('is on the desk as what it is', async () => {
    const desk = await startDesk(stack.api.url);
    try {
      const visitor = desk.visitor();
      await visitor.signIn(KEYS.operator);
      expect((await visitor.get('/desk/statements')).text).toContain('incomplete');
      const { text } = await visitor.get(`/desk/statements/${today}`);
      expect(text).toContain("The day wasn't over: this covers it until");
      expect(text).not.toContain('Closing balance');
    } finally {
      await desk.stop();
    }
  });

  it('is no statement for the metrics, nor for the list once the day is over', async () => {
    expect(await stack.api.metrics()).toContain('sanaga_statement_complete Nan');
    expect((await get('/v1/statements')).body.data).toMatchObject([{ date: today, version: 1, complete: false }]);
  });

  it('is a new version when it is made again', async () => {
    expect(await madeSoFar()).toMatchObject({ version: 2, complete: false, payments: 5 });
  });

  it("is followed by the night's, which is complete, and has what differs checked", async () => {
    const run = { runId: 'the run of the night', day: today };
    const take = <Args extends unknown[], Result>(step: (...args: Args) => Promise<Result>, ...args: Args) =>
      new MockActivityEnvironment().run(step, ...args);
    await take(steps.readPayments, run);
    for (const service of SERVICES) await take(steps.searchDay, run, service);
    await take(steps.lookUpPayments, run);
    await take(steps.comparePayments, run);
    await take(steps.followUp, run);
    expect(await take(steps.publish, run)).toMatchObject({ version: 3, complete: true, payments: 5 });

    const { body } = await get(`/v1/statements/${today}`);
    expect(body).toMatchObject({ version: 3, complete: true, to: isoTime(startOf(dayAfter(today))) });
    expect(body.differences).toContainEqual(
      expect.objectContaining({ paymentId: doubtful.id, handling: 'checked', statusAfter: 'REVIEW' }),
    );
    expect((await get('/v1/notifications/unmatched')).body.data).toHaveLength(1);
  });

  it('is not kept once the day is over', async () => {
    const yesterday = dayAfter(today, -1);
    const run = { runId: 'a run that took too long', day: yesterday, until: startOf(today) - 1_000 };
    await expect(new MockActivityEnvironment().run(steps.publish, run)).rejects.toThrow(
      `${yesterday} has ended meanwhile`,
    );
    expect(await new Statements(stack.book).lastVersion(yesterday)).toBe(0);
  });

  it('is not made of a day to come', async () => {
    const { status, body } = await ask(dayAfter(today));
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'date', message: expect.stringContaining('or today there: a later one has no payments yet') }],
    ]);
  });
});
