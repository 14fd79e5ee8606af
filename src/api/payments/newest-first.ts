import type { Client } from '@temporalio/client';
import { parsePaymentId } from '../../payments/payment-id.js';
import { paymentSearchAttributes } from '../../temporal/search-attributes.js';
import type { Api } from '../api.js';
import { compare, isAfter, type Place } from '../page-cursor.js';
import { ask } from './temporal-calls.js';
import { type PaymentFilter, visibilityQuery } from './visibility-query.js';

/** Runs that are read in one go. */
const MOST = 200;

/** Payments worth a window of their own: with fewer, a wider one is tried. */
const FEWEST = 50;

/** ms that the first window of a long list spans, and the factor by which windows become wider or narrower. */
const FIRST_SPAN = 60_000;
const STEP = 8;

/** A stretch of time, both ends in ms since the epoch; without `before`, up to now and whatever comes. */
interface Window {
  readonly from: number;
  readonly before: number | undefined;
}

/**
 * The places of the payments that a filter finds, newest first, in batches, from the one after `after` on. A payment
 * comes up once, however many runs it has, for all of them began at the same time by its search attribute.
 *
 * Temporal's visibility puts running workflows first and then orders by when they ended, and most of its stores refuse
 * any other order. So windows of time are read, each of which holds no more than can be sorted here: the whole time
 * when that is so, and otherwise windows as wide as they may be.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function* newestFirst(
  { client }: Pick<Api, 'client'>,
  filter: PaymentFilter,
  after: Place | undefined,
): AsyncGenerator<readonly Place[]> {
  const floor = filter.createdFrom ?? 0;
  let before = earliest(filter.createdBefore, after && after.createdAt + 1);
  let span = Number.POSITIVE_INFINITY;
  while (before === undefined || before > floor) {
    const found: Found = await widest(client, filter, before, span);
    yield found.places.filter((place) => after === undefined || isAfter(place, after));
    ({ before, span } = found);
  }
}

interface Found {
  readonly places: readonly Place[];
  /** Where the next window ends, and how wide it should be, in ms. */
  readonly before: number;
  readonly span: number;
}

/** Reads the widest window before a time that isn't too wide, beginning with the span that did for the last one. */
async function widest(
  client: Client,
  filter: PaymentFilter,
  before: number | undefined,
  firstSpan: number,
): Promise<Found> {
  const floor = filter.createdFrom ?? 0;
  const end = before ?? Date.now();
  let span = firstSpan;
  let best: Found | undefined;
  for (let tooWide = false; ; ) {
    const from = Math.max(floor, end - span);
    const narrowest = end - from <= 1;
    const places = await read(client, filter, { from, before }, narrowest);
    if (places === undefined) {
      if (best !== undefined) return best;
      tooWide = Number.isFinite(span);
      span = tooWide ? Math.max(1, Math.floor((end - from) / STEP)) : FIRST_SPAN;
    } else {
      best = { places, before: from, span };
      if (tooWide || from === floor || places.length >= FEWEST) return best;
      span *= STEP;
    }
  }
}

/** The places within a window, in order; `undefined` when there are too many and it could be narrower. */
async function read(
  client: Client,
  filter: PaymentFilter,
  { from, before }: Window,
  narrowest: boolean,
): Promise<Place[] | undefined> {
  const query = visibilityQuery({ ...filter, createdFrom: from, createdBefore: before });
  return await ask(client, async () => {
    const places = new Map<string, Place>();
    let runs = 0;
    for await (const run of client.workflow.list({ query, pageSize: MOST })) {
      if (runs++ === MOST && !narrowest) return undefined;
      const id = parsePaymentId(run.workflowId);
      const createdAt = run.typedSearchAttributes.get(paymentSearchAttributes.createdAt);
      const merchant = run.typedSearchAttributes.get(paymentSearchAttributes.merchant);
      // Some of visibility's stores don't tell upper case from lower case.
      const isOwn = filter.owner === undefined || filter.owner === merchant;
      if (id !== undefined && createdAt !== undefined && isOwn) places.set(id, { id, createdAt });
    }
    return [...places.values()].sort(compare);
  });
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
