import { describe, expect, it } from '@jest/globals';
import type { FaultRequest } from '../../../sandbox/faults/fault-rule.js';
import { answerForm } from '../../../sandbox/faults/odd-forms.js';
import { createProviderClient } from '../../../src/provider/client.js';
import {
  credentials,
  openLink,
  payDirectly,
  payOut,
  phones,
  type Running,
  SECOND,
  services,
  startSandbox,
  transactionsOf,
} from '../../support/running-sandbox.js';

type Fault = FaultRequest['fault'];
const body = { amount: 1000, phone: phones.succeeds, externalId: 'order-7', userId: 'order-7' };

/** Time limits of the client for an answer, and for one that is not to come, in ms. */
const PATIENT_MS = 30_000;
const IMPATIENT_MS = 1_500;

/** Sends a direct payment and says how it ended for the client. */
const pay = (running: Running, waitMs = PATIENT_MS) =>
  ask(running, '/direct-pay', waitMs, {
    method: 'POST',
    headers: { ...credentials('collection'), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Sends a request, a GET unless told otherwise, and says how it ended for the client. */
async function ask(
  running: Running,
  path: string,
  waitMs = PATIENT_MS,
  init: RequestInit = { headers: credentials('collection') },
): Promise<number | string> {
  try {
    return (await running.send(path, { ...init, signal: AbortSignal.timeout(waitMs) })).status;
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'timed out' : 'cut off';
  }
}

const committed = async (running: Running) => transactionsOf(await running.get('/transaction/order-7')).length;

describe('a fault of an answer', () => {
  it.each<[Fault, number | string, number]>([
    ['timeoutBeforeCommit', 'timed out', 0],
    ['timeoutAfterCommit', 'timed out', 1],
    ['errorBeforeCommit', 502, 0],
    ['errorAfterCommit', 502, 1],
    ['resetBeforeCommit', 'cut off', 0],
    ['resetAfterCommit', 'cut off', 1],
    ['garbage', 200, 1],
    ['throttle', 429, 0],
    ['gatewayThrottleBeforeCommit', 429, 0],
    ['gatewayThrottleAfterCommit', 429, 1],
    ['wrongCredentials', 401, 0],
  ])('%s ends a request as %p and commits %i', async (fault, ending, transactions) => {
    const running = await startSandbox();
    await running.operator('POST', '/faults', { fault });
    expect(await pay(running, ending === 'timed out' ? IMPATIENT_MS : PATIENT_MS)).toBe(ending);
    expect(await committed(running)).toBe(transactions);
    expect(await pay(running)).toBe(200);
  });

  it.each(answerForm.options)('sends the correct answer in an odd form, which is read: %s', async (form) => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'oddForm', form });
    const provider = createProviderClient({
      service: 'collection',
      ...services.collection,
      url: running.url,
      timeoutMs: PATIENT_MS,
      orderSlots: 1,
    });
    try {
      const answer = await provider.directPay(body);
      expect(answer).toMatchObject({ kind: 'accepted', transId: expect.any(String) });
      expect(running.sandbox.faults.totals.get('oddForm')).toBe(1);
    } finally {
      provider.close();
    }
  });

  it.each<['errorBeforeCommit' | 'errorAfterCommit', number]>([
    ['errorBeforeCommit', 0],
    ['errorAfterCommit', 1],
  ])('is written down: %s, with the transaction when there is one', async (fault, onEntry) => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault });
    await pay(running);
    const { body: ledger } = await running.operator('GET', '/ledger');
    expect(ledger).toMatchObject({ totals: { faults: { [fault]: 1 } } });
    expect(running.sandbox.ledger.all().filter((entry) => entry.faults.get(fault) === 1)).toHaveLength(onEntry);
  });

  it('answers an error with a page of HTML and the status asked for', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'errorAfterCommit', status: 504 });
    const reply = await running.get('/balance');
    expect(reply.status).toBe(504);
    expect(reply.headers.get('content-type')).toContain('text/html');
    expect(reply.text).toContain('<html>');
  });

  it('holds the connection no longer than it is told to', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'timeoutAfterCommit', holdMs: 20 });
    expect(await pay(running)).toBe('cut off');
  });

  it.each([
    ['html', /<html>/, undefined],
    ['truncated', /^\{"message"/, undefined],
    ['wrongShape', /^\{/, { ok: 'yes', data: [null] }],
    ['empty', /^$/, undefined],
  ] as const)('gives garbage of the form %s with a 200', async (form, text, parsed) => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'garbage', body: form });
    const reply = await running.post('/direct-pay', body);
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(text);
    expect(reply.body).toEqual(parsed);
  });

  it.each([
    [undefined, null],
    [7, '7'],
  ])('throttles with Retry-After %p', async (retryAfter, header) => {
    const running = await startSandbox();
    await running.operator('POST', '/faults', { fault: 'throttle', retryAfter });
    const reply = await running.get('/balance');
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe(header);
    expect((await running.operator('GET', '/ledger')).body).toMatchObject({ totals: { throttled: 1 } });
  });

  it.each(['gatewayThrottleBeforeCommit', 'gatewayThrottleAfterCommit'] as const)(
    'throttles with a page of HTML, as a gateway does: %s',
    async (fault) => {
      const running = await startSandbox();
      await running.operator('POST', '/faults', { fault, retryAfter: 7 });
      const reply = await running.post('/direct-pay', body);
      expect(reply.status).toBe(429);
      expect(reply.headers.get('content-type')).toContain('text/html');
      expect(reply.headers.get('retry-after')).toBe('7');
      expect(reply.body).toBeUndefined();
      expect((await running.operator('GET', '/ledger')).body).toMatchObject({ totals: { throttled: 1 } });
    },
  );

  it('hangs for every endpoint for as long as it is told to, with nothing done', async () => {
    const running = await startSandbox();
    await running.operator('POST', '/faults', { fault: 'timeoutBeforeCommit', forMs: 10 * SECOND });
    const paths = ['/payment-status/T1', '/transaction/order-7', '/search', '/balance'];
    const asked = [pay(running, IMPATIENT_MS), ...paths.map((path) => ask(running, path, IMPATIENT_MS))];
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 5 }, () => 'timed out'));
    await running.advance(10 * SECOND);
    expect(await committed(running)).toBe(0);
  });

  it('leaves questions without an answer, and answers orders', async () => {
    const running = await startSandbox();
    await running.operator('POST', '/faults', { fault: 'questionTimeout', rate: 1 });
    const paths = ['/payment-status/T1', '/transaction/order-7', '/search', '/balance'];
    const asked = Promise.all(paths.map((path) => ask(running, path, IMPATIENT_MS)));
    expect(await pay(running)).toBe(200);
    expect(await openLink(running)).not.toBe('undefined');
    expect(await payOut(running)).not.toBe('undefined');
    expect(await asked).toEqual(paths.map(() => 'timed out'));
    await running.operator('DELETE', '/faults');
    expect(await committed(running)).toBe(1);
  });

  it('leaves the questions of one endpoint without an answer', async () => {
    const running = await startSandbox();
    const endpoint = 'payment-status';
    await running.operator('POST', '/faults', { fault: 'questionTimeout', endpoint, rate: 1 });
    expect(await ask(running, '/payment-status/T1', IMPATIENT_MS)).toBe('timed out');
    expect(await ask(running, '/search')).toBe(200);
  });

  it('does not expire a link whose expiry it leaves without an answer', async () => {
    const running = await startSandbox();
    const transId = await openLink(running);
    running.sandbox.faults.add({ fault: 'questionTimeout', holdMs: 20 });
    await expect(running.post('/expire-pay', { transId })).rejects.toThrow();
    expect(running.sandbox.ledger.find(transId)?.status).toBe('CREATED');
  });

  it('answers rightly when it is only slow', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'slow', delayMs: 40 });
    const started = performance.now();
    expect(await pay(running)).toBe(200);
    expect(performance.now() - started).toBeGreaterThanOrEqual(39);
    expect(await committed(running)).toBe(1);
  });

  it('refuses a payout for want of money, and nothing but payouts', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'lowBalance' });
    expect(await pay(running)).toBe(200);
    const reply = await running.post('/payout', body, 'payout');
    expect(reply).toMatchObject({ status: 400, body: { message: expect.stringContaining('balance') } });
    expect(await payOut(running)).not.toBe('undefined');
  });

  it('revokes credentials for as long as it is told to', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'wrongCredentials', forMs: 10 * SECOND });
    const ask = async () => (await running.get('/balance')).status;
    expect([await ask(), await ask()]).toEqual([401, 401]);
    await running.advance(10 * SECOND);
    expect(await ask()).toBe(200);
  });

  it('takes no look-up from the status budget when it strikes before anything is done', async () => {
    const running = await startSandbox();
    const transId = await openLink(running);
    running.sandbox.faults.add({ fault: 'errorBeforeCommit', count: 3 });
    const statuses = [];
    for (let nth = 0; nth < 10; nth++) statuses.push((await running.get(`/payment-status/${transId}`)).status);
    expect(statuses).toEqual([502, 502, 502, 200, 200, 200, 200, 200, 200, 429]);
  });

  it('does not commit what would be refused, and still strikes', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'errorAfterCommit' });
    expect((await running.post('/initiate-pay', { amount: 1 })).status).toBe(502);
    expect(running.sandbox.ledger.created).toBe(0);
  });
});

describe('a fault that makes an answer untrue', () => {
  it('gives an earlier status once, and the truth again after that', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running);
    running.sandbox.faults.add({ fault: 'statusRegression' });
    const ask = async () => (await running.get(`/payment-status/${transId}`)).body;
    expect(await ask()).toMatchObject({ status: 'PENDING' });
    await running.advance(SECOND);
    const backwards = await ask();
    expect(backwards).toMatchObject({ status: 'PENDING' });
    expect(backwards).not.toHaveProperty('revenue');
    expect(await ask()).toMatchObject({ status: 'SUCCESSFUL', revenue: 980 });
    expect(running.sandbox.ledger.find(transId)?.faults.get('statusRegression')).toBe(1);
  });

  it('has the dates off by so much', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'clockSkew', skewMs: -86_400_000, count: 2 });
    const reply = await running.post('/direct-pay', body);
    expect(reply.body).toMatchObject({ dateInitiated: '2025-03-09' });
    expect((await running.get('/transaction/order-7')).body).toMatchObject([{ dateInitiated: '2025-03-09' }]);
    expect((await running.get('/transaction/order-7')).body).toMatchObject([{ dateInitiated: '2025-03-10' }]);
  });

  it('does not list a new transaction for a while, and knows its status all the same', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'listLag', delayMs: 5 * SECOND });
    const transId = await payDirectly(running, body);
    const listed = async () => [
      transactionsOf(await running.get('/transaction/order-7')).length,
      transactionsOf(await running.get('/search')).length,
    ];
    expect(await listed()).toEqual([0, 0]);
    expect((await running.get(`/payment-status/${transId}`)).status).toBe(200);
    await running.advance(5 * SECOND - 1);
    expect(await listed()).toEqual([0, 0]);
    await running.advance(1);
    expect(await listed()).toEqual([1, 1]);
  });

  it('leaves a transaction that a list has shown out of the next one, and shows it again after that', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, body);
    running.sandbox.faults.add({ fault: 'listFlap' });
    const listed = async (path: string) =>
      transactionsOf(await running.get(path)).map((transaction) => transaction.transId);
    expect(await listed('/transaction/order-7')).toEqual([transId]);
    const other = await payDirectly(running, { ...body, externalId: 'order-8' });
    expect(await listed('/transaction/order-7')).toEqual([other]);
    expect(await listed('/transaction/order-7')).toEqual([other, transId]);
    expect(running.sandbox.ledger.find(transId)?.faults.get('listFlap')).toBe(1);

    running.sandbox.faults.add({ fault: 'listFlap', externalId: 'order-8' });
    expect(await listed('/search')).toEqual([transId]);
    expect(await listed('/search')).toEqual([other, transId]);
  });

  it('gives only the first transactions of a list', async () => {
    const running = await startSandbox();
    const transIds = [];
    for (let nth = 0; nth < 5; nth++) transIds.unshift(await payDirectly(running, body));
    const listed = async (path: string) => transactionsOf(await running.get(path)).map(({ transId }) => transId);
    running.sandbox.faults.add({ fault: 'listPage', size: 3, userId: 'order-7', rate: 1 });
    expect(await listed('/transaction/order-7')).toEqual(transIds.slice(0, 3));
    expect(await listed('/search')).toEqual(transIds);
    running.sandbox.faults.add({ fault: 'listPage', endpoint: 'search' });
    expect(await listed('/search')).toEqual(transIds.slice(0, 1));
    expect(await listed('/search')).toEqual(transIds);
  });

  it('keeps a page for a list that has something to leave out', async () => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault: 'listPage', size: 0 });
    expect((await running.get('/transaction/order-7')).body).toEqual([]);
    expect(running.sandbox.faults.list()).toMatchObject([{ hits: 0 }]);
    await payDirectly(running, body);
    expect((await running.get('/transaction/order-7')).body).toEqual([]);
    expect((await running.get('/transaction/order-7')).body).toHaveLength(1);
  });

  it('leaves fields out of one transaction, in lists and elsewhere', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, body);
    await payDirectly(running, { ...body, externalId: 'order-8' });
    const lacking = ['externalId', 'userId', 'amount', 'transType'];
    const of = (transaction: unknown) => lacking.filter((field) => !(field in Object(transaction)));

    running.sandbox.faults.add({ fault: 'missingFields', externalId: 'order-7' });
    const list = Object((await running.get('/transaction/order-7')).body);
    expect([of(list[0]), of(list[1])]).toEqual([[], lacking]);

    running.sandbox.faults.add({ fault: 'missingFields', fields: ['amount'], endpoint: 'payment-status' });
    expect(Object((await running.get('/search')).body).map(of)).toEqual([[], []]);
    expect(of((await running.get(`/payment-status/${transId}`)).body)).toEqual(['amount']);
    expect(of((await running.get(`/payment-status/${transId}`)).body)).toEqual([]);
    expect(running.sandbox.ledger.find(transId)?.faults.get('missingFields')).toBe(2);
  });

  it('gives one transaction of a list a status that nobody knows, and a status answer, too', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, body);
    await payDirectly(running, { ...body, externalId: 'order-8' });
    running.sandbox.faults.add({
      fault: 'unknownStatus',
      externalId: 'order-7',
      count: 2,
      status: 'ON_HOLD',
    });
    expect((await running.get('/transaction/order-7')).body).toMatchObject([
      { externalId: 'order-8', status: 'PENDING' },
      { transId, status: 'ON_HOLD' },
    ]);
    const ask = async () => (await running.get(`/payment-status/${transId}`)).body;
    expect(await ask()).toMatchObject({ transId, status: 'ON_HOLD' });
    expect(await ask()).toMatchObject({ transId, status: 'PENDING' });
    running.sandbox.faults.add({ fault: 'unknownStatus' });
    expect(await ask()).toMatchObject({ transId, status: 'REVERSED' });
  });

  it('gives the status as it was a while ago, and 404 for a transaction that is younger', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { ...body, phone: phones.succeedsIn5s });
    running.sandbox.faults.add({ fault: 'statusLag', delayMs: 3 * SECOND, rate: 1 });
    const ask = async () => await running.get(`/payment-status/${transId}`);
    expect(await ask()).toMatchObject({ status: 404, body: { message: expect.any(String) } });
    await running.advance(3 * SECOND - 1);
    expect(await ask()).toMatchObject({ status: 404 });
    await running.advance(1);
    expect(await ask()).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    await running.advance(5 * SECOND - 1);
    const late = await ask();
    expect(late.body).toMatchObject({ status: 'PENDING' });
    expect(late.body).not.toHaveProperty('financialTransId');
    expect(running.sandbox.ledger.find(transId)?.status).toBe('SUCCESSFUL');
    expect((await running.get('/transaction/order-7')).body).toMatchObject([{ status: 'SUCCESSFUL' }]);
    await running.advance(1);
    expect(await ask()).toMatchObject({ body: { status: 'SUCCESSFUL', revenue: 980 } });
  });

  it('counts a status question that it answers late in the six a minute', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, body);
    running.sandbox.faults.add({ fault: 'statusLag', rate: 1 });
    const statuses = [];
    for (let nth = 0; nth < 7; nth++) statuses.push((await running.get(`/payment-status/${transId}`)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 429]);
  });
});
