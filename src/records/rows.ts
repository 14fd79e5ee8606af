import { z } from 'zod';
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../payments/words/payment.js';
import { PAYMENT_KINDS, type PaymentId, type TransId } from '../payments/words/payment-id.js';
import type { Row } from './database.js';
import type { PaymentRun } from './payment-record.js';

/** What PostgreSQL gives of payments and events: a bigint as text, and null for what isn't there. */

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullable().transform((value) => value ?? undefined);
const ms = z.date().transform((date) => date.getTime());
const paymentId = z.string().transform((text) => text as PaymentId);
const content = optional(z.instanceof(Buffer));

const runRow = z.object({
  id: paymentId,
  merchant: z.string(),
  kind: z.enum(PAYMENT_KINDS),
  status: z.enum(PAYMENT_STATUSES),
  final: z.boolean(),
  amount: z.coerce.number(),
  amount_paid: optional(z.coerce.number()),
  trans_id: optional(z.string().transform((text) => text as TransId)),
  external_id: optional(z.string()),
  user_id: optional(z.string()),
  created_at: ms,
  run_id: z.string(),
  run_started_at: ms,
  closed_at: optional(ms),
  stopped: z.boolean(),
});

/** The columns of a run. */
export const RUN_COLUMNS = Object.keys(runRow.shape).join(', ');

export function toRun(given: Row): PaymentRun {
  const row = runRow.parse(given);
  const { id, merchant, kind, status, final, amount, stopped } = row;
  return {
    id,
    merchant,
    indexed: {
      kind,
      status,
      final,
      amount,
      amountPaid: row.amount_paid,
      transId: row.trans_id,
      externalId: row.external_id,
      userId: row.user_id,
      createdAt: row.created_at,
    },
    runId: row.run_id,
    startedAt: row.run_started_at,
    closedAt: row.closed_at,
    stopped,
  };
}

/** The rest of a payment's row. */
export const contentRow = z.object({ content, erased_at: optional(z.date()) });

export const eventRow = z.object({
  position: z.coerce.number(),
  id: z.string(),
  type: z.enum(PAYMENT_EVENT_TYPES),
  merchant: z.string(),
  at: ms,
  payment_id: paymentId,
  stopped: z.boolean(),
  content,
});

export const recorderRow = z.object({ recorded_until: optional(ms) });

/** What tells whether a run is recorded as it is. */
export const knownRow = z.object({
  id: z.string(),
  created_at: ms,
  run_id: z.string(),
  run_started_at: ms,
  closed_at: optional(ms),
  status: z.string(),
  recorded_at: ms,
  unread: z.boolean(),
});
