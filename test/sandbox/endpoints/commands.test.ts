import { describe, expect, it } from '@jest/globals';
import { TEST_ADDRESSES } from '../../../sandbox/test-outcome.js';
import { initiationSchema, linkInitiationSchema } from '../../../src/provider/schemas.js';
import {
  DAY,
  openLink,
  payDirectly,
  payLink,
  payOut,
  phones,
  SECOND,
  START,
  startSandbox,
  statusOf,
  textOf,
  transactionOf,
  transIdOf,
} from '../../support/running-sandbox.js';
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

  it.each([[{}], [{ transId: '' }], [{ transId: 7 }]])('refuses %j with 400, naming transId', async (body) => {
    const { post } = await startSandbox();
    const reply = await post('/expire-pay', body);
    expect(reply.status).toBe(400);
    expect(textOf(reply, 'message')).toContain('transId');
  });

  it('answers 404 for a transaction that does not exist', async () => {
    const { post } = await startSandbox();
    expect((await post('/expire-pay', { transId: 'none' })).status).toBe(404);
  });
});
