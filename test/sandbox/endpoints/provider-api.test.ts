import { describe, expect, it } from '@jest/globals';
import { openLink, payOut, startSandbox, textOf } from '../../support/running-sandbox.js';

const endpoints = [
  ['POST', '/initiate-pay'],
  ['POST', '/direct-pay'],
  ['GET', '/payment-status/x'],
  ['POST', '/expire-pay'],
  ['GET', '/transaction/x'],
  ['GET', '/search'],
  ['GET', '/balance'],
  ['POST', '/payout'],
] as const;

const wrong = [
  ['no headers', {}, 'apiuser'],
  ['no key', { apiuser: 'collect-user' }, 'apikey'],
  ['no user', { apikey: 'collect-key' }, 'apiuser'],
  ['a wrong key', { apiuser: 'collect-user', apikey: 'wrong' }, 'invalid'],
  ["another service's key", { apiuser: 'collect-user', apikey: 'payout-key' }, 'invalid'],
] as const;

describe('credentials', () => {
  it.each(endpoints)('are needed for %s %s, before anything else is looked at', async (method, path) => {
    const { send } = await startSandbox();
    const body = method === 'POST' ? { body: '{' } : {};
    const reply = await send(path, { method, headers: { 'content-type': 'application/json' }, ...body });
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual({ message: expect.stringContaining('apiuser') });
  });

  it.each(wrong)('are refused with 401 for %s', async (_what, headers, named) => {
    const { send } = await startSandbox();
    const reply = await send('/balance', { headers });
    expect(reply.status).toBe(401);
    expect(textOf(reply, 'message')).toContain(named);
  });
});

describe('the two services', () => {
  it.each(['/initiate-pay', '/direct-pay'])('keep %s from the payout service with 403', async (path) => {
    const { post } = await startSandbox();
    const reply = await post(path, { amount: 1000, phone: '677000000' }, 'payout');
    expect(reply.status).toBe(403);
    expect(textOf(reply, 'message')).toContain('cannot collect');
  });

  it('keep /payout from the collection service with 403', async () => {
    const { post } = await startSandbox();
    const reply = await post('/payout', { amount: 1000, phone: '677000000' });
    expect(reply.status).toBe(403);
    expect(textOf(reply, 'message')).toContain('not enabled for payouts');
  });

  it('see only their own transactions', async () => {
    const running = await startSandbox();
    const link = await openLink(running, { userId: 'ann' });
    const payout = await payOut(running, { userId: 'ann' });
    expect((await running.get(`/payment-status/${payout}`)).status).toBe(404);
    expect((await running.get(`/payment-status/${link}`, 'payout')).status).toBe(404);
    expect((await running.post('/expire-pay', { transId: link }, 'payout')).status).toBe(404);
    expect((await running.get('/transaction/ann')).body).toMatchObject([{ transId: link }]);
    expect((await running.get('/search', 'payout')).body).toMatchObject([{ transId: payout }]);
  });
});
