import type { Payment } from '../../payments/payment.js';
import { type PaymentId, parsePaymentId } from '../../payments/payment-id.js';
import { paymentSearchAttributes } from '../../temporal/search-attributes.js';
import { ApiError, temporarilyUnavailable } from '../http/problem.js';
import { currentState, findPayment, type ReadContext } from './find-payment.js';
import { callTemporal } from './temporal-calls.js';
import { type PaymentFilter, visibilityQuery } from './visibility.js';

/** A payment's place in a list, newest first: by its creation (ms since the epoch), then by its id. */
export interface Place {
  readonly createdAt: number;
  readonly id: PaymentId;
}

/** A payment of a list, with its owner. */
interface ListedPayment {
  readonly payment: Payment;
  readonly owner: string;
}

/** A place in a list, and the owner of the payment there, as visibility has it. */
interface FoundPlace extends Place {
  readonly owner: string;
}

/** One page of a list. */
export interface Page {
  readonly payments: readonly ListedPayment[];
  /** Payments that belong in the list as far as visibility knows, but couldn't be read. */
  readonly unreadable: readonly Pick<FoundPlace, 'id' | 'owner'>[];
  /** The place after which the next page begins; without it, this one is the last. */
  readonly last?: Place | undefined;
}

/** Payments that are read at once. */
const BATCH_SIZE = 8;

/**
 * Payments that may fail to answer, one after the other from the first, before the list is refused. One
 * answer among so many shows that single payments have a problem, and not every worker.
 */
const MAX_SILENT = 3 * BATCH_SIZE;

/** Runs that one window of time may have. */
const MAX_RUNS = 200;

/** Payments that make a window worth its call; with fewer, a wider one is tried. */
const MIN_PLACES = 50;

/** The first window of a long list, and the factor by which windows become wider or narrower. */
const FIRST_SPAN_MS = 60_000;
const SPAN_FACTOR = 8;

/**
 * Payments as they stand now, newest first. Visibility only says where to look: each payment is read itself,
 * and left out when it no longer fits the filter.
 *
 * A payment that can't be read is named beside the others. If it were left out silently, or shown as it was,
 * somebody might pay twice. When none can be read, there is no list; to find that out, a page without any
 * answer looks beyond its own end.
 *
 * @param after the last place of the page before
 * @throws {ApiError} `temporarily_unavailable` when none can be read, with the id of one.
 */
export async function listPayments(
  context: ReadContext,
  filter: PaymentFilter,
  limit: number,
  after: Place | undefined,
): Promise<Page> {
  const payments: ListedPayment[] = [];
  const unreadable: Pick<FoundPlace, 'id' | 'owner'>[] = [];
  const silent: ApiError[] = [];
  let last: Place | undefined;
  let hasAnswer = false;
  let isFull = false;
  for await (const places of newestFirst(context, filter, after)) {
    for (let next = 0; next < places.length; ) {
      const room = limit - payments.length - unreadable.length;
      isFull = room <= 0;
      if (isFull && hasAnswer) return { payments, unreadable, last };
      const batch = places.slice(next, next + (isFull ? BATCH_SIZE : Math.min(BATCH_SIZE, room)));
      next += batch.length;
      const read = await Promise.all(batch.map((place) => readOne(context, filter, place)));
      const failures = read.filter((one) => one instanceof ApiError);
      hasAnswer ||= failures.length < read.length;
      silent.push(...failures);
      const [failure] = silent;
      if (failure !== undefined && !hasAnswer && silent.length >= MAX_SILENT) throw failure;
      if (isFull) continue;
      for (const [index, one] of read.entries()) {
        const place = batch[index];
        if (one === undefined || place === undefined) continue;
        if (one instanceof ApiError) unreadable.push({ id: place.id, owner: place.owner });
        else payments.push(one);
      }
      last = batch.at(-1);
    }
  }
  const [failure] = silent;
  if (failure !== undefined && !hasAnswer) throw failure;
  return { payments, unreadable, last: isFull ? last : undefined };
}

/** The payment at a place; `undefined` when it is gone or doesn't fit; the error when it can't be read. */
async function readOne(
  context: ReadContext,
  filter: PaymentFilter,
  { id }: Place,
): Promise<ListedPayment | ApiError | undefined> {
  try {
    const found = await findPayment(context, id);
    if (found === undefined) return undefined;
    if (filter.owner !== undefined && found.owner !== filter.owner) return undefined;
    const { payment } = await currentState(context, found);
    return fits(payment, filter) ? { payment, owner: found.owner } : undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return temporarilyUnavailable(`The payment ${id} can't be read at the moment. Try again shortly.`, {
      paymentId: id,
      cause: error.cause,
    });
  }
}

function fits(payment: Payment, { status, kind, externalId, userId }: PaymentFilter): boolean {
  return (
    (status ?? payment.status) === payment.status &&
    (kind ?? payment.kind) === payment.kind &&
    (externalId ?? payment.externalId) === payment.externalId &&
    (userId ?? payment.userId) === payment.userId
  );
}

/** A window of time that was read. */
interface ReadWindow {
  readonly places: readonly FoundPlace[];
  /** Where the next window ends (ms since the epoch), and how wide it should be. */
  readonly before: number;
  readonly spanMs: number;
}

/**
 * The places of the payments that a filter finds, newest first, in batches, beginning after `after`. A
 * payment comes once, however many runs it has: they all have its time of creation.
 *
 * Temporal's visibility puts running workflows first and orders the others by when they ended, and most of
 * its stores refuse any other order. So windows of time are read, each with no more runs than can be sorted
 * here: one for all time if that suffices, or else windows as wide as they may be.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function* newestFirst(
  { client }: Pick<ReadContext, 'client'>,
  filter: PaymentFilter,
  after: Place | undefined,
): AsyncGenerator<readonly FoundPlace[]> {
  const floor = filter.createdFrom ?? 0;
  let before = earliest(filter.createdBefore, after && after.createdAt + 1);
  let spanMs = Number.POSITIVE_INFINITY;
  while (before === undefined || before > floor) {
    const window: ReadWindow = await readWidest(client, filter, before, spanMs);
    yield window.places.filter((place) => after === undefined || isAfter(place, after));
    ({ before, spanMs } = window);
  }
}

/** Reads the widest window that has few enough runs, beginning with the span of the last one. */
async function readWidest(
  client: ReadContext['client'],
  filter: PaymentFilter,
  before: number | undefined,
  firstSpanMs: number,
): Promise<ReadWindow> {
  const floor = filter.createdFrom ?? 0;
  const end = before ?? Date.now();
  let spanMs = firstSpanMs;
  let best: ReadWindow | undefined;
  for (let tooWide = false; ; ) {
    const from = Math.max(floor, end - spanMs);
    const isNarrowest = end - from <= 1;
    const places = await readPlaces(
      client,
      { ...filter, createdFrom: from, createdBefore: before },
      isNarrowest,
    );
    if (places === undefined) {
      if (best !== undefined) return best;
      tooWide = Number.isFinite(spanMs);
      spanMs = tooWide ? Math.max(1, Math.floor((end - from) / SPAN_FACTOR)) : FIRST_SPAN_MS;
    } else {
      best = { places, before: from, spanMs };
      if (tooWide || from === floor || places.length >= MIN_PLACES) return best;
      spanMs *= SPAN_FACTOR;
    }
  }
}

/** The places that a filter finds, in order; `undefined` if too many, and the window can be narrower. */
async function readPlaces(
  client: ReadContext['client'],
  filter: PaymentFilter,
  isNarrowest: boolean,
): Promise<FoundPlace[] | undefined> {
  return await callTemporal(client, async () => {
    const places = new Map<string, FoundPlace>();
    let runs = 0;
    for await (const run of client.workflow.list({ query: visibilityQuery(filter), pageSize: MAX_RUNS })) {
      if (runs++ === MAX_RUNS && !isNarrowest) return undefined;
      const id = parsePaymentId(run.workflowId);
      const createdAt = run.typedSearchAttributes.get(paymentSearchAttributes.createdAt);
      const merchant = run.typedSearchAttributes.get(paymentSearchAttributes.merchant);
      // Some of visibility's stores ignore case.
      const isOwn = filter.owner === undefined || filter.owner === merchant;
      if (id !== undefined && createdAt !== undefined && isOwn)
        places.set(id, { id, createdAt, owner: merchant ?? '' });
    }
    return [...places.values()].sort(compare);
  });
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** Whether a payment comes after another one in a list. */
export function isAfter(one: Place, other: Place): boolean {
  return compare(one, other) > 0;
}

/** Orders places, newest first. */
export function compare(one: Place, other: Place): number {
  if (one.createdAt !== other.createdAt) return other.createdAt - one.createdAt;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
