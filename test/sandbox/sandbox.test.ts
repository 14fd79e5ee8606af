import { describe, expect, it } from '@jest/globals';
import { credentials, openLink, startSandbox, textOf } from '../support/running-sandbox.js';

const headers = { ...credentials('collection'), 'content-type': 'application/json' };

describe('the sandbox', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/payment-status'],
    ['GET', '/initiate-pay'],
    ['POST', '/nothing'],
    ['DELETE', '/search'],
    ['GET', '/_sandbox/nothing'],
  ])('answers 404 with a message to %s %s', async (method, path) => {
    const { send } = await startSandbox();
    const reply = await send(path, { method });
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ message: expect.any(String) });
  });

  it.each([
    ['JSON that breaks off', '{"amount":', 400],
    ['a list', '[]', 400],
    ['null', 'null', 400],
    ['a text', '"amount"', 400],
    ['nothing', '', 400],
    ['too much', `{"message":"${'x'.repeat(200_000)}"}`, 413],
  ])('refuses a body of %s', async (_what, body, status) => {
    const { send } = await startSandbox();
    const reply = await send('/initiate-pay', { method: 'POST', headers, body });
    expect(reply.status).toBe(status);
    expect(reply.body).toEqual({ message: expect.any(String) });
  });

  it('takes a body only as application/json', async () => {
    const { send } = await startSandbox();
    const reply = await send('/initiate-pay', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/plain' },
      body: '{"amount":1000}',
    });
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain('Content-Type');
  });

  it('answers 400 to a path that cannot be decoded', async () => {
    const { get } = await startSandbox();
    const reply = await get('/payment-status/%ZZ');
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ message: expect.any(String) });
  });

  it('answers 503 when it is full of live transactions', async () => {
    const running = await startSandbox({ capacity: 1 });
    await openLink(running);
    const reply = await running.post('/initiate-pay', { amount: 1000 });
    expect(reply.status).toBe(503);
    expect(reply.body).toEqual({ message: expect.any(String) });
  });

  it('links to the public address when it has one, and else to its own', async () => {
    const there = await startSandbox({ publicUrl: 'https://pay.example.com/shop' });
    const here = await startSandbox();
    const linkOf = async (running: typeof here) => textOf(await running.post('/initiate-pay', { amount: 100 }), 'link');
    expect(await linkOf(there)).toMatch(/^https:\/\/pay\.example\.com\/shop\/pay\/[A-Za-z0-9]{32}$/);
    const link = await linkOf(here);
    expect(link.startsWith(`${here.url}/pay/`)).toBe(true);
    expect((await here.send(link.slice(here.url.length))).status).toBe(200);
  });

  it('never gives an id twice, though it is seeded', async () => {
    const ids = [];
    for (let run = 0; run < 2; run++) ids.push(await openLink(await startSandbox({ seed: 1 })));
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('logs what happens without naming anybody', async () => {
    const lines: string[] = [];
    const running = await startSandbox({
      log: (event, details) => lines.push(JSON.stringify({ event, ...details })),
    });
    await running.post('/direct-pay', {
      amount: 1000,
      phone: '677000000',
      name: 'Ann Payer',
      email: 'ann@example.com',
    });
    await running.get('/transaction/ann-payer');
    await running.advance(2000);
    expect(lines).toHaveLength(3);
    expect(lines.join()).not.toMatch(/677000000|ann/i);
  });

  it('closes at once, with a request held and a timer waiting', async () => {
    const { sandbox, clock, get, url } = await startSandbox();
    sandbox.faults.add({ fault: 'timeoutBeforeCommit' });
    const held = get('/balance').catch(() => 'cut off');
    while (sandbox.faults.totals.size === 0) await new Promise(setImmediate);
    await sandbox.close();
    expect(await held).toBe('cut off');
    expect(clock.nextDue()).toBeUndefined();
    await expect(fetch(url)).rejects.toThrow();
  });
});
