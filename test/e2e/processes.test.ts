import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import type { StackPart } from '../../stack/processes/stack.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/** Succeeds after five seconds. */
const SLOW = '677000205';

describe('the processes of a stack', () => {
  let running: RunningStack;

  beforeAll(async () => {
    running = await bringUp();
  });

  afterAll(async () => {
    await running?.stop();
  });

  const payDirectly = (key: string, phone: string) =>
    running.merchant.create('/v1/collections', { method: 'direct', amount: 900, phone }, key);

  async function end(part: StackPart, signal: 'SIGTERM' | 'SIGKILL') {
    const { pid, ended } = running.stack.part(part);
    process.kill(pid, signal);
    return await ended;
  }

  /** Waits until the provider shows a payment with this status. */
  async function atProvider(id: string, status: string): Promise<void> {
    await eventually(
      () => running.transactionsOf(id),
      ([entry]) => entry?.transaction.status === status,
    );
  }

  it.each(['worker', 'api', 'sandbox'] as const)('%s ends with code 0 after a SIGTERM', async (part) => {
    expect(await end(part, 'SIGTERM')).toBe('code 0');
    await running.stack.restart(part);
  });

  it('a worker that is told to stop while a payment is open leaves it to the next one', async () => {
    const { id } = await payDirectly('handed over', SLOW);
    expect(await end('worker', 'SIGTERM')).toBe('code 0');
    await running.stack.restart('worker');
    const payment = await running.merchant.waitUntil(id, ({ final }) => final, { limitMs: 40_000 });
    expect(payment.status).toBe('SUCCESSFUL');
  });

  it('a worker that is killed loses nothing: the next one carries on', async () => {
    const { id, final } = await payDirectly('carried on', SLOW);
    expect(final).toBe(false);
    expect(await end('worker', 'SIGKILL')).toBe('SIGKILL');
    // The outcome comes while there is nobody to take it up.
    await atProvider(id, 'SUCCESSFUL');
    await running.stack.restart('worker');
    const payment = await running.merchant.waitUntil(id, ({ final }) => final, { limitMs: 40_000 });
    expect(payment.status).toBe('SUCCESSFUL');
    expect(await running.transactionsOf(id)).toHaveLength(1);
  });

  it('without a worker, for however long, what was ordered can be withdrawn', async () => {
    expect(await end('worker', 'SIGTERM')).toBe('code 0');
    const database = new pg.Client(running.stack.bookUrl);
    await database.connect();
    await database.query("UPDATE beats SET at = now() - interval '1 hour'");
    await database.end();
    const headers = { 'idempotency-key': 'withdrawn' };
    const ordered = await running.call('POST', '/v1/payouts', { amount: 900, phone: '677000000' }, headers);
    expect(ordered.status).toBe(202);
    const { id } = z.looseObject({ id: z.string() }).parse(await ordered.json());
    await eventually(
      async () => (await running.call('POST', `/v1/payouts/${id}/cancel`)).status,
      (status) => status === 200,
    );
    const payment = await (await running.call('GET', `/v1/payments/${id}`)).json();
    expect(payment).toMatchObject({ status: 'FAILED', failureCode: 'withdrawn', final: true });
    await running.stack.restart('worker');
    expect(await running.transactionsOf(id)).toEqual([]);
  });

  it('an API that is killed has lost nothing when it is back', async () => {
    const { id } = await payDirectly('known still', '677000000');
    await end('api', 'SIGKILL');
    await running.stack.restart('api');
    expect(await running.merchant.get(id)).toMatchObject({ id });
    expect(await payDirectly('known still', '677000000')).toMatchObject({ id });
    expect(await running.transactionsOf(id)).toHaveLength(1);
  });

  it('without Temporal, the API takes no order, says when to try again, and reads payments all the same', async () => {
    const { id } = await payDirectly('known still', '677000000');
    await running.stack.temporal.stop();
    const answers = await Promise.all([
      running.call('POST', '/v1/collections', { method: 'link', amount: 500 }),
      running.call('GET', '/readyz'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    for (const { headers } of answers) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    for (const path of ['/healthz', `/v1/payments/${id}`]) expect((await running.call('GET', path)).status).toBe(200);
  });
});
