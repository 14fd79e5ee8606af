import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StackPart } from '../../stack/processes/stack.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/** Succeeds after five seconds. */
const SLOW = '677000205';

describe('the processes of a stack', () => {
  let running: RunningStack;

  beforeAll(async () => {
    running = await bringUp();
  }, 120_000);

  afterAll(async () => {
    await running?.stop();
  }, 30_000);

  const payDirectly = (key: string, phone: string) =>
    running.merchant.create('/v1/collections', { method: 'direct', amount: 900, phone }, key);

  async function end(part: StackPart, signal: 'SIGTERM' | 'SIGKILL') {
    const { pid, ended } = running.stack.part(part);
    const begun = performance.now();
    process.kill(pid, signal);
    const how = await ended;
    return { how, ms: performance.now() - begun };
  }

  /** What the provider says of a payment, once it says so. */
  async function atProvider(id: string, status: string): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      const [entry] = await running.transactionsOf(id);
      if (entry?.transaction.status === status) return;
      await pause(100);
    }
    throw new Error(`${id} did not become ${status} at the provider`);
  }

  it.each(['worker', 'api', 'sandbox'] as const)(
    '%s ends with code 0 within 10 s of a SIGTERM',
    async (part) => {
      const { how, ms } = await end(part, 'SIGTERM');
      expect(how).toBe('code 0');
      expect(ms).toBeLessThan(10_000);
      await running.stack.restart(part);
    },
    60_000,
  );

  it('a worker that is told to stop while a payment is open leaves it to the next one', async () => {
    const { id } = await payDirectly('handed over', SLOW);
    expect((await end('worker', 'SIGTERM')).how).toBe('code 0');
    await running.stack.restart('worker');
    const payment = await running.merchant.waitUntil(id, ({ final }) => final, { limitMs: 20_000 });
    expect(payment.status).toBe('SUCCESSFUL');
  }, 60_000);

  it('a worker that is killed loses nothing: the next one carries on', async () => {
    const { id, final } = await payDirectly('carried on', SLOW);
    expect(final).toBe(false);
    expect((await end('worker', 'SIGKILL')).how).toBe('SIGKILL');
    // The outcome comes while there is nobody to take it up.
    await atProvider(id, 'SUCCESSFUL');
    await running.stack.restart('worker');
    const payment = await running.merchant.waitUntil(id, ({ final }) => final, { limitMs: 30_000 });
    expect(payment.status).toBe('SUCCESSFUL');
    expect(await running.transactionsOf(id)).toHaveLength(1);
  }, 90_000);

  it('an API that is killed has lost nothing when it is back', async () => {
    const { id } = await payDirectly('known still', '677000000');
    await end('api', 'SIGKILL');
    await running.stack.restart('api');
    expect(await running.merchant.get(id)).toMatchObject({ id });
    expect(await payDirectly('known still', '677000000')).toMatchObject({ id });
    expect(await running.transactionsOf(id)).toHaveLength(1);
  }, 60_000);

  it('without Temporal, the API answers 503 with Retry-After at once', async () => {
    await running.stack.temporal.stop();
    const begun = performance.now();
    const answers = await Promise.all([
      running.call('POST', '/v1/collections', { method: 'link', amount: 500 }),
      running.call('GET', '/v1/payments/col_00000000000000000000000000000000'),
      running.call('GET', '/readyz'),
    ]);
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    for (const { headers } of answers) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await running.call('GET', '/healthz')).status).toBe(200);
  }, 30_000);
});
