import { describe, expect, it } from '@jest/globals';
import {
  DAY,
  openLink,
  payDirectly,
  payLink,
  payOut,
  phones,
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
