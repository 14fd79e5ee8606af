import { describe, expect, it } from '@jest/globals';
import { linkInitiationSchema } from '../../../src/provider/schemas.js';
import {
  DAY,
  openLink,
  START,
  startSandbox,
  statusOf,
  textOf,
  transactionOf,
  transIdOf,
} from '../running-sandbox.js';
import { wrongFields } from './wrong-fields.js';

describe('POST /initiate-pay', () => {
  it('creates a link: message, link, transId and the date', async () => {
    const { post } = await startSandbox();
    const reply = await post('/initiate-pay', { amount: 100 });
    expect(reply.status).toBe(200);
    expect(linkInitiationSchema.parse(reply.body)).toMatchObject({
      message: 'Payment link created',
      dateInitiated: '2025-03-10',
    });
    expect(textOf(reply, 'link')).not.toContain(transIdOf(reply));
  });

  it('gives back every field in the transaction', async () => {
    const running = await startSandbox();
    const given = {
      email: 'ann@example.com',
      redirectUrl: 'https://shop.example.com/thanks?order=7',
      userId: 'Ann_1-x',
      externalId: 'x'.repeat(100),
    };
    const transId = await openLink(running, { amount: 2500, ...given, message: 'Order 7' });
    expect(transactionOf(await running.get(`/payment-status/${transId}`))).toEqual({
      transId,
      status: 'CREATED',
      serviceName: 'Shop collections',
      transType: 'Collection',
      amount: 2500,
      dateInitiated: '2025-03-10',
      ...given,
    });
  });

  it.each([...wrongFields, ['redirectUrl', 'nowhere'], ['redirectUrl', 'javascript:alert(1)']] as const)(
    'refuses %s %p with 400, naming the field',
    async (field, value) => {
      const { post, sandbox } = await startSandbox();
      const reply = await post('/initiate-pay', { amount: 1000, [field]: value });
      expect(reply.status).toBe(400);
      expect(textOf(reply, 'message')).toContain(field);
      expect(sandbox.ledger.created).toBe(0);
    },
  );

  it('makes a link that expires 24 hours after its creation', async () => {
    const running = await startSandbox();
    const transId = await openLink(running);
    running.clock.advanceTo(START + DAY - 1);
    expect(await statusOf(running, transId)).toBe('CREATED');
    running.clock.advanceTo(START + DAY);
    expect(await statusOf(running, transId)).toBe('EXPIRED');
  });

  it('has no idempotency: the same body twice makes two links', async () => {
    const running = await startSandbox();
    const body = { externalId: 'order-7' };
    expect(await openLink(running, body)).not.toBe(await openLink(running, body));
  });
});
