import { z } from 'zod';
import {
  IDENTIFIER_PATTERN,
  MAX_SEARCH_LIMIT,
  MINIMUM_AMOUNT,
  PROVIDER_LINK_LIFETIME_MS,
  SEARCH_LIMIT_DEFAULT,
  STATUS_CALLS_PER_WINDOW,
  STATUS_WINDOW_MS,
} from '../payments/limits.js';
import { MEDIUMS, PHONE_MEDIUMS, PROVIDER_STATUSES } from '../payments/transaction.js';
import { readEmail } from './contact.js';

/**
 * The provider's interface as zod schemas, as it is on the wire. The provider's client reads with them and the sandbox
 * answers with them, so that the two always agree.
 */

/** The provider's limits, for the sandbox, which may import only this file of the product. */
export const providerLimits = {
  minimumAmount: MINIMUM_AMOUNT,
  linkLifetimeMs: PROVIDER_LINK_LIFETIME_MS,
  statusCallsPerWindow: STATUS_CALLS_PER_WINDOW,
  statusWindowMs: STATUS_WINDOW_MS,
  searchLimitMax: MAX_SEARCH_LIMIT,
  searchLimitDefault: SEARCH_LIMIT_DEFAULT,
} as const;

/** The two credential headers that every endpoint requires. */
export const credentialHeaders = { user: 'apiuser', key: 'apikey' } as const;

/** The provider's message when a link has expired already. */
export const ALREADY_EXPIRED = 'Link already expired';

const amountSchema = z.int().min(MINIMUM_AMOUNT);
export const identifierSchema = z.string().regex(IDENTIFIER_PATTERN);
export const mediumSchema = z.enum(MEDIUMS);
export const phoneMediumSchema = z.enum(PHONE_MEDIUMS);
export const statusSchema = z.enum(PROVIDER_STATUSES);
/** What isn't an address at all is refused; the interface says no more than "email format". */
const emailSchema = z.string().refine((text) => readEmail(text) !== undefined, 'must be an e-mail address');
/** Addresses that people are sent to: only http and https. */
const webAddressSchema = z.url({ protocol: /^https?$/ });
/** Names one transaction. The interface gives no maximum length; ours is far longer than any that was seen. */
const transIdSchema = z.string().min(1).max(200);

/** Body of `POST /initiate-pay`. */
export const initiatePaySchema = z.object({
  amount: amountSchema,
  email: emailSchema.optional(),
  redirectUrl: webAddressSchema.optional(),
  userId: identifierSchema.optional(),
  externalId: identifierSchema.optional(),
  message: z.string().optional(),
});
export type InitiatePayRequest = z.infer<typeof initiatePaySchema>;

/** Body of `POST /direct-pay`. */
export const directPaySchema = z.object({
  amount: amountSchema,
  phone: z.string().min(1),
  medium: phoneMediumSchema.optional(),
  name: z.string().optional(),
  email: emailSchema.optional(),
  userId: identifierSchema.optional(),
  externalId: identifierSchema.optional(),
  message: z.string().optional(),
});
export type DirectPayRequest = z.infer<typeof directPaySchema>;

/** Body of `POST /payout`: a phone number is required unless the medium is `platform`, which requires an e-mail address. */
export const payoutSchema = z
  .object({
    amount: amountSchema,
    phone: z.string().min(1).optional(),
    medium: mediumSchema.optional(),
    name: z.string().optional(),
    email: emailSchema.optional(),
    userId: identifierSchema.optional(),
    externalId: identifierSchema.optional(),
    message: z.string().optional(),
  })
  .superRefine((request, context) => {
    if (request.medium === 'platform' && request.email === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['email'],
        message: 'email is required when medium is platform',
      });
    }
    if (request.medium !== 'platform' && request.phone === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['phone'],
        message: 'phone is required unless medium is platform',
      });
    }
  });
export type PayoutRequest = z.infer<typeof payoutSchema>;

/** Body of `POST /expire-pay`. */
export const expirePaySchema = z.object({ transId: transIdSchema });

/** A field that the provider may leave out. `null` also counts as left out: the interface doesn't say which it sends. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** A field that decides nothing: an unknown value must not make the rest unreadable. */
const incidental = <Schema extends z.ZodType>(schema: Schema) => optional(schema).catch(undefined);

/** An identifier that was sent with the request. An empty one counts as left out. */
const identifying = optional(z.string()).transform((value) => value || undefined);

/** The Transaction resource: the answer to status and expire, the elements of lists and searches, and the webhook's body. */
export const transactionSchema = z.object({
  transId: transIdSchema,
  status: statusSchema,
  medium: incidental(mediumSchema),
  serviceName: incidental(z.string()),
  transType: optional(z.enum(['Collection', 'Payout'])),
  amount: optional(z.int()),
  revenue: incidental(z.int()),
  payerName: incidental(z.string()),
  email: incidental(z.string()),
  redirectUrl: incidental(z.string()),
  externalId: identifying,
  userId: identifying,
  webhook: incidental(z.string()),
  reason: incidental(z.string()),
  financialTransId: incidental(z.string()),
  dateInitiated: incidental(z.string()),
  dateConfirmed: incidental(z.string()),
});
export type WireTransaction = z.infer<typeof transactionSchema>;

/** The Error resource: the body of every 4XX. */
export const errorSchema = z.object({ message: z.string() });

/** The Initiation result; only initiate-pay returns a link. */
export const initiationSchema = z.object({
  message: incidental(z.string()),
  transId: transIdSchema,
  dateInitiated: incidental(z.string()),
});
export const linkInitiationSchema = initiationSchema.extend({ link: webAddressSchema });

/** The Balance resource. */
export const balanceSchema = z.object({ service: z.string(), balance: z.int(), currency: z.string() });
