import { z } from 'zod';
import { DECISION_ACTIONS, OBJECTIONS } from '../payments/words/decision.js';
import type {
  PaymentResolution,
  PaymentReview,
  ProposedDecision,
  RejectedDecision,
} from '../payments/words/payment.js';
import { described, schemaOf, time, xaf } from './fields.js';

const OVERRULED = 'The objections that the operator overruled; without it, `forced` is for whatever came up';
export const objectionsSchema = z.array(z.enum(OBJECTIONS)).readonly();

/** The objections that a decision overrules. */
export const forceSchema = z
  .union([z.boolean(), objectionsSchema], {
    error: `must be a list of ${OBJECTIONS.join(', ')}; or true, which overrules whatever comes up`,
  })
  .meta({
    id: 'Force',
    description: 'The objections that a decision overrules; `true`: all, also those that you have not read',
  });

const proposedSchema = schemaOf<ProposedDecision>()({
  action: z.enum(DECISION_ACTIONS),
  transId: described(z.string().optional(), 'The transaction that the payment is to be matched with'),
  transactionAmount: xaf("The amount of that transaction, when it differs from the order's").optional(),
  by: described(z.string(), "The operator's name: the second person has another"),
  why: z.string(),
  forced: described(
    z.literal(true).optional(),
    'The operator overrules an objection, or decided before `decideFrom`. The second person has to, too',
  ),
  overruled: described(objectionsSchema.optional(), OVERRULED),
  at: time,
}).meta({
  id: 'ProposedDecision',
  description: 'The decision that one person proposes. Nothing is done until another person agrees',
});

const rejectedSchema = schemaOf<RejectedDecision>()({
  action: z.enum(DECISION_ACTIONS),
  transId: described(z.string().optional(), 'The transaction that the payment was to be matched with'),
  proposedBy: described(z.string(), 'The operator who had decided so'),
  by: described(z.string(), 'Who rejected it; the same operator, if it was withdrawn'),
  why: z.string(),
  at: time,
}).meta({ id: 'RejectedDecision', description: 'A decision that was rejected or withdrawn' });

export const reviewSchema = schemaOf<PaymentReview>()({
  number: described(
    z.int(),
    'Grows with every new finding, and with every decision that is proposed or rejected; a decision has to name it',
  ),
  since: described(time, 'Since when an operator has been needed'),
  decideFrom: described(
    time,
    "The earliest time at which an operator can decide without `force` that no money has moved: until then, the provider's records may be incomplete",
  ),
  secondPerson: described(
    z.literal(true).optional(),
    "A decision takes two people: the payout is above its merchant's limit",
  ),
  proposed: described(proposedSchema.optional(), 'For operators: the decision that waits for a second person'),
  rejected: described(
    rejectedSchema.optional(),
    'For operators: the latest decision that was rejected or withdrawn, unless there has been another since',
  ),
}).meta({ id: 'PaymentReview', description: 'The review that the payment is under' });

export const resolutionSchema = schemaOf<PaymentResolution>()({
  action: z.enum(DECISION_ACTIONS),
  transId: described(z.string().optional(), 'The transaction that the payment was matched with'),
  review: described(z.int(), 'The number of the review that was decided on'),
  by: described(z.string(), "The operator's name"),
  why: z.string(),
  forced: described(z.literal(true).optional(), 'The operator overruled an objection, or decided before `decideFrom`'),
  overruled: described(objectionsSchema.optional(), OVERRULED),
  at: time,
  revocable: described(z.literal(true).optional(), 'A `resend` that waits to be sent: `reject` takes it back'),
  approval: described(
    z
      .object({
        by: described(z.string(), "The second operator's name"),
        why: z.string(),
      })
      .optional(),
    'The second person, where the decision took two',
  ),
}).meta({ id: 'PaymentResolution', description: "The operator's decision that ended the last review" });
