import { describe, expect, it } from '@jest/globals';
import { ProviderRecords, type RecordsReader } from '../../../src/api/payments/provider-records.js';
import type { PaymentId } from '../../../src/payments/payment-id.js';
import { KEYS } from '../../support/api-under-test.js';
import { link, useStack } from '../../support/payment-stack.js';

const stack = useStack();

const read = (id: string, key: string = KEYS.operator) =>
  stack.api.ask('GET', `/v1/payments/${id}/provider`, { key });
const at = expect.stringMatching(/^\d{4}-.*Z$/);

describe('what the provider shows of a payment', () => {
  it('is its list, and the status of its transaction, with the time of each answer', async () => {
    const { id, transId } = await stack.begun('/v1/collections', link);
    const { status, body } = await read(id);
    expect(status).toBe(200);
    const transaction = {
      transId,
      status: 'CREATED',
      transType: 'Collection',
      amount: 500,
      externalId: id,
      userId: id,
    };
    expect(body).toEqual({
      object: 'provider_records',
      list: { answer: 'listed', asOf: at, transactions: [transaction] },
      status: { answer: 'found', asOf: at, transId, transaction },
    });
  });

  it('changes nothing of the payment, and takes one status question a minute, however often it is looked at', async () => {
    const { id, transId } = await stack.begun('/v1/collections', link);
    const before = (await stack.api.ask('GET', `/v1/payments/${id}/events`, { key: KEYS.shop })).body;
    const answers = await Promise.all([read(id), read(id), read(id), read(id)]);
    expect(new Set(answers.map(({ body }) => body.status.asOf)).size).toBe(1);
    await read(id);
    const [entry] = stack.transactionsOf(id);
    expect(entry).toMatchObject({ transId, statusCalls: { answered: 1, throttled: 0 } });
    expect((await stack.api.ask('GET', `/v1/payments/${id}/events`, { key: KEYS.shop })).body).toEqual(
      before,
    );
  });

  it('says that it is not known, when the provider gives no answer', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction', userId: id });
    stack.sandbox.faults.add({ fault: 'throttle', endpoint: 'payment-status', externalId: id });
    const { status, body } = await read(id);
    expect(status).toBe(200);
    expect(body.list).toEqual({
      answer: 'unavailable',
      asOf: at,
      transactions: [],
      message: expect.any(String),
    });
    expect(body.status).toMatchObject({ answer: 'throttled' });
  });

  it('is for operators alone', async () => {
    const { id } = await stack.begun('/v1/collections', link);
    expect((await read(id, KEYS.shop)).status).toBe(403);
    expect((await read(`col_${'0'.repeat(32)}`)).status).toBe(404);
  });
});

describe('a provider that hangs', () => {
  const id = 'pay_1' as PaymentId;
  const never: RecordsReader = {
    transactionsOf: () => new Promise(() => undefined),
    paymentStatus: () => Promise.reject(new Error('broken')),
  };

  it('keeps nobody waiting: there is no answer then', async () => {
    const records = new ProviderRecords(never, 30);
    const { answer } = await records.list(id, false);
    expect(answer).toEqual({ kind: 'unavailable', reason: 'no answer within 0.03 seconds' });
  });

  it('is asked once by all who wait', async () => {
    let asked = 0;
    const transactionsOf = () => {
      asked++;
      return never.transactionsOf(id, false);
    };
    const records = new ProviderRecords({ ...never, transactionsOf }, 30);
    await Promise.all([records.list(id, false), records.list(id, false)]);
    await records.list(id, false);
    expect(asked).toBe(1);
  });
});
