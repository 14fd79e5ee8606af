import { refuseNoObject, said, toTime } from './arguments.js';
import { ApiError, ConnectionError, IncompleteListError } from './errors.js';
import type { RequestOptions, Send } from './transport.js';
import type { ListParams, Payment, PaymentPage, PaymentSummary } from './types.js';

export interface PaymentListOptions extends RequestOptions {
  /**
   * Called while iterating for each payment that can't be read at the moment. Without it, iterating throws an
   * {@link IncompleteListError}: a payment must not be missed silently.
   */
  readonly onUnreadable?: (id: string) => void;
}

/** One page when awaited; all payments of all pages when iterated over. */
export type PaymentList = Promise<PaymentPage> & AsyncIterable<PaymentSummary>;

/** Payments, newest first. */
export function listPayments(send: Send, params: ListParams, options: PaymentListOptions): PaymentList {
  refuseNoObject('params', params);
  refuseNoObject('options', options);
  const { onUnreadable, ...request } = options;
  if (onUnreadable !== undefined && typeof onUnreadable !== 'function') {
    throw new TypeError(`onUnreadable must be a function, and not ${said(onUnreadable)}`);
  }
  const first = readPage(send, params, request);
  // Anybody who awaits it, or iterates, gets its error: until then, it isn't an unhandled one.
  first.catch(() => undefined);
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<PaymentSummary> {
      let page = await first;
      for (;;) {
        yield* await complete(send, page, params, options);
        if (page.nextCursor === undefined) return;
        page = await readPage(send, { ...params, cursor: page.nextCursor }, request);
      }
    },
  });
}

async function readPage(send: Send, params: ListParams, options: RequestOptions): Promise<PaymentPage> {
  const { created, amount, limit, final, totals, ...filter } = params;
  const query = {
    ...filter,
    final: final?.toString(),
    totals: totals?.toString(),
    'amount[gte]': amount?.gte,
    'amount[lte]': amount?.lte,
    'created[gte]': toTime('created.gte', created?.gte),
    'created[lt]': toTime('created.lt', created?.lt),
    limit,
  };
  const request = { method: 'GET', path: '/v1/payments', query, changes: 'nothing' } as const;
  return (await send<PaymentPage>({ ...request, expects: ['data', 'unreadable'] }, options)).body;
}

/** The payments of a page, with those that couldn't be read when the page was made. */
async function complete(
  send: Send,
  page: PaymentPage,
  { status, final, held }: ListParams,
  { onUnreadable, ...options }: PaymentListOptions,
): Promise<readonly PaymentSummary[]> {
  if (page.unreadable.length === 0) return page.data;
  const late: Payment[] = [];
  for (const { id } of page.unreadable) {
    try {
      const request = { method: 'GET', path: `/v1/payments/${id}`, changes: 'nothing' } as const;
      late.push((await send<Payment>({ ...request, expects: ['id', 'status'] }, options)).body);
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof ConnectionError)) throw error;
      if (onUnreadable === undefined) throw new IncompleteListError(id, error);
      onUnreadable(id);
    }
  }
  const fitting = late.filter(
    (payment) =>
      (status ?? payment.status) === payment.status &&
      (final ?? payment.final) === payment.final &&
      (held === undefined || payment.held?.for.includes(held)),
  );
  return [...page.data, ...fitting].sort(newestFirst);
}

function newestFirst(one: PaymentSummary, other: PaymentSummary): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? 1 : -1;
  return one.id < other.id ? -1 : 1;
}
