import { z } from 'zod';
import { DECISION_ACTIONS } from '../payments/words/decision.js';
import { HELD_FOR } from '../payments/words/order.js';
import { FAILURE_CODES, PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from '../payments/words/payment.js';
import { PROVIDER_STATUSES } from '../payments/words/transaction.js';
import { described, time, xaf } from './fields.js';

const eventSchema = z
  .object({
    at: described(time, 'The time of the event, or of the first of several'),
    lastAt: described(time.optional(), 'The time of the last of several'),
    count: described(z.int().optional(), 'The number of times, when there were several'),
    type: z.enum([
      'created',
      'held',
      'approved',
      'approval_refused',
      'withdrawal_requested',
      'sending',
      'accepted',
      'rejected',
      'send_failed',
      'unanswered',
      'looked_up',
      'asked',
      'provider_notification',
      'expiring',
      'expiry_answered',
      'refresh_requested',
      'recheck_requested',
      'review_opened',
      'decision_proposed',
      'decision_rejected',
      'decided',
      'status_changed',
      'merchant_notification',
      'notification_requested',
      'omitted',
      'stopped',
    ]),
    source: described(
      z.enum(['merchant', 'provider', 'timer', 'operator', 'system', 'notification', 'temporal']),
      "The event's origin. `notification`: it came in the provider's name, and proves nothing. `temporal`: somebody asked for it with Temporal's own tools",
    ),
    summary: described(z.string(), 'The event, for people'),
    status: described(z.enum(PAYMENT_STATUSES).optional(), "The payment's status from then on"),
    final: z.literal(true).optional(),
    amountPaid: xaf("The amount that moved, when it differs from the order's").optional(),
    reason: z.string().optional(),
    failureCode: z.enum(FAILURE_CODES).optional(),
    transId: z.string().optional(),
    by: described(
      z.string().optional(),
      "The person who decided or asked for it; a merchant's timeline names an operator only for a decision. Of `sending`: `policy` or `operator`, if it is sent once more. Of a check, `statement`",
    ),
    for: described(z.array(z.enum(HELD_FOR)).readonly().optional(), 'What a held payout waits for'),
    approvedBy: described(z.string().optional(), 'The second operator, where the decision took two'),
    proposedBy: described(z.string().optional(), 'The operator whose decision was rejected'),
    cause: z.enum(['credentials', 'throttled', 'connection', 'unchecked']).optional(),
    answer: described(z.string().optional(), "The provider's answer"),
    transactions: z
      .array(z.object({ transId: z.string(), status: z.enum(PROVIDER_STATUSES) }))
      .readonly()
      .optional(),
    other: described(z.literal(true).optional(), "It is about a transaction that isn't the payment's, so far"),
    providerStatus: z.enum(PROVIDER_STATUSES).optional(),
    review: z.int().optional(),
    action: z.enum(DECISION_ACTIONS).optional(),
    forced: z.literal(true).optional(),
    number: described(z.int().optional(), "The notification's number"),
    event: z.enum(PAYMENT_EVENT_TYPES).optional(),
    delivery: z.enum(['delivered', 'failed', 'abandoned', 'no_address']).optional(),
    refundOf: described(z.string().optional(), 'The collection that the payment refunds'),
    entries: described(z.int().optional(), 'The number of entries left out here'),
  })
  .meta({ id: 'TimelineEntry' });
export type TimelineResource = z.output<typeof eventSchema>;

export const timelineSchema = z
  .object({ data: z.array(eventSchema) })
  .meta({ id: 'Timeline', description: 'The events of a payment, oldest first' });
