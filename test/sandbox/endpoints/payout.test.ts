import { describe, expect, it } from '@jest/globals';
import { TEST_ADDRESSES } from '../../../sandbox/test-outcome.js';
import { initiationSchema } from '../../../src/provider/schemas.js';
import { payOut, phones, SECOND, startSandbox, statusOf, textOf, transactionOf } from '../running-sandbox.js';
import { wrongFields } from './wrong-fields.js';

const platform = (email: string) => ({ medium: 'platform', email, phone: undefined });

describe('POST /payout', () => {
  it('sends money to a phone: PENDING, then what the number says', async () => {
    const running = await startSandbox();
    const reply = await running.post('/payout', { amount: 100, phone: phones.orange }, 'payout');
    expect(reply.status).toBe(200);
    const { transId } = initiationSchema.parse(reply.body);
    expect(await statusOf(running, transId, 'payout')).toBe('PENDING');
    await running.advance(SECOND);
    expect(transactionOf(await running.get(`/payment-status/${transId}`, 'payout'))).toMatchObject({
      status: 'SUCCESSFUL',
      transType: 'Payout',
      medium: 'orange money',
      serviceName: 'Shop payouts',
    });
  });

  it.each(Object.entries(TEST_ADDRESSES))('to the platform account %s ends %s', async (email, status) => {
    const running = await startSandbox();
    const transId = await payOut(running, platform(email));
    await running.advance(SECOND);
    const transaction = transactionOf(await running.get(`/payment-status/${transId}`, 'payout'));
    expect(transaction).toMatchObject({ status, medium: 'platform', email });
    expect(transaction.reason === undefined).toBe(status === 'SUCCESSFUL');
  });

  it('to any other platform account ends by chance, the same for the same seed', async () => {
    const run = async () => {
      const running = await startSandbox({ seed: 5 });
      const statuses = [];
      for (let nth = 0; nth < 12; nth++) {
        const transId = await payOut(running, {
          ...platform('someone@example.com'),
          externalId: `order-${nth}`,
        });
        await running.advance(SECOND);
        statuses.push(await statusOf(running, transId, 'payout'));
      }
      return statuses;
    };
    const statuses = await run();
    expect(new Set(statuses)).toEqual(new Set(['SUCCESSFUL', 'FAILED']));
    expect(await run()).toEqual(statuses);
  });

  it.each([
    ['phone', {}],
    ['phone', { email: 'ann@example.com' }],
    ['phone', { medium: 'mobile money' }],
    ['phone', { medium: 'orange money', email: 'ann@example.com' }],
    ['email', { medium: 'platform' }],
    ['email', { medium: 'platform', phone: phones.succeeds }],
    ['email', { medium: 'platform', email: 'nobody' }],
    ['medium', { medium: 'cash', phone: phones.succeeds }],
    ['phone', { phone: '620000000' }],
    ['amount', { phone: phones.succeeds, amount: undefined }],
    ['amount', { medium: 'platform', email: 'ann@example.com', amount: 50 }],
  ])('refuses a request that is wrong in %s: %j', async (field, body) => {
    const { post, sandbox } = await startSandbox();
    const reply = await post('/payout', { amount: 1000, ...body }, 'payout');
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain(field);
    expect(sandbox.ledger.created).toBe(0);
  });

  it.each(wrongFields)('refuses %s %p with 400, naming the field', async (field, value) => {
    const { post } = await startSandbox();
    const reply = await post('/payout', { amount: 1000, phone: phones.succeeds, [field]: value }, 'payout');
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain(field);
  });
});
