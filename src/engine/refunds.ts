import { setTimeout as pause } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import {
  type CountedRefund,
  collectedBy,
  countReadings,
  type RefundAnswer,
  type RefundReading,
  type RefundReservation,
  refundableOf,
  START_WITHIN_MS,
  sentBy,
  sumOf,
} from '../payments/machine/refunds.js';
import { refundOf } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { isFinalPayment, type PaymentState } from '../payments/words/payment-state.js';
import { DAY_MS } from '../payments/words/time.js';
import { refundsQuery as refundsInIndex } from '../records/index-queries.js';
import { listRuns } from '../records/list-runs.js';
import { RETENTION_DAYS } from '../temporal/setup-gaps.js';
import {
  REFUNDS_WORKFLOW_TYPE,
  type RefundsInput,
  refundsQuery,
  refundsWorkflowId,
  reserveRefundUpdate,
} from '../workflows/messages.js';
import { isEngineError, RecordsUnavailable } from './errors.js';
import { type FoundPayment, findPayment, type ReadContext } from './find-payment.js';
import { type PaymentContent, type ReadPayment, viewPayment } from './read-payment.js';
import { askRecords } from './recorded-payments.js';
import { callTemporal, queryTemporal } from './temporal-calls.js';
import type { UpdateContext } from './update-payment.js';
import { updateWithStart } from './update-with-start.js';

/** The sums of a collection's refunds, in XAF. */
export interface RefundSums {
  /** `undefined` while it isn't known. */
  readonly collected: number | undefined;
  /** Refunds that have arrived. */
  readonly refunded: number;
  /** Refunds that were sent or may have been, or that are to be. */
  readonly refunding: number;
  readonly refundable: number;
}

/** The refunds of a collection, as they were read now. */
export interface Refunds {
  /** Their payments, oldest first. */
  readonly payments: readonly ReadPayment[];
  readonly counted: readonly CountedRefund[];
  readonly readings: readonly RefundReading[];
  /** Time before the first was read, in ms since the epoch. */
  readonly readAt: number;
}

const UNREAD =
  "What was refunded of the collection can't be read in full at the moment: refunds of long ago are only in the records. Nothing was sent. Try again shortly.";

/** Time limit for reading a collection's refunds, in ms. It usually takes some milliseconds. */
const ANSWER_LIMIT_MS = 5_000;

/** Refunds that a collection may have, whatever became of them: each is read whenever another is asked for. */
export const MAX_REFUNDS = 100;

/** Payments that are read at the same time. */
const READ_AT_ONCE = 10;

/** How refunds are read. */
interface ReadOptions {
  /**
   * Whether Temporal's index is asked, too, in case somebody has deleted the collection's workflow or a restored backup
   * lacks a refund. A server answers few such questions in a second.
   */
  readonly isIndexAsked: boolean;
  /** Ends the reading, which throws its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Reads all refunds of a collection: those that its workflow keeps, those in the records and those in Temporal's index.
 *
 * @throws {RecordsUnavailable} when there may be refunds that only the records know, and these can't be read.
 * @throws {Unavailable | RecordUnreadable}
 */
export async function readRefunds(
  context: ReadContext,
  collection: FoundPayment,
  { isIndexAsked, signal }: ReadOptions = { isIndexAsked: true },
): Promise<Refunds> {
  const { records } = context;
  const { id, merchant, createdAt } = collection;
  const readAt = Date.now();
  const [kept, recorded, indexed] = await Promise.all([
    keptRefunds(context.client, id),
    askRecords(() => records?.refundsOf(id), UNREAD),
    isIndexAsked ? indexedRefunds(context.client, id, merchant) : [],
  ]);
  const remembered = readAt - RETENTION_DAYS * DAY_MS;
  if (kept === undefined && recorded === undefined && createdAt < remembered) throw new RecordsUnavailable(UNREAD);

  const ids = [...new Set([...(kept ?? []).map((one) => one.id), ...(recorded ?? []), ...indexed])];
  const found: Found[] = [];
  for (let first = 0; first < ids.length; first += READ_AT_ONCE) {
    signal?.throwIfAborted();
    const some = ids.slice(first, first + READ_AT_ONCE);
    found.push(...(await Promise.all(some.map((one) => readRefund(context, id, one)))));
  }
  // Without records, Temporal may have forgotten the payment of an old reservation.
  const old = (kept ?? []).filter((one) => records === undefined && one.kind === 'reserved' && one.at < remembered);
  const readings = found
    .map(({ reading }) => reading)
    .filter((one) => one.kind === 'known' || !old.some((reserved) => reserved.id === one.id));
  const payments = found
    .flatMap(({ payment }) => payment ?? [])
    .sort((one, other) => one.state.createdAt - other.state.createdAt);
  return { payments, readings, counted: countReadings(kept ?? [], readings, readAt), readAt };
}

/** A refund's payment, if it has one, and what that tells. */
interface Found {
  readonly reading: RefundReading;
  readonly payment?: ReadPayment | undefined;
}

async function readRefund(context: ReadContext, collection: PaymentId, id: PaymentId): Promise<Found> {
  const found = await findPayment(context, id, UNREAD);
  if (found === undefined) return { reading: { kind: 'none', id } };
  const payment = await viewPayment(context, found);
  const { state } = payment;
  // Its id was reserved, and then used for another payment.
  if (refundOf(state.order) !== collection) {
    return { reading: { kind: 'known', id, amount: 0, asOf: state.updatedAt } };
  }
  return { payment, reading: { kind: 'known', id, amount: sentBy(state), asOf: state.updatedAt } };
}

/** Reads the refunds that the collection's workflow keeps; `undefined` when there is none. */
async function keptRefunds(client: Client, collection: PaymentId): Promise<readonly CountedRefund[] | undefined> {
  const handle = client.workflow.getHandle(refundsWorkflowId(collection));
  try {
    return await queryTemporal(client, () => handle.query(refundsQuery), Date.now() + ANSWER_LIMIT_MS);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

async function indexedRefunds(client: Client, collection: PaymentId, merchant: string): Promise<PaymentId[]> {
  const found: PaymentId[] = [];
  for await (const { runs } of listRuns(client, refundsInIndex(collection), (list) => callTemporal(client, list))) {
    // Some stores of the index ignore case.
    for (const run of runs) if (run.merchant === merchant) found.push(run.id);
  }
  return found;
}

/**
 * Sums up the refunds of a collection.
 *
 * @param without the refund that is asked for, of which there may be a reservation already
 */
export function sumUpRefunds(collection: PaymentState, refunds: Refunds, without?: PaymentId): RefundSums {
  const counted = refunds.counted.filter(({ id }) => id !== without);
  // One that was sent again counts for each request until its checks are over, and has moved its amount.
  const moved = new Map(
    refunds.payments.map(({ payment: { id, status, amount, amountPaid = amount } }) => [
      id,
      status === 'SUCCESSFUL' ? amountPaid : 0,
    ]),
  );
  // Temporal has forgotten the payment of one that isn't read: it counts as it was last seen, so that never less is
  // shown than was refunded, and its room is never given again.
  const known = counted.filter(({ kind }) => kind === 'known');
  const refunded = sumOf(known.map(({ id, amount }) => ({ amount: Math.min(amount, moved.get(id) ?? amount) })));
  const collected = collectedBy(collection);
  return {
    collected: collected ?? (isFinalPayment(collection) ? 0 : undefined),
    refunded,
    refunding: sumOf(counted) - refunded,
    refundable: refundableOf(collected, sumOf(counted)),
  };
}

/** Time limit for the sums that a payment is shown with, in ms: it is shown without them then. */
const SUMS_LIMIT_MS = 2_000;

/**
 * Returns the sums of the refunds of a collection that was paid; under review, if it has refunds. `undefined` for any
 * other payment, and while they can't be known.
 */
export async function knownSums(
  context: ReadContext,
  found: FoundPayment,
  { payment: { kind, status }, state }: PaymentContent,
): Promise<Omit<RefundSums, 'collected'> | undefined> {
  if (kind !== 'collection' || (status !== 'SUCCESSFUL' && status !== 'REVIEW')) return undefined;
  const isOver = new AbortController();
  const { signal } = isOver;
  const read = async () => {
    const refunds = await readRefunds(context, found, { isIndexAsked: false, signal });
    const { collected, ...sums } = sumUpRefunds(state, refunds);
    const isShown = status === 'SUCCESSFUL' ? collected !== undefined : refunds.counted.length > 0;
    return isShown ? sums : undefined;
  };
  const limit = pause(SUMS_LIMIT_MS, undefined, { signal }).catch(() => undefined);
  try {
    return await Promise.race([read(), limit]);
  } catch (error) {
    if (isEngineError(error)) return undefined;
    throw error;
  } finally {
    isOver.abort();
  }
}

/**
 * Reserves room for a refund.
 *
 * @returns the answer, and until when the refund may start, in ms since the epoch
 * @throws {Unavailable} when it isn't known whether it was reserved.
 */
export async function reserveRoom(
  context: UpdateContext,
  collection: PaymentId,
  reservation: RefundReservation,
): Promise<{ readonly answer: RefundAnswer; readonly startBy: number }> {
  const startBy = Date.now() + START_WITHIN_MS;
  const answer = await updateWithStart(context, {
    update: reserveRefundUpdate,
    argument: reservation,
    workflowType: REFUNDS_WORKFLOW_TYPE,
    workflowId: refundsWorkflowId(collection),
    // Somebody has stopped it: each reservation brings all refunds that are known.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    input: { v: 1, collection } satisfies RefundsInput,
    uncertain:
      "It can't be checked at the moment whether that much is left to refund, so nothing was sent. Repeat the request with the same Idempotency-Key.",
    unanswered: 'no worker reserved the refund in time',
  });
  return { answer, startBy };
}
