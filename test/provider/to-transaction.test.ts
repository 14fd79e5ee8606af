import { describe, expect, it } from '@jest/globals';
import { toTransaction } from '../../src/provider/to-transaction.js';
import { transactionSchema } from '../../src/provider/wire.js';

const wire = {
  transId: 'T1',
  status: 'SUCCESSFUL',
  medium: 'mobile money',
  serviceName: 'shop',
  transType: 'Collection',
  amount: 500,
  revenue: 490,
  payerName: 'Ngo Bassa',
  email: 'payer@example.com',
  redirectUrl: 'https://example.com/thanks?order=7',
  externalId: 'col_1',
  userId: 'u1',
  webhook: 'https://example.com/hook/secret',
  reason: 'Insufficient\nfunds',
  financialTransId: 'F1',
  dateInitiated: '2026-03-01',
  dateConfirmed: '2026-03-01',
};

describe('a transaction', () => {
  it('keeps what decides a payment and drops what names a person or an address', () => {
    expect(toTransaction(transactionSchema.parse(wire))).toEqual({
      transId: 'T1',
      status: 'SUCCESSFUL',
      transType: 'Collection',
      amount: 500,
      medium: 'mobile money',
      revenue: 490,
      reason: 'Insufficient funds',
      financialTransId: 'F1',
      externalId: 'col_1',
      userId: 'u1',
    });
  });

  it("has a reason without the person's number and address", () => {
    const reason = 'Account payer@example.com (+237 677 00 00 01) is closed';
    expect(toTransaction(transactionSchema.parse({ ...wire, reason })).reason).toBe(
      'Account *** (***) is closed',
    );
  });

  it('needs only its id and its status', () => {
    const bare = toTransaction(transactionSchema.parse({ transId: 'T1', status: 'CREATED' }));
    expect(JSON.parse(JSON.stringify(bare))).toEqual({ transId: 'T1', status: 'CREATED' });
  });
});
