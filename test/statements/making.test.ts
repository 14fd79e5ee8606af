import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import pg from 'pg';
import { pino } from 'pino';
import { scaledClock } from '../../sandbox/clock.js';
import type { Entry } from '../../sandbox/entry.js';
import { workflowOptions } from '../../src/engine/workflow-start.js';
import type { LinkOrder } from '../../src/payments/words/order.js';
import type { PaymentStatus } from '../../src/payments/words/payment.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import { dayAfter, dayOf, startOf } from '../../src/payments/words/time.js';
import type { Statement } from '../../src/reconciliation/statement.js';
import { Records } from '../../src/records/records.js';
import { scheduleStatements } from '../../src/statements/schedule.js';
import { createStatementSteps } from '../../src/statements/steps.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { paymentSearchAttributes as attributes } from '../../src/temporal/search-attributes.js';
import {
  type MadeStatement,
  STATEMENT_SCHEDULE_ID,
  STATEMENT_WORKFLOW_TYPE,
  statementsQueue,
  statementWorkflowId,
} from '../../src/workflows/messages.js';
import { freePort } from '../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../stack/records/pglite-server.js';
import { type ApiUnderTest, KEYS, terms } from '../support/api-under-test.js';
import { startDesk } from '../support/desk-under-test.js';
import { eventually } from '../support/eventually.js';
import { sumOf } from '../support/metrics-page.js';
import { useStack } from '../support/payment-stack.js';
import { testEncryption } from '../support/test-encryption.js';

// Hundreds of payments, each asked for by itself.
/** The day before yesterday, at noon: it is over, wherever the clock stands. */
const DAY = dayAfter(dayOf(Date.now()), -2);
const NOON = startOf(DAY) + 12 * 60 * 60_000;

const logger = pino({ level: 'silent' });
let server: PGliteServer;
let databaseUrl: string;
let records: Records;
let api: ApiUnderTest;
let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;

// Before the stack's own: what runs on it is stopped first.
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
  await records.close();
  await server.stop();
});
const stack = useStack({ clock: scaledClock({ startMs: NOON }) });

beforeAll(async () => {
  const port = await freePort();
  server = await startPGliteServer(port);
  databaseUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
  records = Records.open(databaseUrl, testEncryption, logger);
  api = await stack.startMore({ records });
  connection = await NativeConnection.connect({ address: stack.address });
  worker = await Worker.create({
    connection,
    taskQueue: statementsQueue('payments'),
    dataConverter: dataConverterOf(testEncryption),
    activities: createStatementSteps({
      client: stack.api.client,
      records,
      providers: stack.providers,
      taskQueue: 'payments',
      logger,
      pauseMs: 0,
    }),
  });
  running = worker.run();
});

const newPayoutId = () => `pay_${randomUUID().replaceAll('-', '')}` as PaymentId;
const newId = () => `col_${randomUUID().replaceAll('-', '')}` as PaymentId;

/** A link of the day that Temporal knows, paid at the checkout. */
async function paid(amount: number): Promise<{ readonly id: PaymentId; readonly entry: Entry }> {
  const order: LinkOrder = { kind: 'link', id: newId(), amount, metadata: {} };
  const input = { v: 1, order, terms, fingerprint: 'digest', requestId: 'request-1' } as const;
  await stack.api.client.workflow.start('collectByLink', {
    ...workflowOptions({ input, merchant: 'shop', taskQueue: 'payments', createdAt: NOON }),
  });
  const { body } = await eventually(
    () => stack.read(order.id),
    (answer) => answer.body.link !== undefined,
  );
  await stack.visit(body, 'pay');
  await stack.hint(body);
  await stack.api.client.workflow.getHandle(order.id).result();
  const [entry] = stack.transactionsOf(order.id);
  if (entry === undefined) throw new Error('the sandbox has no transaction');
  return { id: order.id, entry };
}

/** A transaction at the provider that is paid at once. */
function transact(amount: number, externalId?: string, medium: 'mobile money' | 'orange money' = 'mobile money') {
  return stack.sandbox.ledger.openPending(
    {
      service: 'collection',
      serviceName: 'Shop',
      method: 'direct',
      amount,
      medium,
      externalId,
      userId: externalId,
    },
    { kind: 'settles', after: 'atOnce', status: 'SUCCESSFUL' },
  );
}

/** A paid payment of the day that Temporal has forgotten, with its transaction at the provider. */
async function recorded(count: number, amount: number): Promise<void> {
  const made = Array.from({ length: count }, () => {
    const id = newId();
    return { id, transId: transact(amount, id).transId };
  });
  await records.write(
    made.map(({ id, transId }) => ({
      id,
      merchant: 'shop',
      runId: 'run-1',
      startedAt: NOON,
      closedAt: NOON,
      stopped: false,
      indexed: {
        kind: 'collection',
        status: 'SUCCESSFUL',
        final: true,
        amount,
        transId,
        createdAt: NOON,
      } as never,
      content: undefined,
    })),
  );
}

async function makeStatement(day = DAY): Promise<{ made: MadeStatement; statement: Statement }> {
  const made: MadeStatement = await stack.api.client.workflow.execute(STATEMENT_WORKFLOW_TYPE, {
    workflowId: `statement-${randomUUID()}`,
    taskQueue: 'payments',
    args: [{ v: 1, day }],
  });
  const statement = await records.statements.find(made.date, made.version);
  if (statement === undefined) throw new Error('it was not kept');
  return { made, statement };
}

describe('the statement of a day', () => {
  it('has every payment with its fee, finds what only the provider knows, and has what differs checked', async () => {
    const right = await paid(500);
    const other = await paid(700);
    // As if the provider had booked another amount, which no answer of its had said before.
    Object.assign(other.entry, { amount: 650 });
    const stranger = transact(1_234, 'invoice-9');
    await eventually(
      async () => stack.sandbox.ledger.find(stranger.transId)?.status,
      (status) => status === 'SUCCESSFUL',
    );
    await eventually(
      async () => (await api.ask('GET', '/v1/payments?status=SUCCESSFUL', { key: KEYS.operator })).body.data.length,
      (count) => count >= 2,
    );

    const { made, statement } = await makeStatement();
    expect(made).toEqual({
      date: DAY,
      version: 1,
      madeAt: expect.any(String),
      complete: true,
      payments: 2,
      differences: 2,
    });
    expect(sumOf(await api.metrics(), 'sanaga_statement_complete')).toBe(1);
    expect(statement.payments).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: right.id,
          status: 'SUCCESSFUL',
          amount: 500,
          revenue: 490,
          fee: 10,
          compared: true,
        }),
        expect.objectContaining({ id: other.id, amount: 700, providerAmount: 650 }),
      ]),
    );
    expect(statement.differences).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: 'amount_differs',
          paymentId: other.id,
          handling: 'checked',
          statusAfter: 'REVIEW',
        }),
        expect.objectContaining({
          kind: 'only_at_provider',
          transId: stranger.transId,
          providerAmount: 1_234,
          handling: 'unmatched',
        }),
      ]),
    );
    expect(statement.services.collection).toMatchObject({
      totals: { payments: 2, byStatus: { SUCCESSFUL: { count: 2, amount: 1_200 } } },
      coverage: { complete: true, gaps: [], notCompared: 0 },
    });
    // Nobody has asked at midnight.
    expect(statement.services.collection).not.toHaveProperty('opening');

    const { body: review } = await api.ask('GET', `/v1/payments/${other.id}`, { key: KEYS.operator });
    expect(review).toMatchObject({ status: 'REVIEW', final: false });
    const { body: events } = await api.ask('GET', `/v1/payments/${other.id}/events`, { key: KEYS.operator });
    expect(events.data).toContainEqual(
      expect.objectContaining({ type: 'recheck_requested', source: 'system', by: 'statement' }),
    );
    const { body: unmatched } = await api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator });
    expect(unmatched.data).toContainEqual(
      expect.objectContaining({ transId: stranger.transId, externalId: 'invoice-9', statement: DAY }),
    );
  });

  it('is a new version when it is made again, and shows operators nothing twice', async () => {
    const { made, statement } = await makeStatement();
    expect(made.version).toBe(2);
    expect(statement.differences.map(({ kind, handling }) => `${kind} ${handling}`).sort()).toEqual([
      'amount_differs under_review',
      'in_review under_review',
      'only_at_provider unmatched',
    ]);
    const { body: unmatched } = await api.ask('GET', '/v1/notifications/unmatched', { key: KEYS.operator });
    expect(unmatched.data).toHaveLength(1);
    expect((await records.statements.find(DAY, 1))?.version).toBe(1);
    expect(await records.statements.list(undefined, 10)).toEqual([expect.objectContaining({ date: DAY, version: 2 })]);
  });

  it('copes with more transactions than one search shows', async () => {
    await recorded(130, 900);
    await recorded(60, 1_100);
    const strangers = [transact(900), transact(1_100, 'invoice-10'), transact(2_500, undefined, 'orange money')];
    const { statement } = await makeStatement();
    expect(statement.payments).toHaveLength(192);
    expect(statement.complete).toBe(true);
    const unknown = statement.differences.filter(({ kind }) => kind === 'only_at_provider');
    for (const { transId } of strangers) expect(unknown).toContainEqual(expect.objectContaining({ transId }));
  });

  it('says which part of a day the searches could not show', async () => {
    await recorded(100, 900);
    const { statement } = await makeStatement();
    expect(statement.payments).toHaveLength(292);
    expect(statement.complete).toBe(false);
    const { gaps, notCompared } = statement.services.collection.coverage;
    expect(gaps).toContainEqual(expect.stringMatching(/SUCCESSFUL, by mobile money, of 900 XAF: there are more than/));
    // Each of those payments was asked for by itself.
    expect(notCompared).toBe(0);
    expect(statement.differences.filter(({ kind }) => kind === 'missing_at_provider')).toEqual([]);
  });
});

/** A payout in Temporal's index, whose workflow nobody runs. */
async function indexed(amount: number, createdAt: number, more: readonly SearchAttributePair[]): Promise<PaymentId> {
  const id = newPayoutId();
  await stack.api.client.workflow.start('payOut', {
    workflowId: id,
    taskQueue: 'nobody',
    memo: { owner: 'shop', fingerprint: 'f', requestId: 'r' },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: attributes.merchant, value: 'shop' },
      { key: attributes.kind, value: 'payout' },
      { key: attributes.amount, value: amount },
      { key: attributes.createdAt, value: createdAt },
      ...more,
    ]),
  });
  return id;
}

const status = (value: PaymentStatus, final: boolean): SearchAttributePair[] => [
  { key: attributes.status, value },
  { key: attributes.final, value: final },
];

describe("the API's statements", () => {
  const get = (path: string, key: string = KEYS.operator, accept = 'application/json') =>
    api.ask('GET', path, { key, headers: { accept } });

  it('list the latest version of each day, with the counts for operators alone', async () => {
    const { body } = await get('/v1/statements');
    expect(body).toMatchObject({ data: [{ date: DAY, version: 4, payments: 292 }], hasMore: false });
    const own = await get('/v1/statements', KEYS.shop);
    expect(Object.keys(own.body.data[0]).sort()).toEqual(['complete', 'date', 'madeAt', 'version']);
    expect((await get(`/v1/statements?before=${DAY}`)).body.data).toEqual([]);
  });

  it('are measured: how old the latest is, what differs, and that it has gaps', async () => {
    // These records are minutes old, and then as if they had been there for a month.
    expect(sumOf(await api.metrics(), 'sanaga_statement_age_seconds')).toBeLessThan(3_600);
    const database = new pg.Client(databaseUrl);
    await database.connect();
    await database.query("UPDATE migrations SET run_on = run_on - interval '30 days'");
    await database.end();
    const page = await api.metrics();
    const overFor = (Date.now() - startOf(dayAfter(DAY))) / 1_000;
    expect(Math.abs(sumOf(page, 'sanaga_statement_age_seconds') - overFor)).toBeLessThan(60);
    const [latest] = await records.statements.list(undefined, 1);
    expect(latest?.differences).toBeGreaterThan(0);
    expect(sumOf(page, 'sanaga_statement_differences')).toBe(latest?.differences);
    expect(sumOf(page, 'sanaga_statement_complete')).toBe(0);
  });

  it('show a day, and any version of it', async () => {
    const { body } = await get(`/v1/statements/${DAY}?version=1`);
    expect(body).toMatchObject({ object: 'statement', date: DAY, version: 1, timeZone: 'Africa/Douala' });
    expect(body.payments).toHaveLength(2);
    expect((await get(`/v1/statements/${DAY}`)).body.version).toBe(4);
  });

  it('show a merchant what is his: no balance, and nothing that nobody knows of', async () => {
    const { body } = await get(`/v1/statements/${DAY}?version=1`, KEYS.shop);
    expect(body.payments).toHaveLength(2);
    expect(body.differences.map(({ kind }: { kind: string }) => kind)).toEqual(['amount_differs']);
    const rival = await get(`/v1/statements/${DAY}?version=1`, KEYS.rival);
    expect(rival.body).toMatchObject({ payments: [], differences: [] });
  });

  it('are CSV for those who prefer it, with totals and balances, and without a payer', async () => {
    const { status, headers, text } = await get(`/v1/statements/${DAY}?version=1`, KEYS.operator, 'text/csv');
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="statement-${DAY}-1.csv"`);
    const [head = '', ...rows] = text.trim().split('\r\n');
    expect(head).toMatch(/^record,date,service,id,merchant,status,amount,amountPaid,revenue,fee,currency,/);
    expect(rows.map((row) => row.split(',', 3).join(' '))).toEqual([
      `opening_balance ${DAY} collection`,
      `payment ${DAY} collection`,
      `payment ${DAY} collection`,
      `difference ${DAY} collection`,
      `difference ${DAY} collection`,
      `total ${DAY} collection`,
      `closing_balance ${DAY} collection`,
      `opening_balance ${DAY} payout`,
      `total ${DAY} payout`,
      `closing_balance ${DAY} payout`,
    ]);
    expect(text).not.toContain('670000000');
    const address = `/v1/statements/${DAY}?version=1&separator=semicolon`;
    const semicolons = await get(address, KEYS.operator, 'text/csv');
    expect(semicolons.text.split('\r\n')[0]).toBe(head.replaceAll(',', ';'));
    expect((await get(`/v1/statements/${DAY}?separator=;`)).status).toBe(400);
  });

  it.each([
    ['2020-01-01', 'If this one was missed, an operator can have it made'],
    [`${DAY}?version=9`, 'in the following night'],
    ['2999-12-31', 'look again at 3000-01-01T03:00:00.000Z'],
    ['2026-02-30', 'Name it by its day'],
    ['today', 'Name it by its day'],
  ])('are not found for %s, and the answer says when one is made', async (date, says) => {
    const { status, body } = await get(`/v1/statements/${date}`);
    expect([status, body.detail]).toEqual([404, expect.stringContaining(says)]);
  });

  it('are CSV with a byte order mark, without which Excel takes UTF-8 for another encoding', async () => {
    const raw = await fetch(`${api.url}/v1/statements/${DAY}`, {
      headers: { authorization: `Bearer ${KEYS.operator}`, accept: 'text/csv' },
    });
    expect([...new Uint8Array(await raw.arrayBuffer()).slice(0, 5)]).toEqual([0xef, 0xbb, 0xbf, 0x72, 0x65]);
  });

  it('are made when an operator asks for it, and not of a day to come', async () => {
    const ask = (date: string, key: string = KEYS.operator) =>
      api.ask('POST', '/v1/statements', { key, body: { date } });
    const asked = await ask(DAY);
    expect(asked).toMatchObject({
      status: 202,
      body: { object: 'statement_request', date: DAY, version: 5 },
    });
    await stack.api.client.workflow.getHandle(statementWorkflowId(DAY)).result();
    expect((await get(`/v1/statements/${DAY}?version=5`)).status).toBe(200);
    for (const wrong of [dayAfter(dayOf(Date.now()), 2), '2026-02-30', '']) {
      expect(await ask(wrong)).toMatchObject({ status: 400, body: { errors: [{ field: 'date' }] } });
    }
    expect((await ask(DAY, KEYS.shop)).status).toBe(403);
  });

  it('are on the desk, with what differs', async () => {
    const desk = await startDesk(api.url);
    try {
      const visitor = desk.visitor();
      await visitor.signIn(KEYS.operator);
      const list = await visitor.get('/desk/statements');
      expect(list.text).toContain(`href="/desk/statements/${DAY}"`);
      const { text } = await visitor.get(`/desk/statements/${DAY}`);
      expect(text).toContain('Known to the provider alone');
      expect(text).toContain('The amounts differ');
      expect(text).toContain('nobody could ask for it then');
      expect(text).toContain('Not complete');
    } finally {
      await desk.stop();
    }
  });

  it('are downloaded from the desk as the API has them, and made again there', async () => {
    const desk = await startDesk(api.url);
    try {
      const visitor = desk.visitor();
      await visitor.signIn(KEYS.operator);
      const file = await visitor.get(`/desk/statements/${DAY}/csv?version=1`);
      const csv = await get(`/v1/statements/${DAY}?version=1`, KEYS.operator, 'text/csv');
      expect(file.text).toBe(csv.text);
      const french = await visitor.get(`/desk/statements/${DAY}/csv?version=1&separator=semicolon`);
      expect(french.text).toMatch(/^record;date;service;/);
      expect(file.headers.get('content-disposition')).toBe(`attachment; filename=statement-${DAY}-1.csv`);
      const json = await visitor.get(`/desk/statements/${DAY}/json?version=1`);
      expect(JSON.parse(json.text)).toEqual((await get(`/v1/statements/${DAY}?version=1`)).body);

      await visitor.get(`/desk/statements/${DAY}`);
      const { path } = await visitor.submit('/desk/statements');
      expect(path).toBe(`/desk/statements/${DAY}?version=6`);
      await stack.api.client.workflow.getHandle(statementWorkflowId(DAY)).result();
      expect((await visitor.get(path)).text).toContain('Version 6, made ');
    } finally {
      await desk.stop();
    }
  });

  it('do not exist where no records are kept', async () => {
    expect(await stack.api.ask('GET', '/v1/statements', { key: KEYS.operator })).toMatchObject({
      status: 501,
      body: { code: 'no_records' },
    });
  });
});

describe('the schedule of statements', () => {
  it('is there once, at midnight in Douala, however many workers start', async () => {
    const { client } = stack.api;
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
    const { client } = stack.api;
    await scheduleStatements(client, 'payments');
    const handle = client.schedule.getHandle(STATEMENT_SCHEDULE_ID);
    const midnight = startOf(dayAfter(DAY));
    // As Temporal does when it was away at that midnight.
    await handle.backfill({
      start: new Date(midnight - 60_000),
      end: new Date(midnight + 60_000),
      overlap: ScheduleOverlapPolicy.ALLOW_ALL,
    });
    const { info } = await eventually(
      () => handle.describe(),
      (described) => described.info.recentActions.length > 0,
    );
    expect(info.recentActions).toHaveLength(1);
    const started = info.recentActions[0]?.action.workflow;
    expect(started?.workflowId).toMatch(/^daily-statement-/);
    const made = await client.workflow.getHandle<() => Promise<MadeStatement>>(String(started?.workflowId)).result();
    expect(made.date).toBe(DAY);
    await expect(records.statements.find(DAY, made.version)).resolves.toBeDefined();
    await handle.delete();
  });
});

describe('the statements of payouts that were held', () => {
  const FRIDAY = dayAfter(DAY, -10);
  const MONDAY = dayAfter(FRIDAY, -4);
  const [monday, friday] = [startOf(MONDAY) + 9 * 60 * 60_000, startOf(FRIDAY) + 9 * 60 * 60_000];

  /** The provider's transaction of a payout, made on Friday and paid. */
  async function sentOnFriday(id: PaymentId, amount: number): Promise<string> {
    const draft = {
      service: 'payout',
      serviceName: 'Shop',
      method: 'payout',
      amount,
      externalId: id,
      userId: id,
    } as const;
    const entry = stack.sandbox.ledger.openPending(draft, { kind: 'settles', after: 'atOnce', status: 'SUCCESSFUL' });
    await eventually(
      async () => stack.sandbox.ledger.find(entry.transId)?.status,
      (shown) => shown === 'SUCCESSFUL',
    );
    return Object.assign(entry, { createdAt: friday }).transId;
  }

  it('have each on the day on which it was released, and until then on that of its order', async () => {
    const released = [...status('SUCCESSFUL', true), { key: attributes.releasedAt, value: new Date(friday) }];
    const wages = await indexed(90_000, monday, released);
    await sentOnFriday(wages, 90_000);
    const old = newPayoutId();
    const transId = (await sentOnFriday(old, 80_000)) as TransId;
    const run = { runId: 'run-1', startedAt: monday, closedAt: friday, stopped: false, content: undefined };
    const kept = { kind: 'payout', status: 'SUCCESSFUL', final: true, amount: 80_000, transId } as const;
    await records.write([
      { ...run, id: old, merchant: 'shop', indexed: { ...kept, createdAt: monday, releasedAt: friday } },
    ]);
    const held = [...status('CREATED', false), { key: attributes.heldFor, value: ['approval', 'date'] }];
    const waiting = await indexed(70_000, monday, held);
    const unsent = await indexed(60_000, monday, status('FAILED', true));
    await eventually(
      () => stack.api.client.workflow.count('TaskQueue = "nobody"'),
      ({ count }) => count === 3,
    );

    const { statement: ofFriday } = await makeStatement(FRIDAY);
    expect(ofFriday.payments.map(({ id }) => id).sort()).toEqual([wages, old].sort());
    for (const line of ofFriday.payments) expect(line).toMatchObject({ compared: true, providerStatus: 'SUCCESSFUL' });
    expect(ofFriday).toMatchObject({ complete: true, differences: [] });
    expect(ofFriday.services.payout.totals.byStatus.SUCCESSFUL).toEqual({ count: 2, amount: 170_000 });

    const { statement: ofMonday } = await makeStatement(MONDAY);
    expect(ofMonday).toMatchObject({ complete: true, differences: [] });
    const lines = ofMonday.payments.map(({ id, status, providerStatus }) => [id, status, providerStatus]);
    expect(lines.sort()).toEqual(
      [
        [waiting, 'CREATED', undefined],
        [unsent, 'FAILED', undefined],
      ].sort(),
    );
  });
});
