import { describe, expect, it } from '@jest/globals';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import type { SearchedTransaction, Transaction } from '../../src/payments/words/transaction.js';
import type { DayPayment } from '../../src/reconciliation/reconciliation.js';
import { compareDay, type Found, type Lists } from '../../src/statements/day-comparison.js';

const payment = (name: string, given: Partial<DayPayment> = {}): DayPayment => ({
  id: `col_${name}` as PaymentId,
  merchant: 'shop',
  kind: 'collection',
  status: 'SUCCESSFUL',
  final: true,
  amount: 1_000,
  transId: `of-${name}` as TransId,
  createdAt: Date.parse('2026-11-21T10:00:00Z'),
  ...given,
});

const transaction = (name: string, given: Partial<SearchedTransaction> = {}): SearchedTransaction => ({
  transId: `of-${name}` as TransId,
  status: 'SUCCESSFUL',
  amount: 1_000,
  revenue: 980,
  externalId: `col_${name}`,
  userId: `col_${name}`,
  dateInitiated: '2026-11-21',
  ...given,
});

interface Known {
  readonly found?: readonly SearchedTransaction[];
  readonly lists?: Lists;
  /** Payments as they are when they are read once more: of other days, too. */
  readonly now?: readonly DayPayment[];
  /** The provider's lists at the second look. */
  readonly listed?: Readonly<Record<string, readonly Transaction[]>>;
  /** Transactions that operators have matched. */
  readonly matched?: readonly string[];
}

async function compared(payments: readonly DayPayment[], known: Known) {
  const { found = [], lists = new Map(), now = payments, listed = {}, matched = [] } = known;
  const shown: Found = { collection: found, payout: [] };
  const comparison = await compareDay(payments, shown, lists, {
    paymentsWith: async (ids) => now.filter(({ id }) => ids.includes(id)),
    isHeld: async ({ transId }) => matched.includes(transId),
    list: async ({ id }) => listed[id],
  });
  return { ...comparison, kinds: comparison.findings.map(({ kind }) => kind) };
}

describe("a day's payments beside what the provider shows", () => {
  it('are compared with what a search has shown, or what was listed for each', async () => {
    const { lines, kinds } = await compared([payment('a'), payment('b'), payment('c')], {
      found: [transaction('a')],
      lists: new Map([
        ['col_b' as PaymentId, [transaction('b')]],
        ['col_c' as PaymentId, null],
      ]),
    });
    expect(kinds).toEqual([]);
    expect(lines.map(({ compared, fee }) => [compared, fee])).toEqual([
      [true, 20],
      [true, 20],
      [false, undefined],
    ]);
  });

  it('are looked at again when they differ: one that has moved on meanwhile agrees', async () => {
    const before = payment('a', { status: 'PENDING', final: false });
    const { lines, kinds } = await compared([before], {
      found: [transaction('a')],
      now: [payment('a')],
      listed: { col_a: [transaction('a')] },
    });
    expect(kinds).toEqual([]);
    expect(lines).toMatchObject([{ status: 'SUCCESSFUL', fee: 20 }]);
  });

  it('stay as they were found when the provider gives no answer at the second look', async () => {
    const { kinds } = await compared([payment('a')], { found: [transaction('a', { amount: 900 })] });
    expect(kinds).toEqual(['amount_differs']);
  });

  it("don't include a transaction of another day's payment, nor call it unknown", async () => {
    const { lines, kinds } = await compared([], {
      found: [transaction('yesterday')],
      now: [payment('yesterday')],
    });
    expect(lines).toEqual([]);
    expect(kinds).toEqual([]);
  });

  it("show a second transaction that another day's payment got on this day", async () => {
    const second = transaction('yesterday', { transId: 'second' as TransId });
    const { lines, findings, kinds } = await compared([], {
      found: [second],
      now: [payment('yesterday')],
      listed: { col_yesterday: [transaction('yesterday'), second] },
    });
    expect(lines).toEqual([]);
    expect(kinds).toEqual(['several_transactions']);
    expect(findings).toMatchObject([{ paymentId: 'col_yesterday' }]);
  });

  it('leave over what no payment knows', async () => {
    const unknown = transaction('gone');
    const bare = transaction('x', { transId: 'bare' as TransId, externalId: undefined, userId: undefined });
    const { findings } = await compared([payment('a')], { found: [transaction('a'), unknown, bare] });
    expect(findings).toMatchObject([
      { kind: 'only_at_provider', transId: 'of-gone', externalId: 'col_gone' },
      { kind: 'only_at_provider', transId: 'bare', externalId: undefined },
    ]);
  });

  it('take nothing over from a transaction that names another payment as well, which is left over', async () => {
    const waiting = payment('a', { status: 'CREATED', final: false, transId: undefined });
    const disputed = transaction('a', { transId: 'disputed' as TransId, userId: 'col_b' });
    const { lines, findings } = await compared([waiting], { found: [disputed] });
    expect(lines).toMatchObject([{ transId: undefined, fee: undefined, providerStatus: undefined }]);
    expect(findings).toMatchObject([{ kind: 'only_at_provider', transId: 'disputed' }]);
  });

  it('leave over nothing that an operator has matched with a payment', async () => {
    const { kinds } = await compared([], {
      found: [transaction('x', { transId: 'matched' as TransId, externalId: 'portal-7' })],
      matched: ['matched'],
    });
    expect(kinds).toEqual([]);
  });

  it('name nobody: what looks like a number or an address is masked', async () => {
    const { findings } = await compared([], {
      found: [
        transaction('x', { transId: 'one' as TransId, externalId: 'for-677000205' }),
        transaction('y', { transId: 'two' as TransId, externalId: 'jane@example.org' }),
      ],
    });
    expect(findings.map(({ externalId }) => externalId)).toEqual(['for-***', '***']);
    expect(JSON.stringify(findings)).not.toMatch(/677000205|jane/);
  });
});
