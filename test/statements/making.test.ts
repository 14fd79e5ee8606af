import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection, ScheduleOverlapPolicy } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { scaledClock } from '../../sandbox/clock.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { createActivities } from '../../src/activities/activities.js';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { paymentsWith } from '../../src/book/day-payments.js';
import { Statements } from '../../src/book/statements.js';
import { listUnmatched } from '../../src/book/unmatched.js';
import { paymentReports } from '../../src/engine/reports.js';
import { ringer } from '../../src/engine/ring.js';
import { SERVICES } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { dayAfter, dayOf, startOf } from '../../src/payments/words/time.js';
import { createProviderClient } from '../../src/provider/client.js';
import type { Statement } from '../../src/reconciliation/statement.js';
import { scheduleStatements } from '../../src/statements/schedule.js';
import { createStatementSteps } from '../../src/statements/steps.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { createPaymentWorker, type PaymentWorker } from '../../src/worker/payment-worker.js';
import {
  type MadeStatement,
  STATEMENT_SCHEDULE_ID,
  STATEMENT_WORKFLOW_TYPE,
  type StatementSteps,
} from '../../src/workflows/messages.js';
import { startDevServer } from '../../stack/temporal/start-dev-server.js';
import { newBook, type TestBook } from '../support/books.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { eventually } from '../support/eventually.js';
import { noCollections } from '../support/no-collections.js';
import { HOUR, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { testEncryption } from '../support/test-encryption.js';

/** The day before yesterday, at noon: it is over, wherever the clock stands. */
const DAY = dayAfter(dayOf(Date.now()), -2);
const NOON = startOf(DAY) + 12 * HOUR;

const CREDENTIALS = {
  collection: { apiUser: 'collector', apiKey: 'collector-key' },
  payout: { apiUser: 'payer', apiKey: 'payer-key' },
};

const logger = pino({ level: 'silent' });
let made: TestBook;
let book: Book;
let statements: Statements;
let temporal: Awaited<ReturnType<typeof startDevServer>>;
let client: Client;
let connection: NativeConnection;
let provider: Server;
let sandbox: Sandbox;
let steps: StatementSteps;
let worker: PaymentWorker;
let running: Promise<void>;

beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
  statements = new Statements(book);
  temporal = await startDevServer({ report: () => undefined, ui: false });
  const { address } = temporal;
  const dataConverter = dataConverterOf(testEncryption);
  client = new Client({ connection: await Connection.connect({ address }), dataConverter });
  connection = await NativeConnection.connect({ address });
  provider = createServer();
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  sandbox = createSandbox({
    clock: scaledClock({ startMs: NOON }),
    ...{ merchantName: 'Test shop', publicUrl: url, services: CREDENTIALS, seed: 1 },
  });
  provider.on('request', sandbox.app);
  await startWorker(url);
});

async function startWorker(url: string): Promise<void> {
  const serviceOf = (service: 'collection' | 'payout') =>
    createProviderClient({ service, url, ...CREDENTIALS[service], timeoutMs: 10_000 });
  const providers = { collection: serviceOf('collection'), payout: serviceOf('payout') };
  const reports = paymentReports(logger, { changed: () => undefined, becameAmbiguous: () => undefined });
  const ring = ringer(client, 'payments', book);
  const activities = { book, providers, collections: noCollections, limitsOf: () => ({}), logger, reports };
  steps = createStatementSteps({ book, providers, ring, logger, pauseMs: 0 });
  worker = await createPaymentWorker({
    ...{ connection, namespace: 'default', taskQueue: 'payments', encryption: testEncryption },
    activities: createActivities(activities),
    statementSteps: steps,
    workflowBundle: workflowBundle(),
    limits: {
      maxCachedWorkflows: 10,
      maxConcurrentWorkflowTasks: 10,
      maxConcurrentActivities: 10,
      maxConcurrentLocalActivities: 10,
      shutdownGraceMs: 500,
    },
  });
  running = worker.run();
}

afterAll(async () => {
  worker?.shutdown();
  await running;
  await connection?.close();
  await client?.connection.close();
  await sandbox?.close();
  provider?.close();
  await temporal?.stop();
  await made.drop();
});

const transactionOf = (id: PaymentId) => {
  const entry = sandbox.ledger.all().find(({ externalId }) => externalId === id);
  if (entry === undefined) throw new Error(`the sandbox has no transaction of ${id}`);
  return entry;
};

/** A payout that was paid on the day. */
async function paid(amount: number): Promise<PaymentId> {
  const order = {
    ...payoutOrder,
    id: paymentId(`pay_${randomUUID().replaceAll('-', '')}`),
    amount,
    phone: '677000000',
  };
  const ordered = {
    order,
    terms: { ...terms, pollFirstMs: 2_000 },
    merchant: 'shop',
    fingerprint: 'f',
    requestId: 'r',
  };
  await claim(book, ordered, Date.now());
  await ringer(client, 'payments', book)(order.id);
  await eventually(
    async () => (await paymentsWith(book, [order.id]))[0]?.status,
    (status) => status === 'SUCCESSFUL',
  );
  await createdAt(order.id, NOON);
  return order.id;
}

/** Has a payment be of another time: it was made just now. */
const createdAt = (id: PaymentId, at: number, releasedAt?: number) =>
  book.query('UPDATE payments SET created_at = $2, released_at = $3 WHERE id = $1', [
    ...[id, new Date(at), releasedAt === undefined ? null : new Date(releasedAt)],
  ]);

/** A collection at the provider that is paid at once. */
function transact(amount: number, externalId?: string, medium: 'mobile money' | 'orange money' = 'mobile money') {
  const draft = { service: 'collection', serviceName: 'Shop', method: 'direct', amount, medium } as const;
  const outcome = { kind: 'settles', after: 'atOnce', status: 'SUCCESSFUL' } as const;
  return sandbox.ledger.openPending({ ...draft, externalId, userId: externalId }, outcome);
}

/** Paid collections of the day, with their transactions at the provider. */
async function collected(count: number, amount: number): Promise<void> {
  const entries = Array.from({ length: count }, () => transact(amount, `col_${randomUUID().replaceAll('-', '')}`));
  for (const { externalId = '', transId } of entries) {
    await book.query(
      `INSERT INTO payments (id, merchant, kind, method, fingerprint, request_id, created_at, status, final, amount, trans_id)
       VALUES ($1, 'shop', 'collection', 'link', '', '', $2, 'SUCCESSFUL', true, $3, $4)`,
      [externalId, new Date(NOON), amount, transId],
    );
  }
  await eventually(
    async () => entries.filter(({ transId }) => sandbox.ledger.find(transId)?.status !== 'SUCCESSFUL').length,
    (unpaid) => unpaid === 0,
  );
}

async function makeStatement(day = DAY): Promise<{ made: MadeStatement; statement: Statement }> {
  const summary: MadeStatement = await client.workflow.execute(STATEMENT_WORKFLOW_TYPE, {
    workflowId: `statement-${randomUUID()}`,
    taskQueue: 'payments',
    args: [{ v: 1, day }],
  });
  const statement = await statements.find(summary.date, summary.version);
  if (statement === undefined) throw new Error('it was not kept');
  return { made: summary, statement };
}

describe('the statement of a day', () => {
  it('has every payment, finds what only the provider knows, and has what differs checked', async () => {
    const right = await paid(500);
    const other = await paid(700);
    // As if the provider had booked another amount, which no answer of its had said before.
    Object.assign(transactionOf(other), { amount: 650 });
    const stranger = transact(1_234, 'invoice-9');
    await eventually(
      async () => sandbox.ledger.find(stranger.transId)?.status,
      (status) => status === 'SUCCESSFUL',
    );

    const { made: summary, statement } = await makeStatement();
    expect(summary).toMatchObject({ date: DAY, version: 1, complete: true, payments: 2, differences: 2 });
    expect(statement.payments).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: right, status: 'SUCCESSFUL', amount: 500, compared: true }),
        expect.objectContaining({ id: other, amount: 700, providerAmount: 650 }),
      ]),
    );
    expect(statement.differences).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: 'amount_differs',
          paymentId: other,
          handling: 'checked',
          statusAfter: 'REVIEW',
        }),
        expect.objectContaining({ kind: 'only_at_provider', transId: stranger.transId, handling: 'unmatched' }),
      ]),
    );
    expect(statement.services.payout).toMatchObject({
      totals: { payments: 2, byStatus: { SUCCESSFUL: { count: 2, amount: 1_200 } } },
      coverage: { complete: true, gaps: [], notCompared: 0 },
    });
    // Nobody has asked at midnight.
    expect(statement.services.payout).not.toHaveProperty('opening');
    expect(await listUnmatched(book)).toEqual([
      expect.objectContaining({ transId: stranger.transId, externalId: 'invoice-9', statement: DAY }),
    ]);
  });

  it('is a new version when it is made again, and shows operators nothing twice', async () => {
    const { made: summary, statement } = await makeStatement();
    expect(summary.version).toBe(2);
    expect(statement.differences.map(({ kind, handling }) => `${kind} ${handling}`).sort()).toEqual([
      'amount_differs under_review',
      'in_review under_review',
      'only_at_provider unmatched',
    ]);
    expect(await listUnmatched(book)).toHaveLength(1);
    expect((await statements.find(DAY, 1))?.version).toBe(1);
    expect(await statements.list(undefined, 10)).toEqual([expect.objectContaining({ date: DAY, version: 2 })]);
  });

  it('is not made without the comparison or what follows it, which somebody may have completed by hand', async () => {
    const version = await statements.lastVersion(DAY);
    const run = { runId: randomUUID(), day: DAY };
    const take = <Args extends unknown[], Result>(
      step: (...args: Args) => Promise<Result>,
      ...args: Args
    ): Promise<Result> => new MockActivityEnvironment().run(step, ...args);
    await take(steps.readPayments, run);
    for (const service of SERVICES) await take(steps.searchDay, run, service);
    await take(steps.lookUpPayments, run);
    await expect(take(steps.followUp, run)).rejects.toThrow('the comparison of this run was never made');
    await expect(take(steps.publish, run)).rejects.toThrow('the comparison of this run was never made');
    await take(steps.comparePayments, run);
    await expect(take(steps.publish, run)).rejects.toThrow('the list of differences of this run was never made');
    expect(await statements.lastVersion(DAY)).toBe(version);
    await take(steps.followUp, run);
    const published = await take(steps.publish, run);
    expect(published.version).toBe(version + 1);
    // Its answer was lost, and the parts are gone.
    expect(await take(steps.publish, run)).toEqual(published);
  });

  it('copes with more transactions than one search shows', async () => {
    await collected(130, 900);
    await collected(60, 1_100);
    const strangers = [transact(900), transact(1_100, 'invoice-10'), transact(2_500, undefined, 'orange money')];
    const { statement } = await makeStatement();
    expect(statement.payments).toHaveLength(192);
    expect(statement.complete).toBe(true);
    const unknown = statement.differences.filter(({ kind }) => kind === 'only_at_provider');
    for (const { transId } of strangers) expect(unknown).toContainEqual(expect.objectContaining({ transId }));
  });

  it('says which part of a day the searches could not show', async () => {
    await collected(100, 900);
    const { statement } = await makeStatement();
    expect(statement.payments).toHaveLength(292);
    expect(statement.complete).toBe(false);
    const { gaps, notCompared } = statement.services.collection.coverage;
    expect(gaps).toContainEqual(expect.stringMatching(/SUCCESSFUL, by mobile money, of 900 XAF: there are more than/));
    // Each of those payments was asked for by itself.
    expect(notCompared).toBe(0);
    expect(statement.differences.filter(({ kind }) => kind === 'missing_at_provider')).toEqual([]);
  });

  it('has a held payout on the day on which it was released', async () => {
    const friday = dayAfter(DAY, -10);
    const monday = dayAfter(friday, -4);
    const wages = await paid(90_000);
    Object.assign(transactionOf(wages), { createdAt: startOf(friday) + 9 * HOUR });
    await createdAt(wages, startOf(monday) + 9 * HOUR, startOf(friday) + 9 * HOUR);
    const { statement: ofFriday } = await makeStatement(friday);
    expect(ofFriday.payments).toMatchObject([{ id: wages, compared: true, providerStatus: 'SUCCESSFUL' }]);
    expect(ofFriday).toMatchObject({ complete: true, differences: [] });
    const { statement: ofMonday } = await makeStatement(monday);
    expect(ofMonday).toMatchObject({ complete: true, differences: [], payments: [] });
  });
});

describe('the schedule of statements', () => {
  it('is there once, at midnight in Douala, however many workers start', async () => {
    await scheduleStatements(client, 'payments');
    const handle = client.schedule.getHandle(STATEMENT_SCHEDULE_ID);
    await handle.pause();
    await scheduleStatements(client, 'payments');
    const { spec, action, state, policies } = await handle.describe();
    expect(spec).toMatchObject({
      calendars: [expect.objectContaining({ hour: [expect.objectContaining({ start: 0 })] })],
      timezone: 'Africa/Douala',
    });
    expect(action).toMatchObject({ workflowType: STATEMENT_WORKFLOW_TYPE, taskQueue: 'payments' });
    expect(policies).toMatchObject({ overlap: 'ALLOW_ALL' });
    expect(state.paused).toBe(true);
    await handle.delete();
  });

  it('makes the statement of the day that ended at the midnight that it starts one for', async () => {
    await scheduleStatements(client, 'payments');
    const handle = client.schedule.getHandle(STATEMENT_SCHEDULE_ID);
    const midnight = startOf(dayAfter(DAY));
    // As Temporal does when it was away at that midnight.
    await handle.backfill({
      start: new Date(midnight - MINUTE),
      end: new Date(midnight + MINUTE),
      overlap: ScheduleOverlapPolicy.ALLOW_ALL,
    });
    const { info } = await eventually(
      () => handle.describe(),
      (described) => described.info.recentActions.length > 0,
    );
    expect(info.recentActions).toHaveLength(1);
    const started = info.recentActions[0]?.action.workflow;
    expect(started?.workflowId).toMatch(/^daily-statement-/);
    const summary = await client.workflow.getHandle<() => Promise<MadeStatement>>(String(started?.workflowId)).result();
    expect(summary.date).toBe(DAY);
    await expect(statements.find(DAY, summary.version)).resolves.toBeDefined();
    await handle.delete();
  });
});
