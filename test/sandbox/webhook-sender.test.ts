import { describe, expect, it } from '@jest/globals';
import type { SandboxOptions } from '../../sandbox/sandbox.js';
import { transactionSchema } from '../../src/provider/schemas.js';
import {
  DAY,
  openLink,
  payDirectly,
  payLink,
  payOut,
  phones,
  SECOND,
  services,
  startSandbox,
  transactionOf,
} from '../support/running-sandbox.js';
import { startMerchantHook } from './merchant-hook.js';

async function withHook(answers: number[] = [200], options: Partial<SandboxOptions> = {}) {
  const hook = await startMerchantHook(...answers);
  const running = await startSandbox({
    services: {
      collection: { ...services.collection, webhookUrl: hook.url },
      payout: { ...services.payout, webhookUrl: hook.url },
    },
    webhookDelayMs: 200,
    ...options,
  });
  return { hook, running };
}

describe('a notification', () => {
  it('carries the Transaction, with the address in it, as a POST of JSON without credentials', async () => {
    const { hook, running } = await withHook();
    const transId = await payDirectly(running, { externalId: 'order-7' });
    await running.advance(2 * SECOND);
    const [received] = hook.received;
    expect(received).toMatchObject({ method: 'POST', path: '/hooks/secret-token' });
    expect(received?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(Object.keys(received?.headers ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(apiuser|apikey|authorization|cookie)$/)]),
    );
    const notified = transactionSchema.parse(JSON.parse(received?.text ?? ''));
    expect(notified).toMatchObject({ transId, status: 'SUCCESSFUL', webhook: hook.url });
    expect(notified).toEqual(transactionOf(await running.get(`/payment-status/${transId}`)));
  });

  it('is sent for SUCCESSFUL, FAILED and EXPIRED, and for nothing else', async () => {
    const { hook, running } = await withHook();
    const transId = await openLink(running);
    payLink(running, transId, phones.fails);
    await running.advance(SECOND);
    payLink(running, transId, phones.fails);
    await running.advance(DAY);
    expect(hook.statuses()).toEqual(['FAILED', 'FAILED', 'EXPIRED']);
  });

  it('follows from expire-pay', async () => {
    const { hook, running } = await withHook();
    await running.post('/expire-pay', { transId: await openLink(running) });
    await running.advance(SECOND);
    expect(hook.statuses()).toEqual(['EXPIRED']);
  });

  it('follows from the outcome of a payout', async () => {
    const { hook, running } = await withHook();
    await payOut(running, { phone: phones.fails });
    await running.advance(2 * SECOND);
    expect(hook.statuses()).toEqual(['FAILED']);
  });

  it('is not sent by a service without an address', async () => {
    const running = await startSandbox();
    await payDirectly(running);
    await running.advance(SECOND);
    expect(running.clock.nextDue()).toBeUndefined();
  });

  it('comes after its delay', async () => {
    const { hook, running } = await withHook();
    payLink(running, await openLink(running));
    await running.advance(199);
    expect(hook.received).toHaveLength(0);
    await running.advance(1);
    expect(hook.received).toHaveLength(1);
  });

  it('tells the status as it was when it changed', async () => {
    const { hook, running } = await withHook();
    const transId = await openLink(running);
    payLink(running, transId, phones.fails);
    payLink(running, transId);
    await running.advance(SECOND);
    expect(hook.statuses()).toEqual(['FAILED', 'SUCCESSFUL']);
  });

  it('is sent once when it is answered with 200', async () => {
    const { hook, running } = await withHook();
    const transId = await payDirectly(running);
    await running.advance(DAY);
    expect(hook.received).toHaveLength(1);
    expect(running.sandbox.ledger.find(transId)?.notifications).toMatchObject([
      { status: 'SUCCESSFUL', acknowledged: true, tries: [{ answer: 200 }] },
    ]);
  });

  it.each([201, 204, 302, 404, 500])('is not acknowledged by %i, and then tried three times in all', async (answer) => {
    const { hook, running } = await withHook([answer]);
    const transId = await payDirectly(running);
    await running.advance(DAY);
    expect(hook.received.map(({ path }) => path)).toEqual(Array(3).fill('/hooks/secret-token'));
    const [notification] = running.sandbox.ledger.find(transId)?.notifications ?? [];
    expect(notification).toMatchObject({ acknowledged: false, tries: Array(3).fill({ answer }) });
    const times = notification?.tries.map(({ at }) => at - notification.at);
    expect(times).toEqual([0, SECOND, 6 * SECOND]);
  });

  it('is tried again until it is acknowledged', async () => {
    const { hook, running } = await withHook([503, 200]);
    const transId = await payDirectly(running);
    await running.advance(DAY);
    expect(hook.received).toHaveLength(2);
    expect(running.sandbox.ledger.find(transId)?.notifications[0]?.acknowledged).toBe(true);
  });

  it('is tried once when that is what is set', async () => {
    const { hook, running } = await withHook([503], { webhookTries: 1 });
    await payDirectly(running);
    await running.advance(DAY);
    expect(hook.received).toHaveLength(1);
  });

  it('is written down with what went wrong when nobody answers', async () => {
    const nobody = { ...services.collection, webhookUrl: 'http://127.0.0.1:1/' };
    const running = await startSandbox({ services: { ...services, collection: nobody } });
    const transId = await payDirectly(running);
    await running.advance(DAY);
    expect(running.sandbox.ledger.find(transId)?.notifications[0]?.tries[0]?.answer).toBe('ECONNREFUSED');
  });
});
