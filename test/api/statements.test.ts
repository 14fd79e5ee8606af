import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { claim } from '../../src/book/claim.js';
import { Statements } from '../../src/book/statements.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import { dayAfter, dayOf, HOUR_MS, isoTime, startOf } from '../../src/payments/words/time.js';
import type { StatementLine } from '../../src/reconciliation/reconciliation.js';
import { type Difference, toStatement } from '../../src/reconciliation/statement.js';
import { type ApiUnderTest, KEYS, startApi } from '../support/api-under-test.js';
import { newBook, type TestBook } from '../support/books.js';
import { startDesk } from '../support/desk-under-test.js';
import { sumOf } from '../support/metrics-page.js';
import { paymentId, payoutOrder, terms } from '../support/orders.js';

/** The day before yesterday: it is over, wherever the clock stands. */
const DAY = dayAfter(dayOf(Date.now()), -2);
const NOON = startOf(DAY) + 12 * HOUR_MS;

let made: TestBook;
let api: ApiUnderTest;
let statements: Statements;

beforeAll(async () => {
  made = await newBook();
  statements = new Statements(made.book);
  api = await startApi({ bookUrl: made.url });
});
afterAll(async () => {
  await api?.stop();
  await made.drop();
});

const line = (id: string, more: Partial<StatementLine> = {}): StatementLine => ({
  ...{ id: id as PaymentId, merchant: 'shop', kind: 'collection', status: 'SUCCESSFUL', final: true, amount: 500 },
  ...{ transId: `T-${id}` as TransId, createdAt: isoTime(NOON), compared: true },
  ...more,
});

const differs: Difference = {
  ...{ kind: 'amount_differs', service: 'collection', paymentId: 'col_2' as PaymentId, merchant: 'shop' },
  ...{ status: 'SUCCESSFUL', amount: 700, providerAmount: 650, text: 'the amounts differ' },
  ...{ handling: 'checked', statusAfter: 'REVIEW' },
};
const unknown: Difference = {
  ...{ kind: 'only_at_provider', service: 'collection', transId: 'T-9' as TransId, providerAmount: 1_234 },
  ...{ text: 'no payment here knows it', handling: 'unmatched' },
};

/** Publishes the next version of the day's statement. */
const publish = (run: string, cutOff = false) =>
  statements.publish(run, DAY, (version) =>
    toStatement({
      ...{ date: DAY, version, madeAt: startOf(dayAfter(DAY)) + 3 * HOUR_MS, cutOff },
      payments: [line('col_1'), line('col_2', { amount: 700 })],
      differences: [differs, unknown],
      gaps: { collection: [], payout: [] },
      balances: { collection: {}, payout: {} },
    }),
  );

const get = (path: string, key: string = KEYS.operator, accept = 'application/json') =>
  api.ask('GET', path, { key, headers: { accept } });

describe("the API's statements", () => {
  it('are due since the first payment, and measured: how old the latest is, what differs, and whether it has gaps', async () => {
    expect(sumOf(await api.metrics(), 'sanaga_statement_age_seconds')).toBeNaN();
    const ordered = { order: { ...payoutOrder, id: paymentId('pay_1') }, terms, merchant: 'shop' };
    await claim(made.book, { ...ordered, fingerprint: 'f', requestId: 'r' }, Date.now() - 2 * HOUR_MS);
    const age = sumOf(await api.metrics(), 'sanaga_statement_age_seconds');
    expect(Math.abs(age - 7_200)).toBeLessThan(600);

    await publish('run 1');
    await publish('run 2', true);
    const page = await api.metrics();
    expect(sumOf(page, 'sanaga_statement_differences')).toBe(2);
    expect(sumOf(page, 'sanaga_statement_complete')).toBe(0);
  });

  it('list the latest version of each day, with the counts for operators alone', async () => {
    const { body } = await get('/v1/statements');
    expect(body).toMatchObject({ data: [{ date: DAY, version: 2, payments: 2, differences: 2 }], hasMore: false });
    const own = await get('/v1/statements', KEYS.shop);
    expect(Object.keys(own.body.data[0]).sort()).toEqual(['complete', 'date', 'madeAt', 'version']);
    expect((await get(`/v1/statements?before=${DAY}`)).body.data).toEqual([]);
  });

  it('show a day, and any version of it', async () => {
    const { body } = await get(`/v1/statements/${DAY}?version=1`);
    expect(body).toMatchObject({ object: 'statement', date: DAY, version: 1, timeZone: 'Africa/Douala' });
    expect(body.payments).toHaveLength(2);
    expect((await get(`/v1/statements/${DAY}`)).body.version).toBe(2);
  });

  it('show a merchant what is his: no balance, and nothing that nobody knows of', async () => {
    const { body } = await get(`/v1/statements/${DAY}`, KEYS.shop);
    expect(body.payments).toHaveLength(2);
    expect(body.differences.map(({ kind }: { kind: string }) => kind)).toEqual(['amount_differs']);
    const rival = await get(`/v1/statements/${DAY}`, KEYS.rival);
    expect(rival.body).toMatchObject({ payments: [], differences: [] });
  });

  it('are CSV for those who prefer it, with totals and balances', async () => {
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
    const semicolons = await get(`/v1/statements/${DAY}?version=1&separator=semicolon`, KEYS.operator, 'text/csv');
    expect(semicolons.text.split('\r\n')[0]).toBe(head.replaceAll(',', ';'));
    expect((await get(`/v1/statements/${DAY}?separator=;`)).status).toBe(400);
    // Without a byte order mark, Excel takes UTF-8 for another encoding.
    const raw = await fetch(`${api.url}/v1/statements/${DAY}`, {
      headers: { authorization: `Bearer ${KEYS.operator}`, accept: 'text/csv' },
    });
    expect([...new Uint8Array(await raw.arrayBuffer()).slice(0, 5)]).toEqual([0xef, 0xbb, 0xbf, 0x72, 0x65]);
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

  it('are asked for by operators alone, and not of a day to come', async () => {
    const ask = (date: string, key: string = KEYS.operator) =>
      api.ask('POST', '/v1/statements', { key, body: { date } });
    for (const wrong of [dayAfter(dayOf(Date.now())), '2026-02-30', '']) {
      expect(await ask(wrong)).toMatchObject({ status: 400, body: { errors: [{ field: 'date' }] } });
    }
    expect((await ask(DAY, KEYS.shop)).status).toBe(403);
    // Temporal is down.
    expect((await ask(DAY)).status).toBe(503);
  });

  it('are on the desk, with what differs, and downloaded there as the API has them', async () => {
    const desk = await startDesk(api.url);
    try {
      const visitor = desk.visitor();
      await visitor.signIn(KEYS.operator);
      expect((await visitor.get('/desk/statements')).text).toContain(`href="/desk/statements/${DAY}"`);
      const { text } = await visitor.get(`/desk/statements/${DAY}`);
      expect(text).toContain('Known to the provider alone');
      expect(text).toContain('The amounts differ');
      expect(text).toContain('nobody could ask for it then');
      expect(text).toContain('Not complete');
      const file = await visitor.get(`/desk/statements/${DAY}/csv?version=1`);
      const csv = await get(`/v1/statements/${DAY}?version=1`, KEYS.operator, 'text/csv');
      expect(file.text).toBe(csv.text);
      expect(file.headers.get('content-disposition')).toBe(`attachment; filename=statement-${DAY}-1.csv`);
      const json = await visitor.get(`/desk/statements/${DAY}/json?version=1`);
      expect(JSON.parse(json.text)).toEqual((await get(`/v1/statements/${DAY}?version=1`)).body);
    } finally {
      await desk.stop();
    }
  });
});
