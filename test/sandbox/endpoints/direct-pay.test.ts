import { describe, expect, it } from '@jest/globals';
import { initiationSchema } from '../../../src/provider/schemas.js';
import {
  DAY,
  payDirectly,
  phones,
  SECOND,
  START,
  startSandbox,
  statusOf,
  textOf,
  transactionOf,
} from '../running-sandbox.js';
import { wrongFields } from './wrong-fields.js';

describe('POST /direct-pay', () => {
  it('asks for a payment: message, transId and the date, no link', async () => {
    const { post } = await startSandbox();
    const reply = await post('/direct-pay', { amount: 100, phone: phones.succeeds });
    expect(reply.status).toBe(200);
    expect(initiationSchema.parse(reply.body).dateInitiated).toBe('2025-03-10');
    expect(reply.body).not.toHaveProperty('link');
  });

  it('is PENDING, then what the number says, with all that comes with success', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { amount: 1010, name: 'Ann', phone: phones.succeedsIn5s });
    expect(await statusOf(running, transId)).toBe('PENDING');
    await running.advance(5 * SECOND);
    expect(transactionOf(await running.get(`/payment-status/${transId}`))).toMatchObject({
      status: 'SUCCESSFUL',
      medium: 'mobile money',
      payerName: 'Ann',
      amount: 1010,
      revenue: 989,
      financialTransId: expect.stringMatching(/^\d{10}$/),
      dateConfirmed: '2025-03-10',
    });
  });

  it('gives a reason when it fails, and no revenue', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { phone: phones.fails });
    await running.advance(SECOND);
    const transaction = transactionOf(await running.get(`/payment-status/${transId}`));
    expect(transaction).toMatchObject({ status: 'FAILED', reason: expect.any(String) });
    expect(transaction.revenue ?? transaction.financialTransId ?? transaction.dateConfirmed).toBeUndefined();
  });

  it('confirms on the day on which the money came', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { phone: '677000601' });
    await running.advance(DAY);
    const transaction = transactionOf(await running.get(`/payment-status/${transId}`));
    expect(transaction).toMatchObject({ dateInitiated: '2025-03-10', dateConfirmed: '2025-03-11' });
  });

  it('never expires', async () => {
    const running = await startSandbox();
    const transId = await payDirectly(running, { phone: phones.stays });
    running.clock.advanceTo(START + 30 * DAY);
    expect(await statusOf(running, transId)).toBe('PENDING');
  });

  it('detects the medium from the number, and lets one that was given win', async () => {
    const running = await startSandbox();
    const mediumOf = async (body: object) =>
      transactionOf(await running.get(`/payment-status/${await payDirectly(running, body)}`)).medium;
    expect(await mediumOf({ phone: phones.orange })).toBe('orange money');
    expect(await mediumOf({ phone: phones.orange, medium: 'mobile money' })).toBe('mobile money');
  });

  it.each([
    ...wrongFields,
    ['phone', undefined],
    ['phone', ''],
    ['phone', 677000000],
    ['phone', '67700'],
    ['phone', '677 00 00 00'],
    ['phone', '620000000'],
    ['medium', 'platform'],
    ['medium', 'cash'],
    ['name', 7],
  ] as const)('refuses %s %p with 400, naming the field', async (field, value) => {
    const { post, sandbox } = await startSandbox();
    const reply = await post('/direct-pay', { amount: 1000, phone: phones.succeeds, [field]: value });
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain(field);
    expect(sandbox.ledger.created).toBe(0);
  });
});
