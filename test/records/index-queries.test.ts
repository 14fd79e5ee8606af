import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { isQueryable, queryByIds, visibilityQuery } from '../../src/records/index-queries.js';

const payments =
  'WorkflowType IN ("collectByLink", "collectDirect", "payOut", "reopenPayment") AND ExecutionStatus != "ContinuedAsNew"';

describe('a query for payments', () => {
  it('asks for payments alone, and for the last run of each', () => {
    expect(visibilityQuery({})).toBe(payments);
  });

  it('asks for everything that is wanted', () => {
    const query = visibilityQuery({
      merchant: 'shop',
      status: 'FAILED',
      kind: 'payout',
      externalId: 'order-1',
      userId: 'u_1',
      createdFrom: 1_000,
      createdBefore: 2_000,
    });
    expect(query).toBe(
      `${payments} AND Merchant = "shop" AND PaymentStatus = "FAILED" AND PaymentKind = "payout"` +
        ' AND ExternalId = "order-1" AND UserId = "u_1" AND CreatedAt >= 1000 AND CreatedAt < 2000',
    );
  });

  it('takes a payment that never was final for one that is not', () => {
    expect(visibilityQuery({ final: true })).toBe(`${payments} AND PaymentFinal = true`);
    expect(visibilityQuery({ final: false })).toBe(`${payments} AND (PaymentFinal IS NULL OR PaymentFinal = false)`);
  });

  it('asks for all runs of some payments', () => {
    const ids = ['col_1', 'pay_2'] as unknown as PaymentId[];
    expect(queryByIds(ids)).toBe(`${payments} AND WorkflowId IN ("col_1", "pay_2")`);
  });

  it('finds stopped payments without an outcome among those to review', () => {
    expect(visibilityQuery({ status: 'REVIEW' })).toBe(
      `${payments} AND (PaymentStatus = "REVIEW" OR (ExecutionStatus IN ("Terminated", "Canceled", "Failed", "TimedOut") AND (PaymentFinal IS NULL OR PaymentFinal = false)))`,
    );
  });

  it.each(['"', "'", '\\', 'a" OR Merchant != "', 'a b', '', '`', 'a\n', 'é', '%', '(', ','])(
    'is never made with the value %p',
    (value) => {
      expect(isQueryable(value)).toBe(false);
      expect(() => visibilityQuery({ externalId: value })).toThrow(/only an identifier/);
      expect(() => visibilityQuery({ transId: value })).toThrow(/only an identifier/);
    },
  );

  it('has the form it should have, whatever a value is', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        fc.pre(isQueryable(value));
        return visibilityQuery({ transId: value }) === `${payments} AND TransId = "${value}"` && !/["'\\]/.test(value);
      }),
    );
  });
});
