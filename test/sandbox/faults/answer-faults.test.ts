import { describe, expect, it } from '@jest/globals';
import type { FaultRequest } from '../../../src/sandbox/faults/fault-rule.js';
import {
  credentials,
  openLink,
  payDirectly,
  payOut,
  phones,
  type Running,
  SECOND,
  startSandbox,
  transactionsOf,
} from '../running-sandbox.js';

type Fault = FaultRequest['fault'];
const body = { amount: 1000, phone: phones.succeeds, externalId: 'order-7', userId: 'order-7' };

/** Sends a direct payment and says how it ended for the client, who waits 700 ms. */
async function pay(running: Running): Promise<number | string> {
  try {
    const reply = await running.send('/direct-pay', {
      method: 'POST',
      headers: { ...credentials('collection'), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(700),
    });
    return reply.status;
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'timed out' : 'cut off';
  }
}

const committed = async (running: Running) =>
  transactionsOf(await running.get('/transaction/order-7')).length;

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
    ['wrongCredentials', 401, 0],
  ])('%s ends a request as %p and commits %i', async (fault, ending, transactions) => {
    const running = await startSandbox();
    await running.operator('POST', '/faults', { fault });
    expect(await pay(running)).toBe(ending);
    expect(await committed(running)).toBe(transactions);
    expect(await pay(running)).toBe(200);
  });

  it.each<[Fault, number]>([
    ['errorBeforeCommit', 0],
    ['errorAfterCommit', 1],
  ])('is written down: %s, with the transaction when there is one', async (fault, onEntry) => {
    const running = await startSandbox();
    running.sandbox.faults.add({ fault });
    await pay(running);
    const { body: ledger } = await running.operator('GET', '/ledger');
    expect(ledger).toMatchObject({ totals: { faults: { [fault]: 1 } } });
    expect(running.sandbox.ledger.all().filter((entry) => entry.faults.get(fault) === 1)).toHaveLength(
      onEntry,
    );
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
    for (let nth = 0; nth < 10; nth++)
      statuses.push((await running.get(`/payment-status/${transId}`)).status);
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
});
