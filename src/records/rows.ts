import { z } from 'zod';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../payments/words/payment.js';
import { PAYMENT_KINDS, type PaymentId, type TransId } from '../payments/words/payment-id.js';
import type { Row } from './database.js';
import type { PaymentRun } from './payment-record.js';

/** Rows of payments and events. */

const ms = z.date().transform((date) => date.getTime());
const paymentId = z.string().transform((text) => text as PaymentId);
const content = z.instanceof(Buffer).optional();

const runRow = z.object({
  id: paymentId,
  merchant: z.string(),
  kind: z.enum(PAYMENT_KINDS),
  status: z.enum(PAYMENT_STATUSES),
  final: z.boolean(),
  amount: z.coerce.number(),
  amountPaid: z.coerce.number().optional(),
  transId: z
    .string()
    .transform((text) => text as TransId)
    .optional(),
  externalId: z.string().optional(),
  refundOf: paymentId.optional(),
  userId: z.string().optional(),
  createdAt: ms,
  releasedAt: ms.optional(),
  runId: z.string(),
  runStartedAt: ms,
  closedAt: ms.optional(),
  stopped: z.boolean(),
});

/** The columns of a run. */
export const RUN_COLUMNS = Object.keys(runRow.shape).map(toColumn);

/** Returns a field's name in SQL: `created_at` for `createdAt`. */
export function toColumn(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toRun(row: Row): PaymentRun {
  const { id, merchant, runId, runStartedAt: startedAt, closedAt, stopped, ...indexed } = runRow.parse(row);
  return { id, merchant, indexed, runId, startedAt, closedAt, stopped };
}

export const idRow = z.object({ id: paymentId });

/** The rest of a payment's row. */
export const contentRow = z.object({ content, erasedAt: z.date().optional() });

export const eventRow = z.object({
  position: z.coerce.number(),
  id: z.string(),
  type: z.enum(PAYMENT_EVENT_TYPES),
  merchant: z.string(),
  at: ms,
  paymentId,
  stopped: z.boolean(),
  content,
});

/** The recorder's progress. */
export const recorderRow = z.object({
  /** All payments that ended before this are recorded, in ms since the epoch; `undefined` before its first round. */
  recordedUntil: ms.optional(),
});

/** The columns that tell whether a run is recorded as it is now. */
export const knownRow = z.object({
  id: z.string(),
  createdAt: ms,
  runId: z.string(),
  runStartedAt: ms,
  closedAt: ms.optional(),
  status: z.string(),
  recordedAt: ms,
  unread: z.boolean(),
});
