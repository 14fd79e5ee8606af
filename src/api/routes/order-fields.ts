import { z } from 'zod';
import { IDENTIFIER_PATTERN, MINIMUM_AMOUNT } from '../../payments/words/limits.js';
import { MAX_EMAIL_LENGTH, nineDigits, readEmail } from '../../provider/contact.js';
import { PLAIN_LINE } from '../../text/visible-text.js';

/** The fields that collections and payouts have in common. */

/** Longest message or name, in characters: as many as a phone or a receipt shows. */
const MAX_TEXT_LENGTH = 200;

/** Bytes that a payment's metadata may have as JSON: it is written again with every change of the payment. */
const MAX_METADATA_BYTES = 32_000;

const MAX_METADATA = { pairs: 50, name: 40, value: 500 } as const;

/** The message for text that isn't {@link PLAIN_LINE}. */
export const NOT_PLAIN = 'must not contain line breaks or other control characters';

/**
 * Text of one line, without spaces at its ends. Characters are counted as by people and JSON Schema, not in units of
 * UTF-16.
 */
export const textOf = (maxLength: number) =>
  z
    .string()
    .regex(PLAIN_LINE, { error: NOT_PLAIN, abort: true })
    .regex(/[^\s\ufeff]/, { error: 'must not be empty', abort: true })
    .trim()
    .refine((given) => [...given].length <= maxLength, `must have at most ${maxLength} characters`)
    .meta({ maxLength });

const text = textOf(MAX_TEXT_LENGTH);

/** The message for a wrong value, and `is required` for a missing one. */
const orRequired = (message: string) => (issue: { readonly input?: unknown }) =>
  issue.input === undefined ? 'is required' : message;

/** In XAF. The provider has a minimum; it documents no maximum. */
export const amount = z
  .int({
    error: (issue) =>
      typeof issue.input === 'string'
        ? 'must be a whole number of XAF, without quotes'
        : orRequired('must be a whole number of XAF')(issue),
  })
  .min(MINIMUM_AMOUNT, `must be at least ${MINIMUM_AMOUNT} XAF`)
  .describe('In XAF, which has no smaller unit');

/** An identifier of the merchant's own. It matches the pattern that the provider has for identifiers. */
export const identifier = z
  .string()
  .regex(IDENTIFIER_PATTERN, 'must have 1 to 100 characters of a-z, A-Z, 0-9, "-" and "_"');

/**
 * The merchant's identifier of its customer. It can't be a payment's id, because the provider's records are searched by
 * payment ids.
 */
const userId = identifier
  .regex(/^(?!(?:col|pay)_.)/, "must not look like a payment's id: col_… and pay_… are reserved")
  .describe(
    "Your own identifier of the customer, returned with the payment. It can't be the customer's phone number, name or e-mail address",
  );

/** Sent to the provider with the domain in ASCII. */
const email = z
  .string({ error: orRequired('must be an e-mail address') })
  .max(MAX_EMAIL_LENGTH, { error: `must have at most ${MAX_EMAIL_LENGTH} characters`, abort: true })
  .meta({ format: 'email' })
  .transform(orInvalid(readEmail, 'must be an e-mail address'));
export const name = text;

/** Longest phone number, in characters, as people write it. */
const MAX_PHONE_LENGTH = 40;

/**
 * A Cameroonian mobile number, as people write and copy it. Parsed into the provider's form: nine digits.
 *
 * @example phone.parse('+237 6 77-00-00-00') // '677000000'
 */
export const phone = z
  .string()
  .max(MAX_PHONE_LENGTH, { error: `must have at most ${MAX_PHONE_LENGTH} characters`, abort: true })
  .meta({
    examples: ['677000000'],
    // A pattern can't express the rest that is accepted: full-width digits, invisible marks.
    pattern: '^[ ().-]*(?:(?:(?:\\+|00)[ ().-]*)?2[ ().-]*3[ ().-]*7[ ().-]*)?6(?:[ ().-]*[0-9]){8}[ ().-]*$',
  })
  .transform(
    orInvalid(nineDigits, 'must be a Cameroonian mobile number: nine digits beginning with 6, with or without +237'),
  );

/** Transforms a text by `read`, and refuses one that it can't read. */
function orInvalid(read: (text: string) => string | undefined, message: string) {
  return (given: string, context: z.core.$RefinementCtx): string => {
    const value = read(given);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
}

/** The merchant's own data, returned unchanged. The provider doesn't get it. */
const metadata = z
  .record(z.string(), z.string())
  .superRefine((pairs, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const entries = Object.entries(pairs);
    if (entries.length > MAX_METADATA.pairs) refuse([], `must have at most ${MAX_METADATA.pairs} pairs`);
    for (const [key, value] of entries) {
      if (key === '' || [...key].length > MAX_METADATA.name) {
        refuse([key], `must have a name of 1 to ${MAX_METADATA.name} characters`);
      }
      if ([...value].length > MAX_METADATA.value) {
        refuse([key], `must have at most ${MAX_METADATA.value} characters`);
      }
    }
    if (Buffer.byteLength(JSON.stringify(pairs)) > MAX_METADATA_BYTES) {
      refuse([], `must have at most ${MAX_METADATA_BYTES} bytes as JSON: send less, or a reference to it`);
    }
  })
  // The same in JSON Schema, which can't be made from a function.
  .meta({
    description: `Your own data, returned with the payment: up to ${MAX_METADATA.pairs} strings, and ${MAX_METADATA_BYTES} bytes as JSON. The provider doesn't get it`,
    examples: [{ cart: '17' }],
    maxProperties: MAX_METADATA.pairs,
    propertyNames: { type: 'string', minLength: 1, maxLength: MAX_METADATA.name },
    additionalProperties: { type: 'string', maxLength: MAX_METADATA.value },
  })
  .default({});

/** The fields of every order, besides its amount. */
export const orderFields = {
  email: email.optional().describe("The address for the provider's receipt"),
  userId: userId.optional(),
  externalId: identifier
    .optional()
    .describe(
      "Your own identifier of the payment, returned with it. It can't be the payer's phone number, name or e-mail address",
    ),
  message: text.optional().describe('The purpose of the payment'),
  metadata,
};
