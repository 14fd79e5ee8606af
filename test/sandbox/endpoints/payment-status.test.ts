import { describe, expect, it } from '@jest/globals';
import { scaledClock } from '../../../sandbox/clock.js';
import { MINUTE, openLink, SECOND, startSandbox, textOf } from '../running-sandbox.js';

const statusesOf = async (times: number, ask: () => Promise<{ status: number }>) => {
  const statuses = [];
  for (let nth = 0; nth < times; nth++) statuses.push((await ask()).status);
  return statuses;
};
const six = Array(6).fill(200);

describe('GET /payment-status/{transId}', () => {
  it('answers 404 with a message for a transaction that does not exist', async () => {
    const { get } = await startSandbox();
    const reply = await get('/payment-status/none');
    expect(reply.status).toBe(404);
    expect(textOf(reply, 'message')).toContain('transId');
  });

  it('answers six requests a minute for a transaction, then 429 with Retry-After', async () => {
    const running = await startSandbox();
    const path = `/payment-status/${await openLink(running)}`;
    expect(await statusesOf(6, () => running.get(path))).toEqual(six);
    await running.advance(20 * SECOND);
    const reply = await running.get(path);
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe('40');
    expect(reply.body).toEqual({ message: expect.any(String) });
  });

  it('counts each transaction on its own', async () => {
    const running = await startSandbox();
    const [one, other] = [await openLink(running), await openLink(running)];
    await statusesOf(7, () => running.get(`/payment-status/${one}`));
    expect((await running.get(`/payment-status/${other}`)).status).toBe(200);
  });

  it('slides its window: each answer makes room 60 seconds later, and a 429 takes none', async () => {
    const running = await startSandbox();
    const ask = async () => running.get(path);
    const path = `/payment-status/${await openLink(running)}`;
    expect(await statusesOf(3, ask)).toEqual([200, 200, 200]);
    await running.advance(30 * SECOND);
    expect(await statusesOf(6, ask)).toEqual([200, 200, 200, 429, 429, 429]);
    await running.advance(30 * SECOND - 1);
    expect(await statusesOf(1, ask)).toEqual([429]);
    await running.advance(1);
    expect(await statusesOf(4, ask)).toEqual([200, 200, 200, 429]);
    await running.advance(MINUTE);
    expect(await statusesOf(7, ask)).toEqual([...six, 429]);
  });

  it('says in real seconds when to come back, however fast its clock is', async () => {
    const running = await startSandbox({ clock: scaledClock({ scale: 0.01 }) });
    const path = `/payment-status/${await openLink(running)}`;
    await statusesOf(6, () => running.get(path));
    const seconds = Number((await running.get(path)).headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(5000);
    expect(seconds).toBeLessThanOrEqual(6000);
  });
});
