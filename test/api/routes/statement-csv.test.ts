import { describe, expect, it } from '@jest/globals';
import { statementCsv } from '../../../src/api/routes/statement-csv.js';
import type { PaymentId, TransId } from '../../../src/payments/words/payment-id.js';
import { toStatement } from '../../../src/reconciliation/statement.js';
import { countTurns } from '../../support/turns.js';

const statement = toStatement({
  date: '2026-11-21',
  version: 1,
  madeAt: Date.parse('2026-11-22T02:00:00Z'),
  payments: [
    {
      id: 'col_1' as PaymentId,
      merchant: 'shop',
      kind: 'collection',
      status: 'SUCCESSFUL',
      final: true,
      amount: 1_200,
      amountPaid: 1_000,
      revenue: 980,
      fee: 20,
      transId: 't1' as TransId,
      medium: 'mobile money',
      externalId: '=HYPERLINK("http://evil.example")',
      createdAt: '2026-11-21T10:00:00.000Z',
      providerStatus: 'SUCCESSFUL',
      providerAmount: 1_000,
      compared: true,
    },
    {
      id: 'pay_1' as PaymentId,
      merchant: 'shop',
      kind: 'payout',
      status: 'PENDING',
      final: false,
      amount: 700,
      refundOf: 'col_1' as PaymentId,
      createdAt: '2026-11-21T11:00:00.000Z',
      compared: false,
    },
  ],
  differences: [
    {
      kind: 'only_at_provider',
      service: 'collection',
      transId: 't2' as TransId,
      providerStatus: 'SUCCESSFUL',
      providerAmount: 500,
      text: 't2 is here; nobody knows it',
      handling: 'unmatched',
    },
  ],
  gaps: { collection: [{ status: 'PENDING', amount: 'another', why: 'full' }], payout: [] },
  balances: {
    collection: { opening: { balance: 5_000, asOf: '2026-11-20T23:00:01.000Z' } },
    payout: {},
  },
  cutOff: false,
});

async function rowsOf(pieces: AsyncIterable<string>): Promise<string[]> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text
    .replace(/^\ufeff/, '')
    .trim()
    .split('\r\n');
}

describe('a statement as CSV', () => {
  it('has balances, payments, differences, gaps and totals of each service, each row with its kind', async () => {
    expect(await rowsOf(statementCsv(statement, true))).toEqual([
      'record,date,service,id,merchant,status,amount,amountPaid,revenue,fee,currency,transId,financialTransId,medium,externalId,refundOf,providerStatus,providerAmount,at,note',
      'opening_balance,2026-11-21,collection,,,,5000,,,,XAF,,,,,,,,2026-11-21T00:00:01.000+01:00,',
      `payment,2026-11-21,collection,col_1,shop,SUCCESSFUL,1200,1000,980,20,XAF,t1,,mobile money,"'=HYPERLINK(""http://evil.example"")",,SUCCESSFUL,1000,2026-11-21T11:00:00.000+01:00,`,
      'difference,2026-11-21,collection,,,,,,,,XAF,t2,,,,,SUCCESSFUL,500,,only_at_provider | t2 is here; nobody knows it | unmatched',
      `not_covered,2026-11-21,collection,,,,,,,,XAF,,,,,,,,,"transactions with the status PENDING, of amounts that none of the day's payments has: there are more than the search shows, and no filter tells them apart"`,
      'total,2026-11-21,collection,,,SUCCESSFUL,,1000,980,20,XAF,,,,,,,,,1 payments',
      'closing_balance,2026-11-21,collection,,,,,,,,XAF,,,,,,,,,unknown: the provider could not be asked then',
      'opening_balance,2026-11-21,payout,,,,,,,,XAF,,,,,,,,,unknown: the provider could not be asked then',
      'payment,2026-11-21,payout,pay_1,shop,PENDING,700,,,,XAF,,,,,col_1,,,2026-11-21T12:00:00.000+01:00,not compared',
      'not_covered,2026-11-21,payout,,,,,,,,XAF,,,,,,,,,payments without data: 1',
      'total,2026-11-21,payout,,,SUCCESSFUL,,0,0,0,XAF,,,,,,,,,0 payments',
      'closing_balance,2026-11-21,payout,,,,,,,,XAF,,,,,,,,,unknown: the provider could not be asked then',
    ]);
  });

  it('has neither balances nor merchants for a merchant', async () => {
    const rows = await rowsOf(statementCsv(statement, false));
    expect(rows[0]).not.toContain('merchant');
    expect(rows.some((row) => row.includes('balance'))).toBe(false);
  });

  it('of 50,000 payments is made in small pieces, between which others have their turn', async () => {
    const [line] = statement.payments;
    const whole = {
      ...statement,
      payments: Array.from({ length: 50_000 }, () => line as (typeof statement.payments)[0]),
    };
    const turns = countTurns();
    let rows = 0;
    let largest = 0;
    for await (const piece of statementCsv(whole, true)) {
      rows += piece.split('\r\n').length - 1;
      largest = Math.max(largest, piece.length);
    }
    const taken = turns();
    expect(rows).toBeGreaterThan(50_000);
    expect(largest).toBeLessThan(64 * 1024);
    expect(taken).toBeGreaterThanOrEqual(50_000 / 250);
  });
});
