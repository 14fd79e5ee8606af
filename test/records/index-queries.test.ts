import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import {
  heldQuery,
  isQueryable,
  queryByIds,
  unfinishedQuery,
  visibilityQuery,
} from '../../src/records/index-queries.js';
import { fromTransIdKeyword, toTransIdKeyword } from '../../src/temporal/search-attributes.js';

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

  it('takes a held payout for held while its workflow runs', () => {
    const held = 'ExecutionStatus = "Running" AND HeldFor = "approval"';
    expect(visibilityQuery({ merchant: 'shop', held: 'approval' })).toBe(
      `${payments} AND Merchant = "shop" AND ${held}`,
    );
    expect(heldQuery('approval')).toBe(`${payments} AND ${held}`);
  });

  it('takes a payout for unfinished that is held for a date long past, and none that waits for its approval alone', () => {
    expect(unfinishedQuery(1_000, Date.UTC(2026, 10, 27, 8))).toBe(
      `${payments} AND ExecutionStatus = "Running" AND CreatedAt < 1000` +
        ' AND (PaymentFinal IS NULL OR PaymentFinal = false) AND PaymentStatus != "REVIEW"' +
        ' AND (HeldFor IS NULL OR (HeldFor = "date" AND SendAt < "2026-11-27T08:00:00.000Z"))',
    );
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

  it.each(['"', "'", '\\', 'a" OR Merchant != "', 'a b', '', '`', 'a\n', 'é', '(', ','])(
    'is never made with the identifier %p',
    (value) => {
      expect(isQueryable(value)).toBe(false);
      expect(() => visibilityQuery({ externalId: value })).toThrow(/only an identifier/);
    },
  );

  it('has the form it should have, whatever an identifier is', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        fc.pre(isQueryable(value));
        return visibilityQuery({ userId: value }) === `${payments} AND UserId = "${value}"` && !/["'\\]/.test(value);
      }),
    );
  });

  it.each([
    ['T-1.2:3', 'T-1.2:3'],
    ['TX#17', 'TX%2317'],
    ['100%', '100%25'],
    ['a" OR Merchant != "', 'a%22%20OR%20Merchant%20%21=%20%22'],
    ["(é')*", '%28%C3%A9%27%29%2A'],
  ])("finds the provider's transaction %p as %p", (transId, keyword) => {
    expect(visibilityQuery({ transId })).toBe(`${payments} AND TransId = "${keyword}"`);
  });

  it("gives each of the provider's transactions a keyword of its own, that is read back", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }), (transId) => {
        // A longer one is cut off.
        fc.pre(encodeURIComponent(transId).length <= 200);
        const keyword = toTransIdKeyword(transId);
        // A longer one is cut off.
        fc.pre(keyword.length < 200);
        return isQueryable(keyword) && fromTransIdKeyword(keyword) === transId;
      }),
    );
    const long = '#'.repeat(200);
    expect(toTransIdKeyword(long)).toHaveLength(200);
    expect(fromTransIdKeyword(`${'a'.repeat(199)}%`)).toBe(`${'a'.repeat(199)}%`);
  });
});
