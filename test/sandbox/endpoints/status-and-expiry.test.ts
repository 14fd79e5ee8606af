import { describe, expect, it } from '@jest/globals';
import { scaledClock } from '../../../sandbox/clock.js';
import {
  DAY,
  MINUTE,
  openLink,
  payDirectly,
  payLink,
  payOut,
  phones,
  SECOND,
  startSandbox,
  statusOf,
  textOf,
  transactionOf,
} from '../running-sandbox.js';

describe('POST /expire-pay', () => {
  it.each([
    ['CREATED', undefined],
    ['PENDING', phones.stays],
    ['FAILED', phones.fails],
  ])('expires a %s link and answers with the transaction', async (status, phone) => {
    const running = await startSandbox();
    const transId = await openLink(running);
    if (phone !== undefined) payLink(running, transId, phone);
    expect(await statusOf(running, transId)).toBe(status);
    const reply = await running.post('/expire-pay', { transId });
    expect(reply.status).toBe(200);
    expect(transactionOf(reply)).toMatchObject({ transId, status: 'EXPIRED' });
    expect(payLink(running, transId)).toBe('tooLate');
  });

  it('answers 400 "Link already expired" the second time', async () => {
    const { post, ...running } = await startSandbox();
    const transId = await openLink({ post, ...running });
    await post('/expire-pay', { transId });
    const reply = await post('/expire-pay', { transId });
    expect(reply).toMatchObject({ status: 400, body: { message: 'Link already expired' } });
  });

  it('answers the same for a link whose 24 hours are over', async () => {
    const running = await startSandbox();
    const transId = await openLink(running);
    await running.advance(DAY);
    const reply = await running.post('/expire-pay', { transId });
    expect(reply).toMatchObject({ status: 400, body: { message: 'Link already expired' } });
  });

  it('answers 400 with other words for a link that is paid, and leaves it paid', async () => {
    const running = await startSandbox();
    const transId = await openLink(running);
    payLink(running, transId);
    const reply = await running.post('/expire-pay', { transId });
    expect(reply).toMatchObject({ status: 400, body: { message: 'Link already paid' } });
    expect(await statusOf(running, transId)).toBe('SUCCESSFUL');
  });

  it('expires nothing but links', async () => {
    const running = await startSandbox();
    const direct = await payDirectly(running, { phone: phones.stays });
    const payout = await payOut(running, { phone: phones.stays });
    const replies = [
      await running.post('/expire-pay', { transId: direct }),
      await running.post('/expire-pay', { transId: payout }, 'payout'),
    ];
    for (const reply of replies) {
      expect(reply.status).toBe(400);
      expect(textOf(reply, 'message')).toContain('Only a payment link');
    }
    expect(await statusOf(running, direct)).toBe('PENDING');
  });

  it.each([[{}], [{ transId: '' }], [{ transId: 7 }]])(
    'refuses %j with 400, naming transId',
    async (body) => {
      const { post } = await startSandbox();
      const reply = await post('/expire-pay', body);
      expect(reply.status).toBe(400);
      expect(textOf(reply, 'message')).toContain('transId');
    },
  );

  it('answers 404 for a transaction that does not exist', async () => {
    const { post } = await startSandbox();
    expect((await post('/expire-pay', { transId: 'none' })).status).toBe(404);
  });
});

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
