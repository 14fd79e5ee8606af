import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import fc from 'fast-check';
import { RecordsUnavailable } from '../../src/engine/errors.js';
import { findByTransId, findForHint, isQueryable, queryByIds, visibilityQuery } from '../../src/engine/visibility.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { RecordsUnavailableError } from '../../src/records/database.js';
import type { Records } from '../../src/records/records.js';

const payments =
  'WorkflowType IN ("collectByLink", "collectDirect", "payOut", "reopenPayment") AND ExecutionStatus != "ContinuedAsNew"';

describe('a query for payments', () => {
  it('asks for payments alone, and for the last run of each', () => {
    expect(visibilityQuery({})).toBe(payments);
  });

  it('asks for everything that is wanted', () => {
    const query = visibilityQuery({
      owner: 'shop',
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

describe('a transaction', () => {
  const holders = ({ indexed = [], recorded }: { indexed?: string[]; recorded: string[] | 'away' }) => {
    const client = {
      withDeadline: (_: unknown, call: () => unknown) => call(),
      workflow: { list: () => indexed.map((workflowId) => ({ workflowId })) },
    };
    const records = {
      async list() {
        if (recorded === 'away') throw new RecordsUnavailableError('away');
        return recorded.map((id) => ({ id }));
      },
    };
    return { client: client as unknown as Client, records: records as unknown as Records };
  };

  it("is looked for in both, and can't be while the records are away", async () => {
    const both = holders({ indexed: ['col_1'], recorded: ['col_1', 'col_2'] });
    expect(await findByTransId(both, 'T1')).toEqual(['col_1', 'col_2']);
    const away = holders({ indexed: ['col_1'], recorded: 'away' });
    await expect(findByTransId(away, 'T1')).rejects.toBeInstanceOf(RecordsUnavailable);
  });

  it('is looked for in the records for a hint only when Temporal has none', async () => {
    expect(await findForHint(holders({ indexed: ['col_1'], recorded: 'away' }), 'T1')).toEqual(['col_1']);
    expect(await findForHint(holders({ recorded: ['col_2'] }), 'T1')).toEqual(['col_2']);
    const unknown = findForHint(holders({ recorded: 'away' }), 'T1');
    await expect(unknown).rejects.toBeInstanceOf(RecordsUnavailable);
  });

  it("that can't be one is nobody's, whether or not anybody can be asked", async () => {
    expect(await findForHint(holders({ recorded: 'away' }), '" OR "')).toEqual([]);
    expect(await findByTransId(holders({ recorded: 'away' }), '" OR "')).toEqual([]);
  });
});
