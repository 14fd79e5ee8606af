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
 * Payments as they stand now, newest first. Visibility only says where to look: each payment is asked itself, and one
 * that the filter doesn't fit any more is left out.
 *
 * When one can't be asked, a merchant gets no list, for a list that leaves payments out, or shows them as they were,
 * could make somebody pay twice. Everybody's list, which is the operators', names it beside the others: they have to
 * get at those, and are the ones to mend it.
 *
 * @param after the last place of the page before
 * @throws {ApiError} `temporarily_unavailable`, with the id of a payment that couldn't be asked.
 */
export async function listPayments(
  api: Pick<Api, 'client' | 'descriptions'>,
  filter: PaymentFilter,
  limit: number,
  after: Place | undefined,
): Promise<Page> {
  const payments: Payment[] = [];
  const unreadable: PaymentId[] = [];
  let last: Place | undefined;
  for await (const places of newestFirst(api, filter, after)) {
    for (let next = 0; next < places.length; ) {
      const room = limit - payments.length - unreadable.length;
      if (room <= 0) return { payments, unreadable, last };
      const some = places.slice(next, next + Math.min(AT_ONCE, room));
      const read = await Promise.all(some.map((place) => readOne(api, filter, place)));
      const failures = read.filter((one) => one instanceof ApiError);
      const [failure] = failures;
      // When none can be asked, it is not the payments: the workers are away.
      const isNone = failures.length === read.length;
      if (failure !== undefined && (isNone || filter.owner !== undefined)) throw failure;
      unreadable.push(...failures.flatMap(({ extras }) => extras.paymentId ?? []));
      payments.push(...read.filter((one): one is Payment => one !== undefined && !(one instanceof ApiError)));
      last = some.at(-1);
      next += some.length;
    }
  }
  return { payments, unreadable };
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
