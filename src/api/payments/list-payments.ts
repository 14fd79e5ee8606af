import type { Payment } from '../../payments/payment.js';
import type { PaymentId } from '../../payments/payment-id.js';
import type { Api } from '../api.js';
import type { Place } from '../page-cursor.js';
import { ApiError, temporarilyUnavailable } from '../problem.js';
import { currentState, findPayment } from './find-payment.js';
import { newestFirst } from './newest-first.js';
import type { PaymentFilter } from './visibility-query.js';

/** One page of a list. */
export interface Page {
  readonly payments: readonly Payment[];
  /** Payments that belong in the list by what visibility knows, and couldn't be asked themselves. */
  readonly unreadable: readonly PaymentId[];
  /** The place after which the next page begins; without it, this one is the last. */
  readonly last?: Place | undefined;
}

/** Payments that are asked at once how they stand. */
const AT_ONCE = 8;

/**
 * Payments that may stay silent, one after the other from the first, before the list is refused. Among so many, one
 * that answers shows that the trouble is with single payments, and not with every worker.
 */
const MAX_SILENT = 3 * AT_ONCE;

/**
 * Payments as they stand now, newest first. Visibility only says where to look: each payment is asked itself, and one
 * that the filter doesn't fit any more is left out.
 *
 * One that can't be asked is named beside the others: never left out unsaid, or shown as it was, either of which could
 * make somebody pay twice. When none answers, there is no list. To find that out, a page without any answer looks
 * beyond its own end.
 *
 * @param after the last place of the page before
 * @throws {ApiError} `temporarily_unavailable` when none can be asked, with the id of one.
 */
export async function listPayments(
  api: Pick<Api, 'client' | 'descriptions'>,
  filter: PaymentFilter,
  limit: number,
  after: Place | undefined,
): Promise<Page> {
  const payments: Payment[] = [];
  const unreadable: PaymentId[] = [];
  const silent: ApiError[] = [];
  let last: Place | undefined;
  let hasAnswer = false;
  let isFull = false;
  for await (const places of newestFirst(api, filter, after)) {
    for (let next = 0; next < places.length; ) {
      const room = limit - payments.length - unreadable.length;
      isFull = room <= 0;
      if (isFull && hasAnswer) return { payments, unreadable, last };
      const some = places.slice(next, next + (isFull ? AT_ONCE : Math.min(AT_ONCE, room)));
      next += some.length;
      const read = await Promise.all(some.map((place) => readOne(api, filter, place)));
      const failures = read.filter((one) => one instanceof ApiError);
      hasAnswer ||= failures.length < read.length;
      silent.push(...failures);
      const [failure] = silent;
      if (failure !== undefined && !hasAnswer && silent.length >= MAX_SILENT) throw failure;
      if (isFull) continue;
      unreadable.push(...failures.flatMap(({ extras }) => extras.paymentId ?? []));
      payments.push(...read.filter((one): one is Payment => one !== undefined && !(one instanceof ApiError)));
      last = some.at(-1);
    }
  }
  const [failure] = silent;
  if (failure !== undefined && !hasAnswer) throw failure;
  return { payments, unreadable, last: isFull ? last : undefined };
}

/** The payment at a place; `undefined` when it is gone, or isn't what was looked for; what is wrong when it can't be asked. */
async function readOne(
  api: Pick<Api, 'client' | 'descriptions'>,
  filter: PaymentFilter,
  { id }: Place,
): Promise<Payment | ApiError | undefined> {
  try {
    const found = await findPayment(api, id);
    if (found === undefined) return undefined;
    if (filter.owner !== undefined && found.owner !== filter.owner) return undefined;
    const { payment } = await currentState(api, found);
    return fits(payment, filter) ? payment : undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return temporarilyUnavailable(`The payment ${id} can’t be asked for the moment. Try again shortly.`, {
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
