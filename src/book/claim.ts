import { z } from 'zod';
import { collectedBy } from '../payments/machine/refunds.js';
import { EMPTY_TIMELINE } from '../payments/views/timeline-entry.js';
import {
  needsApproval,
  type PaymentOrder,
  type PaymentTerms,
  refundOf,
  sendAtOf,
  serviceOf,
} from '../payments/words/order.js';
import { isFinalPayment, openPayment, type PaymentState, statusOf } from '../payments/words/payment-state.js';
import type { PersonsKey } from '../payments/words/person.js';
import { dayOf } from '../payments/words/time.js';
import { type AuditedCaller, writeAudit } from './audit.js';
import type { Book } from './book.js';
import type { Query } from './database.js';
import { digestsOf, type PayerDigests } from './payers.js';
import { recordPeople } from './people.js';
import { addToDay, lockState, refundedByOthers } from './rows.js';
import { waitOf } from './writing.js';

/** An order that is to become a payment. */
export interface Claim {
  readonly order: PaymentOrder;
  readonly terms: PaymentTerms;
  readonly merchant: string;
  /** Digest of the request's body: it shows when an Idempotency-Key is repeated with another body. */
  readonly fingerprint: string;
  readonly requestId: string;
  /** The merchant's limit for the payouts of a day, in XAF. */
  readonly maxPerDay?: number | undefined;
  /** The merchant's keys, with their persons: who orders a payout doesn't approve it with another of these. */
  readonly people?: readonly PersonsKey[] | undefined;
  /** Who orders it, to be written down. */
  readonly caller?: AuditedCaller | undefined;
}

export type Claimed =
  | { readonly kind: 'claimed' }
  /** The payment is there: this request has made it, or the same one before. */
  | { readonly kind: 'repeated'; readonly requestId: string }
  /** The payment is there, and was made by another request. */
  | {
      readonly kind: 'otherRequest';
      /** It can't be compared any more, since its payer's data was erased. */
      readonly isErased: boolean;
    }
  /** The collection isn't SUCCESSFUL, or the provider may still take it back. */
  | { readonly kind: 'notRefundable'; readonly collection?: PaymentState | undefined }
  /** `counted`: what the collection's other refunds take; XAF. */
  | { readonly kind: 'noRoom'; readonly collected: number; readonly counted: number }
  /** With the collection's other refunds, it is of more than goes out without another person's approval. */
  | { readonly kind: 'takesApproval' }
  /** `total`: the day's payouts, without this one; XAF. */
  | { readonly kind: 'overDay'; readonly day: string; readonly total: number };

/** Undoes the transaction of a claim that is refused. */
class Refused extends Error {
  constructor(readonly claimed: Claimed) {
    super(claimed.kind);
  }
}

/**
 * Claims a payment's id, its room in the collection that it refunds, and in the merchant's day: all, or nothing. An
 * order that is claimed is never refused any more. To claim again with the same request adds nothing.
 *
 * @param now ms since the epoch
 */
export async function claim(book: Book, claim: Claim, now: number): Promise<Claimed> {
  const payer = await digestsOf(book.seals, claim.order);
  try {
    return await book.transaction(async (query) => {
      if (!(await insertPayment(query, claim, payer, now))) return await existing(query, claim);
      await insertState(book, query, claim, now);
      await takeRefundRoom(book, query, claim);
      await takeDay(query, claim, now);
      if (claim.order.kind === 'payout') await recordPeople(query, claim.people ?? [], now);
      if (claim.caller !== undefined) {
        await writeAudit(book, { ...claim.caller, did: 'order', target: claim.order.id }, now, query);
      }
      return { kind: 'claimed' };
    });
  } catch (error) {
    if (error instanceof Refused) return error.claimed;
    throw error;
  }
}

/** Returns `false` when the id is taken. While another transaction is about to take it, its end is waited for. */
async function insertPayment(
  query: Query,
  claim: Claim,
  payer: PayerDigests | undefined,
  now: number,
): Promise<boolean> {
  const { order, terms, merchant, fingerprint, requestId } = claim;
  const state = openPayment(order, terms, now);
  const { phase } = state;
  const sendAt = sendAtOf(order);
  const isPayout = order.kind === 'payout';
  const { since, until } = waitOf(state);
  const rows = await query(
    `INSERT INTO payments (id, merchant, kind, method, fingerprint, request_id, created_at, status, final, held_for,
       waits_since, waits_until, send_at, amount, external_id, user_id, refund_of, refund_counts, day_counts, counts_on,
       payers, payers_key)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    [
      ...[order.id, merchant, serviceOf(order), order.kind, fingerprint, requestId, new Date(now)],
      ...[statusOf(state), isFinalPayment(state), phase.kind === 'held' ? phase.for : []],
      ...[since === undefined ? null : new Date(since), until === undefined ? null : new Date(until)],
      ...[sendAt === undefined ? null : new Date(sendAt), order.amount],
      ...[order.externalId ?? null, order.userId ?? null, refundOf(order) ?? null],
      ...[refundOf(order) === undefined ? 0 : order.amount, isPayout ? order.amount : 0, dayOfOrder(order, now)],
      ...[payer?.payers ?? [], payer?.key ?? null],
    ],
  );
  return rows.length > 0;
}

async function existing(query: Query, { order, fingerprint }: Claim): Promise<Claimed> {
  const [row] = await query('SELECT fingerprint, request_id, erased_at FROM payments WHERE id = $1', [order.id]);
  const found = z.object({ fingerprint: z.string(), requestId: z.string(), erasedAt: z.date().optional() }).parse(row);
  return found.fingerprint === fingerprint
    ? { kind: 'repeated', requestId: found.requestId }
    : { kind: 'otherRequest', isErased: found.erasedAt !== undefined };
}

async function insertState(book: Book, query: Query, { order, terms }: Claim, now: number): Promise<void> {
  const place = { table: 'states', id: order.id, version: 1 } as const;
  const sealed = await book.seals.seal(place, { state: openPayment(order, terms, now), timeline: EMPTY_TIMELINE });
  await query('INSERT INTO states (id, version, attempt, changed_at, wake_at, sealed) VALUES ($1, 1, 1, $2, $2, $3)', [
    order.id,
    new Date(now),
    sealed,
  ]);
}

/** Its own row counts already, and is left out of the sum. @throws {Refused} */
async function takeRefundRoom(book: Book, query: Query, { order, terms }: Claim): Promise<void> {
  const of = refundOf(order);
  if (of === undefined) return;
  const collection = (await lockState(query, book.seals, of))?.kept.state;
  const collected = collection && collectedBy(collection);
  if (collected === undefined) throw new Refused({ kind: 'notRefundable', collection });
  const counted = await refundedByOthers(query, of, order.id);
  if (counted + order.amount > collected) throw new Refused({ kind: 'noRoom', collected, counted });
  // Otherwise, an approval is passed by whoever refunds one part after the other.
  const isTogether = needsApproval({ ...order, amount: counted + order.amount }, terms);
  if (isTogether && !needsApproval(order, terms)) throw new Refused({ kind: 'takesApproval' });
}

/** @throws {Refused} */
async function takeDay(query: Query, { order, merchant, maxPerDay }: Claim, now: number): Promise<void> {
  const day = dayOfOrder(order, now);
  if (day === null) return;
  const total = await addToDay(query, merchant, day, order.amount);
  if (maxPerDay === undefined || total <= maxPerDay) return;
  throw new Refused({ kind: 'overDay', day, total: total - order.amount });
}

/** The day that a payout counts on until it is sent: that of its date, or of its order. */
function dayOfOrder(order: PaymentOrder, now: number): string | null {
  return order.kind === 'payout' ? dayOf(Math.max(now, order.sendAt ?? now)) : null;
}
