import { notificationId } from '../../src/payments/machine/notification.js';
import type { RecordContent } from '../../src/records/payment-record.js';
import type { Records } from '../../src/records/records.js';
import type { SeenPayment } from '../people/api-client.js';

/** One payment in the records. */
export interface Recorded {
  /** It as it was recorded, once for each time that it is listed; `undefined` if it can't be read. */
  readonly payments: readonly (RecordedPayment | undefined)[];
  /** The ids of its events, once for each time that they are in the feed. */
  readonly events: readonly string[];
}

export interface RecordedPayment extends Pick<SeenPayment, 'status' | 'final' | 'amount' | 'amountPaid' | 'transId'> {
  /** The ids of what its merchant was to be notified of, as the payment itself remembers it. */
  readonly notifications: readonly string[];
}

const PAGE_SIZE = 1_000;

/** Reads all that is recorded, page by page, as the API does for those who ask it. */
export async function readRecorded(records: Records): Promise<(id: string) => Recorded> {
  const payments = new Map<string, (RecordedPayment | undefined)[]>();
  for (let after: { id: Listed['id']; createdAt: number } | undefined; ; ) {
    const page: Listed[] = await records.list({ after }, PAGE_SIZE);
    for (const { id, content } of page) payments.set(id, [...(payments.get(id) ?? []), content && toRecorded(content)]);
    const last = page.at(-1);
    if (last === undefined) break;
    after = { id: last.id, createdAt: last.indexed.createdAt };
  }

  const events = new Map<string, string[]>();
  for (let after = 0; ; ) {
    const page = await records.events({ after }, PAGE_SIZE);
    for (const { id, paymentId } of page) events.set(paymentId, [...(events.get(paymentId) ?? []), id]);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.position;
  }
  return (id) => ({ payments: payments.get(id) ?? [], events: events.get(id) ?? [] });
}

function toRecorded({ payment, state }: RecordContent): RecordedPayment {
  const { id, status, final, amount, amountPaid, transId } = payment;
  const notifications = state.notifications.map((one) => notificationId(id, one));
  return { status, final, amount, amountPaid, transId, notifications };
}

type Listed = Awaited<ReturnType<Records['list']>>[number];
