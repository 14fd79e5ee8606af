import { z } from 'zod';
import {
  IDENTIFIER_PATTERN,
  MAX_SEARCH_LIMIT,
  MAX_TRANS_ID_LENGTH,
  MINIMUM_AMOUNT,
  PROVIDER_LINK_LIFETIME_MS,
  SEARCH_LIMIT_DEFAULT,
  STATUS_CALLS_PER_WINDOW,
  STATUS_WINDOW_MS,
} from '../payments/words/limits.js';
import { MEDIUMS, PHONE_MEDIUMS, PROVIDER_STATUSES } from '../payments/words/transaction.js';
import { readEmail } from './contact.js';

/**
 * The provider's interface as zod schemas, as it is on the wire. The provider's client reads with them and the sandbox
 * answers with them, so that the two always agree.
 */

/** The provider's limits, for the sandbox, which may import only this file and contact.ts of the product. */
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
/** Refuses only text that is no e-mail address at all: the interface says no more than "email format". */
const emailSchema = z.string().refine((text) => readEmail(text) !== undefined, 'must be an e-mail address');
/** Longest web address, in characters: browsers and messages accept no longer ones. */
const MAX_ADDRESS = 8_000;
/**
 * Addresses that people are sent to: only http and https. The length is checked first, as parsing a long host of marks
 * takes seconds.
 */
const webAddressSchema = z
  .string()
  .max(MAX_ADDRESS, { abort: true })
  .pipe(z.url({ protocol: /^https?$/ }));
const transIdSchema = z.preprocess(asText, z.string().min(1).max(MAX_TRANS_ID_LENGTH));

/** Optional fields of every request. */
const requestFields = {
  email: emailSchema.optional(),
  userId: identifierSchema.optional(),
  externalId: identifierSchema.optional(),
  message: z.string().optional(),
};

/** Body of `POST /initiate-pay`. */
export const initiatePaySchema = z.object({
  amount: amountSchema,
  redirectUrl: webAddressSchema.optional(),
  ...requestFields,
});
export type InitiatePayRequest = z.infer<typeof initiatePaySchema>;

/** Body of `POST /direct-pay`. */
export const directPaySchema = z.object({
  amount: amountSchema,
  phone: z.string().min(1),
  medium: phoneMediumSchema.optional(),
  name: z.string().optional(),
  ...requestFields,
});
export type DirectPayRequest = z.infer<typeof directPaySchema>;

/**
 * Body of `POST /payout`: a phone number is required unless the medium is `platform`, which requires an e-mail address.
 */
export const payoutSchema = z
  .object({
    amount: amountSchema,
    phone: z.string().min(1).optional(),
    medium: mediumSchema.optional(),
    name: z.string().optional(),
    ...requestFields,
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
export const expirePaySchema = z.object({ transId: z.string().min(1).max(MAX_TRANS_ID_LENGTH) });

/**
 * A field that the provider may leave out. `null` and an empty text count as left out, too: the interface doesn't say
 * what it sends.
 */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .preprocess((value) => (value === '' ? undefined : value), schema.nullish())
    .transform((value) => value ?? undefined);

/**
 * Reads an identifier as text, also when it is sent as a number, or with spaces around it. What the book can't keep is
 * replaced: unpaired surrogates, and U+0000.
 */
function asText(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  return String(value).trim().toWellFormed().replaceAll('\0', '\u{fffd}');
}

/** A whole number, which may be sent as text, or with a zero fraction. */
function asNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?\d{1,15}(?:\.0+)?\s*$/.test(value) ? Number(value) : value;
}

/** One of a few words, in upper or lower case. */
const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.preprocess((value) => {
    const given = typeof value === 'string' ? value.trim().replaceAll('_', ' ').toLowerCase() : undefined;
    return words.find((word) => word.toLowerCase() === given) ?? value;
  }, z.enum(words));

const wholeNumber = z.preprocess(asNumber, z.int());

/** Longest reference that is kept: each is part of a payment's history. */
const referenceSchema = z.preprocess(asText, z.string().max(200));

/** A field that decides nothing: an unknown value must not make the rest unreadable. */
const incidental = <Schema extends z.ZodType>(schema: Schema) => optional(schema).catch(undefined);

/** An identifier from the request, none of which is longer. An empty one counts as left out. */
const identifying = optional(z.preprocess(asText, z.string())).transform(
  (value) => value?.slice(0, 200).toWellFormed() || undefined,
);

/**
 * The Transaction resource: the answer to status and expire, the elements of lists and searches, and the webhook's
 * body.
 */
export const transactionSchema = z.object({
  transId: transIdSchema,
  status: oneOf(PROVIDER_STATUSES),
  medium: incidental(oneOf(MEDIUMS)),
  serviceName: incidental(z.string()),
  transType: optional(oneOf(['Collection', 'Payout'])),
  amount: optional(wholeNumber),
  revenue: incidental(wholeNumber),
  payerName: incidental(z.string()),
  email: incidental(z.string()),
  redirectUrl: incidental(z.string()),
  externalId: identifying,
  userId: identifying,
  webhook: incidental(z.string()),
  reason: incidental(z.string()),
  financialTransId: incidental(referenceSchema),
  dateInitiated: incidental(z.string()),
  dateConfirmed: incidental(z.string()),
});
export type WireTransaction = z.infer<typeof transactionSchema>;

/** The Error resource: the body of every 4XX. Frameworks make a list of the messages when several fields are wrong. */
export const errorSchema = z.object({
  message: z.union([
    z.string(),
    z
      .array(z.string())
      .min(1)
      .transform((messages) => messages.join('; ')),
  ]),
});

/** The Initiation result; only initiate-pay returns a link. */
export const initiationSchema = z.object({
  message: incidental(z.string()),
  transId: transIdSchema,
  dateInitiated: incidental(z.string()),
});
export const linkInitiationSchema = initiationSchema.extend({ link: webAddressSchema });

/** The Balance resource. */
export const balanceSchema = z.object({ service: z.string(), balance: wholeNumber, currency: z.string() });
