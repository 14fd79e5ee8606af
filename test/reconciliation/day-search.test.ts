import { describe, expect, it } from '@jest/globals';
import type { TransId } from '../../src/payments/words/payment-id.js';
import type { PhoneMedium, ProviderStatus } from '../../src/payments/words/transaction.js';
import {
  afterAnswer,
  BEGUN_SEARCH,
  type DaySearch,
  describeGap,
  isOfDay,
  MAX_SEARCHES,
  mayHide,
  unanswered,
} from '../../src/reconciliation/day-search.js';

interface Held {
  readonly transId: TransId;
  readonly status: ProviderStatus;
  readonly medium?: PhoneMedium | 'platform';
  readonly amount: number;
}

let made = 0;
const held = (count: number, given: Partial<Held> = {}): Held[] =>
  Array.from({ length: count }, () => ({
    transId: `t${made++}` as TransId,
    status: 'SUCCESSFUL',
    medium: 'mobile money',
    amount: 500,
    ...given,
  }));

interface Quirks {
  /** The provider leaves the dates of a search out of it. */
  readonly exclusive?: boolean;
  /** It shows the same order both ways. */
  readonly unsorted?: boolean;
}

/** Asks a provider with these transactions until there is nothing more to ask. */
function searched(transactions: readonly Held[], amounts: readonly number[] = [], quirks: Quirks = {}) {
  const shown = new Set<TransId>();
  const asked: string[] = [];
  let search: DaySearch = BEGUN_SEARCH;
  for (let next = search.open[0]; next !== undefined; next = search.open[0]) {
    const { status, medium, amount } = next.filters;
    const isOldestFirst = next.newest !== undefined;
    asked.push([search.range, isOldestFirst ? 'oldest' : 'newest', status, medium, amount].filter(Boolean).join(' '));
    const found = transactions.filter(
      (one) =>
        (!quirks.exclusive || search.range === 'around') &&
        (status ?? one.status) === one.status &&
        (medium ?? one.medium) === one.medium &&
        (amount ?? one.amount) === one.amount,
    );
    const isTurned = !isOldestFirst && !quirks.unsorted;
    const page = (isTurned ? found.reverse() : found).slice(0, 100).map(({ transId }) => transId);
    for (const transId of page) shown.add(transId);
    search = afterAnswer(search, page, amounts);
  }
  const missed = transactions.filter(({ transId }) => !shown.has(transId));
  return { asked, missed, gaps: search.gaps.map(describeGap) };
}

describe("the search for a day's transactions", () => {
  it('asks once when there are fewer than 100', () => {
    expect(searched(held(99))).toEqual({ asked: ['day newest'], missed: [], gaps: [] });
  });

  it('asks for the dates around the day, too, when that alone shows nothing', () => {
    expect(searched(held(20), [], { exclusive: true })).toEqual({
      asked: ['day newest', 'around newest'],
      missed: [],
      gaps: [],
    });
    expect(searched([]).asked).toEqual(['day newest', 'around newest']);
  });

  it.each([
    ['2026-11-21', true],
    ['2026-11-20', false],
    ['2026-11-22', false],
    ['2026-11-21T08:15:00Z', true],
    ['2026-11-22 08:15', false],
    ['21/11/2026', true],
    ['', true],
    [undefined, true],
  ])('then leaves out what was initiated on another day: is %j of the day? %j', (initiated, expected) => {
    expect(isOfDay('around', '2026-11-21', initiated)).toBe(expected);
    expect(isOfDay('day', '2026-11-21', initiated)).toBe(true);
  });

  it('shows 199 with the oldest first as well', () => {
    expect(searched(held(100))).toMatchObject({ asked: ['day newest', 'day oldest'], gaps: [] });
    expect(searched(held(199))).toMatchObject({ asked: ['day newest', 'day oldest'], missed: [], gaps: [] });
  });

  it("doesn't take two lists for all there is when the provider sorts them in the same way", () => {
    const { gaps } = searched(held(250), [500], { unsorted: true });
    expect(gaps).toContainEqual(expect.stringMatching(/^transactions .*of 500 XAF: there are more/));
  });

  it('then asks for each status, and finds all that have one which can be asked for', () => {
    const day = [...held(150), ...held(120, { status: 'FAILED' }), ...held(30, { status: 'EXPIRED' })];
    const { asked, missed } = searched(day);
    expect(asked).toEqual([
      'day newest',
      'day oldest',
      'day newest SUCCESSFUL',
      'day oldest SUCCESSFUL',
      'day newest FAILED',
      'day oldest FAILED',
      'day newest EXPIRED',
      'day newest CREATED',
    ]);
    expect(missed).toEqual([]);
  });

  it('then for each medium', () => {
    const day = [...held(150), ...held(150, { medium: 'orange money' })];
    const { asked, missed } = searched(day);
    expect(asked).toContain('day oldest SUCCESSFUL mobile money');
    expect(asked).toContain('day oldest SUCCESSFUL orange money');
    expect(missed).toEqual([]);
  });

  it("says what it couldn't cover: PENDING can't be asked for", () => {
    const day = [...held(150), ...held(60, { status: 'PENDING', amount: 700 })];
    expect(searched(day).gaps).toEqual([
      "transactions with the status PENDING, of amounts that none of the day's payments has: there are more than the search shows, and no filter tells them apart",
    ]);
  });

  it("finds what has the amount of one of the day's payments, whatever its status and medium", () => {
    const day = [
      ...held(250),
      ...held(150, { medium: 'orange money', amount: 900 }),
      ...held(60, { status: 'PENDING', amount: 700 }),
      ...held(3, { medium: 'platform', amount: 700 }),
    ];
    const { asked, missed } = searched(day, [700, 900, 700]);
    expect(asked.filter((one) => /\d$/.test(one))).toEqual(['day newest 900', 'day oldest 900', 'day newest 700']);
    expect(missed.every(({ amount }) => amount === 500)).toBe(true);
  });

  it('names the amount of which there are too many alike', () => {
    const { missed, gaps } = searched(held(250), [500]);
    expect(missed).toHaveLength(50);
    expect(gaps).toContain(
      'transactions with the status SUCCESSFUL, by mobile money, of 500 XAF: there are more than the search shows, and no filter tells them apart',
    );
  });

  it('misses nothing without a gap that says so', () => {
    const mediums = ['mobile money', 'orange money', 'platform'] as const;
    const statuses = ['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED'] as const;
    for (const count of [5, 20, 40, 90]) {
      const day = mediums.flatMap((medium) =>
        statuses.flatMap((status) => [1, 2, 3].flatMap((amount) => held(count, { medium, status, amount }))),
      );
      const { missed, gaps } = searched(day, [1, 2]);
      const isNamed = ({ status, medium, amount }: Held) =>
        gaps.some(
          (gap) =>
            (!gap.includes('with the status') || gap.includes(status)) &&
            (!/\bby (mobile|orange)/.test(gap) || gap.includes(`by ${medium}`)) &&
            (!gap.includes('another medium') || medium === 'platform') &&
            (!gap.includes('amounts that none') || amount === 3) &&
            (!/ of \d/.test(gap) || gap.includes(`of ${amount} XAF`)),
        );
      expect(missed.filter((one) => !isNamed(one))).toEqual([]);
    }
  });

  it("goes round what can't be read, and says so", () => {
    const first = afterAnswer(BEGUN_SEARCH, 'unreadable', []);
    expect(first.open.map(({ filters }) => filters.status)).toEqual(['SUCCESSFUL', 'FAILED', 'EXPIRED', 'CREATED']);
    expect(first.gaps.map(describeGap)).toEqual([
      expect.stringMatching(/status PENDING.*: the provider's answer can't be read$/),
    ]);
  });

  it('may hide a payment of a known amount only in a gap of that amount, or of all', () => {
    expect(mayHide({ amount: 'another', why: 'full' }, 500)).toBe(false);
    expect(mayHide({ amount: 500, why: 'full' }, 500)).toBe(true);
    expect(mayHide({ why: 'limit' }, 500)).toBe(true);
  });

  it('stops after so many searches, and says so', () => {
    const amounts = Array.from({ length: 3_000 }, (_, index) => index + 1_000);
    const { asked, gaps } = searched(held(250), amounts);
    expect(asked).toHaveLength(MAX_SEARCHES);
    expect(gaps.at(-1)).toBe('transactions of the day: more than 1000 searches would have been needed');
  });

  it('is not covered where the provider gave no answer', () => {
    expect(unanswered(BEGUN_SEARCH).gaps.map(describeGap)).toEqual([
      'transactions of the day: the provider gave no answer',
    ]);
    expect(unanswered({ ...BEGUN_SEARCH, open: [] }).gaps).toEqual([]);
  });
});
