import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Timeline } from '../payments/views/timeline-entry.js';
import { forMerchant, toPayment } from '../payments/views/to-payment.js';
import type { PaymentOrder } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import { isoTime } from '../payments/words/time.js';
import { listAudited, writeAudit } from './audit.js';
import type { Book } from './book.js';
import { eraseWhatIsOver } from './erasing.js';
import { notificationsOf } from './notifications.js';
import { allDigestsOf, MissingKeyError } from './payers.js';
import { findPayment, paymentRow } from './payments.js';
import { UnreadableRecordError } from './versioned-json.js';

/*
 * What the book holds of one payer, for those who have to show it or erase it. An erasure names what a preview has
 * shown. Both are written down, with who asked and why, and with a digest of the payer in place of the number or
 * address.
 */

/** A payer, and the merchant whose payments are meant: all, if none is named. */
export interface PayerAsked {
  /** A phone number as nine digits, or an e-mail address in lower case. */
  readonly payer: string;
  readonly merchant?: string | undefined;
}

/** Who shows or erases a payer's data, and the reason. */
export interface Reason {
  readonly by: string;
  readonly why: string;
}

const payersRow = paymentRow.pick({
  ...{ id: true, merchant: true, kind: true, status: true, final: true, amount: true, createdAt: true },
});

/** A payment of a payer; XAF, and ms since the epoch. */
export type PayersPayment = z.output<typeof payersRow>;

/** What an erasure would change. */
export interface ErasurePreview {
  /** By their creation. */
  readonly payments: readonly PayersPayment[];
  /** Names these payments, and begins with their number: an erasure repeats it. */
  readonly confirmation: string;
}

/** What an erasure has changed, and will change. */
export interface Erasure {
  readonly payments: readonly PaymentId[];
  /** Those that are under way: they are erased once they are over, by whichever worker runs then. */
  readonly underWay: readonly PaymentId[];
}

/** A time that a payer's data was shown or erased. */
export interface PayerRequest {
  /** ms since the epoch */
  readonly at: number;
  readonly kind: 'export' | 'erase';
  readonly by: string;
  /** A keyed digest of the payer, in hex. */
  readonly payer: string;
  /** The rest is missing when its encryption key is. */
  readonly merchant?: string | undefined;
  readonly payments?: number | undefined;
  readonly why?: string | undefined;
}

/** What would be erased isn't what was shown. */
export class OtherErasureError extends Error {
  override readonly name = 'OtherErasureError';
}

/** Lists what {@link erasePayer} would change, and changes nothing. @throws {MissingKeyError} */
export async function previewErasure(book: Book, asked: PayerAsked): Promise<ErasurePreview> {
  return await preview(book, asked, await allDigestsOf(book.query, book.seals, asked.payer));
}

/**
 * Erases a payer's personal data from the payments that a preview has shown.
 *
 * @param confirmation of the preview that was seen
 * @throws {OtherErasureError} when something else would be erased than was seen.
 * @throws {MissingKeyError} when some of it can't be found or read. Nothing is erased in either case.
 */
export async function erasePayer(
  book: Book,
  asked: PayerAsked,
  reason: Reason,
  confirmation: string,
  now: number,
): Promise<Erasure> {
  const digests = await allDigestsOf(book.query, book.seals, asked.payer);
  const { payments, confirmation: expected } = await preview(book, asked, digests);
  if (expected !== confirmation) {
    throw new OtherErasureError(
      `Nothing was erased: ${confirmation} names other payments than the ${payments.length} that would be erased now. Look at the preview again.`,
    );
  }
  const ids = payments.map(({ id }) => id);
  for (const id of ids) await readable(book, id);
  await book.transaction(async (query) => {
    await query(
      'INSERT INTO erasures (payment_id, at) SELECT unnest($1::text[]), $2 ON CONFLICT (payment_id) DO NOTHING',
      [ids, new Date(now)],
    );
    await writeAudit(book, entryOf('erasePayer', asked, digests, ids.length, reason), now, query);
  });
  // A worker goes on with it if this process ends meanwhile.
  const erased = new Set(await eraseWhatIsOver(book, now, ids));
  return { payments: ids.filter((id) => erased.has(id)), underWay: ids.filter((id) => !erased.has(id)) };
}

/** Returns all that the book holds of a payer, for JSON. @throws {MissingKeyError} */
export async function exportPayer(book: Book, asked: PayerAsked, reason: Reason, now: number): Promise<object> {
  const digests = await allDigestsOf(book.query, book.seals, asked.payer);
  const payments: object[] = [];
  for (const { id } of await paymentsOf(book, asked, digests)) payments.push(await show(book, id, now));
  const requests = await requestsOf(book, digests);
  await writeAudit(book, entryOf('exportPayer', asked, digests, payments.length, reason), now);
  return {
    ...asked,
    payments,
    requests: requests.map(({ at, kind, payments: count }) => ({ at: isoTime(at), kind, payments: count })),
  };
}

/** Lists when data was shown and erased, oldest first: of one payer, or of all. @throws {MissingKeyError} */
export async function payerRequests(book: Book, payer?: string): Promise<readonly PayerRequest[]> {
  return await requestsOf(book, payer === undefined ? undefined : await allDigestsOf(book.query, book.seals, payer));
}

async function preview(book: Book, asked: PayerAsked, digests: readonly Buffer[]): Promise<ErasurePreview> {
  const payments = await paymentsOf(book, asked, digests);
  const seen = [asked.payer, asked.merchant ?? null, payments.map(({ id }) => id)];
  const digest = createHash('sha256').update(JSON.stringify(seen)).digest('hex');
  return { payments, confirmation: `${payments.length}-${digest.slice(0, 16)}` };
}

/** Those that are erased already can't be found by their payer any more. */
async function paymentsOf(
  book: Book,
  { merchant }: PayerAsked,
  digests: readonly Buffer[],
): Promise<readonly PayersPayment[]> {
  const rows = await book.query(
    `SELECT id, merchant, kind, status, final, amount, created_at FROM payments
      WHERE payers && $1::bytea[] AND ($2::text IS NULL OR merchant = $2) ORDER BY created_at, id`,
    [digests, merchant ?? null],
  );
  return rows.map((row) => payersRow.parse(row));
}

interface Readable {
  readonly merchant: string;
  readonly state: PaymentState;
  readonly timeline: Timeline;
}

/** @throws {MissingKeyError} Without the key, nobody knows what else would be lost with the personal data. */
async function readable(book: Book, id: PaymentId): Promise<Readable> {
  try {
    const found = await findPayment(book, id);
    if (found === undefined) throw new Error(`there is no payment ${id}`);
    return { merchant: found.merchant, ...found.kept };
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    const why = `${error.message}. If its encryption key is missing, add that to ENCRYPTION_KEYS, after the present one, and try again.`;
    throw new MissingKeyError(`Nothing was done: ${why}`, { cause: error });
  }
}

async function show(book: Book, id: PaymentId, now: number): Promise<object> {
  const { merchant, state, timeline } = await readable(book, id);
  const notifications = await notificationsOf(book, id, now);
  return {
    merchant,
    payment: forMerchant(toPayment(state)),
    order: ofPayer(state.order),
    timeline,
    notifications: notifications.map(({ id: webhookId, type, at }) => ({ id: webhookId, type, at: isoTime(at) })),
  };
}

/** Whoever ordered a payout isn't the payer. */
const ofPayer = (order: PaymentOrder) => ({ ...order, orderedByKeys: undefined });

function entryOf(
  did: 'exportPayer' | 'erasePayer',
  { merchant }: PayerAsked,
  [digest]: readonly Buffer[],
  payments: number,
  { by, why }: Reason,
) {
  if (digest === undefined) throw new Error('a payer has no digest');
  return { who: by, did, target: digest.toString('hex'), detail: { merchant, payments, why } };
}

const detailSchema = z.object({
  merchant: z.string().optional(),
  payments: z.number().optional(),
  why: z.string().optional(),
});

async function requestsOf(book: Book, digests: readonly Buffer[] | undefined): Promise<readonly PayerRequest[]> {
  const targets = digests?.map((digest) => digest.toString('hex'));
  const made = await listAudited(book, ['exportPayer', 'erasePayer'], targets);
  return made.map(({ at, did, who, target = '', detail = {} }) => ({
    at,
    kind: did === 'erasePayer' ? 'erase' : 'export',
    by: who,
    payer: target,
    ...detailSchema.parse(detail),
  }));
}
