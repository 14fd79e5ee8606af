import { MAX_SEARCH_LIMIT, xaf } from '../payments/words/limits.js';
import type { TransId } from '../payments/words/payment-id.js';
import { isDay } from '../payments/words/time.js';
import type { PhoneMedium, ProviderStatus } from '../payments/words/transaction.js';

/**
 * Asks the provider for all transactions of a day. A search shows 100 at most and has no second page, so one that may
 * have been cut off is repeated with more filters. Transactions that no filter tells apart are reported as a gap.
 */

/** The statuses that the provider's search can filter by: all but PENDING. Money that has moved comes first. */
export const SEARCHED_STATUSES = ['SUCCESSFUL', 'FAILED', 'EXPIRED', 'CREATED'] as const satisfies ProviderStatus[];
type SearchedStatus = (typeof SEARCHED_STATUSES)[number];

/**
 * The mediums that it can filter by. It can't filter by `platform`, nor by a missing medium, as of a link that nobody
 * has tried to pay.
 */
export const SEARCHED_MEDIUMS = ['mobile money', 'orange money'] as const satisfies PhoneMedium[];

/** Largest number of questions to one service about one day. */
export const MAX_SEARCHES = 1_000;

/** The filters of a search, beside the dates; an amount is in XAF. */
export interface Filters {
  readonly status?: SearchedStatus | undefined;
  readonly medium?: PhoneMedium | undefined;
  readonly amount?: number | undefined;
}

/** A search that is still to be made. */
export interface Slice {
  readonly filters: Filters;
  /** The transactions shown newest first, when they may have been cut off: the search now asks for the oldest first. */
  readonly newest?: readonly TransId[] | undefined;
}

/** Transactions that the provider may have and no search could show. */
export interface Gap {
  readonly status?: ProviderStatus | undefined;
  readonly medium?: PhoneMedium | 'another' | undefined;
  /** `another`: any but those that the day's payments have. */
  readonly amount?: number | 'another' | undefined;
  /**
   * `full`: there are more than a search shows, and no filter is left. `unreadable`: one of them can't be read.
   * `limit`: too many searches would have been needed. `unanswered`: the provider gave no answer.
   */
  readonly why: 'full' | 'unreadable' | 'limit' | 'unanswered';
}

/** Progress of the search for a day's transactions: plain data, so that it can be kept and continued. */
export interface DaySearch {
  /**
   * The dates of the search: the day alone or, if that finds nothing, the days around it as well. The provider's
   * interface doesn't say whether a search includes the dates that it names.
   */
  readonly range: 'day' | 'around';
  /** Searches to be made, the next one first. */
  readonly open: readonly Slice[];
  readonly gaps: readonly Gap[];
  readonly asked: number;
  /** `true` while the search asks for the amounts of the day's payments one by one. */
  readonly byAmount: boolean;
}

export const BEGUN_SEARCH: DaySearch = {
  range: 'day',
  open: [{ filters: {} }],
  gaps: [],
  asked: 0,
  byAmount: false,
};

/**
 * The search after an answer to its next slice.
 *
 * The filters are added in this order: the other way round (which shows twice as many), the status, the medium. What
 * may be left out after that can only be asked for by its exact amount, and the only amounts that are known are those
 * of the day's payments.
 *
 * @param shown the transactions that the provider has shown, in its order; or that there is one among them that can't
 *   be read
 * @param amounts the amounts to ask for one by one, when it comes to that, in XAF
 */
export function afterAnswer(
  search: DaySearch,
  shown: readonly TransId[] | 'unreadable',
  amounts: readonly number[],
): DaySearch {
  const [slice, ...open] = search.open;
  if (slice === undefined) return search;
  const asked = search.asked + 1;
  if (asked === 1 && shown.length === 0) return { ...search, asked, range: 'around' };
  return goOn(withAnswer({ ...search, asked, open }, slice, shown), amounts);
}

/**
 * Reports whether a transaction found by a search is of the day. When the search covers the days around it as well,
 * transactions initiated on those aren't. An unreadable date excludes nothing, and the time after a date is ignored.
 */
export function isOfDay(range: DaySearch['range'], day: string, dateInitiated: string | undefined): boolean {
  const initiated = dateInitiated?.slice(0, day.length);
  return range === 'day' || initiated === undefined || !isDay(initiated) || initiated === day;
}

/** Ends the search when the provider gives no answer: the remaining questions aren't covered. */
export function unanswered(search: DaySearch): DaySearch {
  if (search.open.length === 0) return search;
  const whole: readonly Gap[] = search.byAmount ? [] : [{ why: 'unanswered' }];
  const slices = search.byAmount ? search.open.map(({ filters }) => gapOf(filters, 'unanswered')) : whole;
  return { ...search, open: [], gaps: [...search.gaps, ...slices] };
}

function withAnswer(
  search: DaySearch,
  { filters, newest }: Slice,
  shown: readonly TransId[] | 'unreadable',
): DaySearch {
  if (shown !== 'unreadable') {
    if (shown.length < MAX_SEARCH_LIMIT) return search;
    if (newest === undefined) return { ...search, open: [{ filters, newest: shown }, ...search.open] };
    if (meet(newest, shown)) return search;
  }
  const { slices, rest } = narrowed(filters, shown === 'unreadable' ? shown : 'full');
  return { ...search, open: [...slices, ...search.open], gaps: [...search.gaps, rest] };
}

function goOn(search: DaySearch, amounts: readonly number[]): DaySearch {
  if (search.asked >= MAX_SEARCHES && search.open.length > 0) {
    return { ...search, open: [], gaps: [...search.gaps, { why: 'limit' }] };
  }
  if (search.open.length > 0 || search.gaps.length === 0 || search.byAmount) return search;
  const largestFirst = [...new Set(amounts)].sort((one, other) => other - one);
  return goOn({ ...search, byAmount: true, open: largestFirst.map((amount) => ({ filters: { amount } })) }, amounts);
}

/** Adds a filter to a slice, and names what no value of that filter finds. */
function narrowed(filters: Filters, why: Gap['why']): { readonly slices: readonly Slice[]; readonly rest: Gap } {
  if (filters.status === undefined) {
    const slices = SEARCHED_STATUSES.map((status) => ({ filters: { ...filters, status } }));
    return { slices, rest: { ...gapOf(filters, why), status: 'PENDING' } };
  }
  if (filters.medium === undefined) {
    const slices = SEARCHED_MEDIUMS.map((medium) => ({ filters: { ...filters, medium } }));
    return { slices, rest: { ...gapOf(filters, why), medium: 'another' } };
  }
  return { slices: [], rest: gapOf(filters, why) };
}

/** Without an amount, a gap only concerns other amounts than the known ones: these are asked for one by one. */
function gapOf({ status, medium, amount }: Filters, why: Gap['why']): Gap {
  return { status, medium, amount: amount ?? 'another', why };
}

/**
 * Reports whether a list with the newest first and one with the oldest first overlap, so that together they show
 * everything: the end of each is the end of the other, reversed. Lists that the provider doesn't sort, or sorts the
 * same both ways, don't match like this, however much they have in common.
 */
function meet(newest: readonly TransId[], oldest: readonly TransId[]): boolean {
  const known = new Set(newest);
  const common = oldest.filter((transId) => known.has(transId)).length;
  if (common === 0) return false;
  const end = newest.slice(-common).reverse();
  return oldest.slice(-common).every((transId, index) => transId === end[index]);
}

const WHY = {
  full: 'there are more than the search shows, and no filter tells them apart',
  unreadable: "the provider's answer can't be read",
  limit: `more than ${MAX_SEARCHES} searches would have been needed`,
  unanswered: 'the provider gave no answer',
} as const;

/** Reports whether a gap may hide transactions of the amount of one of the day's payments, in XAF. */
export function mayHide({ amount }: Gap, sought: number): boolean {
  return amount === undefined || amount === sought;
}

/** A gap in words. */
export function describeGap({ status, medium, amount, why }: Gap): string {
  const which = [
    status && `with the status ${status}`,
    medium && (medium === 'another' ? 'with another medium than mobile money and orange money' : `by ${medium}`),
    amount && (amount === 'another' ? "of amounts that none of the day's payments has" : `of ${xaf(amount)}`),
  ].filter(Boolean);
  return `transactions ${which.length === 0 ? 'of the day' : which.join(', ')}: ${WHY[why]}`;
}
