import { z } from 'zod';
import { IDENTIFIER_PATTERN, MINIMUM_AMOUNT } from '../../payments/limits.js';
import { parsePaymentId } from '../../payments/payment-id.js';
import { readExpiresIn } from './expires-in.js';
import { readPhoneNumber } from './phone-number.js';

/** The fields of orders, each in one place; messages are said of the field. */

/** Longest message to a payer and longest name, in characters: as much as a phone or a receipt shows. */
const LONGEST_TEXT = 200;

const METADATA = { pairs: 50, key: 40, value: 500 } as const;

/** The message for any wrong value; a missing one is told apart. */
const says = (message: string) => (issue: { readonly input?: unknown }) =>
  issue.input === undefined ? 'is required' : message;

const text = z.string().trim().min(1, 'must not be empty');

/** XAF. The provider takes whole amounts from its minimum on; the interface names no greatest one. */
export const amount = z
  .int({ error: says('must be a whole number of XAF') })
  .min(MINIMUM_AMOUNT, `must be at least ${MINIMUM_AMOUNT} XAF`);

/** The merchant's own identifier: kept to the provider's pattern, as it may be sent on. */
export const identifier = z
  .string()
  .regex(IDENTIFIER_PATTERN, 'must have 1 to 100 characters of a-z, A-Z, 0-9, "-" and "_"');

/** The merchant's own name of its client. A payment's id is none: payments are found by it at the provider. */
export const userId = identifier.refine(
  (given) => parsePaymentId(given) === undefined,
  'must not look like a payment’s id: col_… and pay_… are kept for those',
);

export const email = z.email({ error: says('must be an e-mail address') });
export const name = text.max(LONGEST_TEXT);
export const message = text.max(LONGEST_TEXT);

export const phone = z.string().transform((given, context) => {
  const read = readPhoneNumber(given);
  if (read !== undefined) return read;
  context.addIssue({
    code: 'custom',
    message: 'must be a Cameroonian mobile number: nine digits beginning with 6, with or without +237',
  });
  return z.NEVER;
});

/** The scheme is checked with its slashes: `https:shop.example` would be mended by browsers, but is no address. */
export const redirectUrl = z
  .url({ protocol: /^https?$/, error: says('must be an http or https address'), abort: true })
  .regex(/^https?:\/\//i, 'must be an http or https address');

/** In ms once read. */
export const expiresIn = z.string().transform((given, context) => {
  const read = readExpiresIn(given);
  if (read !== undefined) return read;
  context.addIssue({
    code: 'custom',
    message: 'must be a time from 10s to 24h, written like "90s", "15m" or "24h"',
  });
  return z.NEVER;
});

/** The merchant's own pairs, given back as they came and sent to nobody. */
export const metadata = z
  .record(z.string(), z.string())
  .superRefine((pairs, context) => {
    const problem = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const entries = Object.entries(pairs);
    if (entries.length > METADATA.pairs) problem([], `must have at most ${METADATA.pairs} pairs`);
    for (const [key, value] of entries) {
      if (key.length === 0 || key.length > METADATA.key) {
        problem([key], `must have a name of 1 to ${METADATA.key} characters`);
      }
      if (value.length > METADATA.value) problem([key], `must have at most ${METADATA.value} characters`);
    }
  })
  .default({});

/** A field that the other method of collection has, and this one refuses. */
export const onlyFor = (method: string) => z.never({ error: `is only for ${method}` }).optional();
