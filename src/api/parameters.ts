import { z } from 'zod';
import { MAX_TRANS_ID_LENGTH } from '../payments/words/limits.js';
import type { TransId } from '../payments/words/payment-id.js';
import { isDay, startOf } from '../payments/words/time.js';
import { pathSegment } from '../provider/calls.js';
import { SEPARATORS } from './routes/csv.js';

/** Parameters that several routes take. */

/** Makes the schema of a parameter that is a whole number. */
export const wholeNumber = (range: { min: number; max: number; fallback: number; unit?: string }) => {
  const { min, max, fallback, unit = '' } = range;
  const message = `must be a whole number${unit} from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, { error: message, abort: true })
    .refine((text) => Number(text) >= min && Number(text) <= max, message)
    .transform(Number)
    .default(fallback)
    .meta({ parameter: { type: 'integer', minimum: min, maximum: max, default: fallback } });
};

/** Characters of a time: with fractions of a second beyond any clock's. */
const MAX_TIME_LENGTH = 40;

/** A day with or without a time, in one string: of a union of formats, a client generated in Go can send neither. */
const TIME = new RegExp(
  z.regexes.datetime({ offset: true }).source.replaceAll('\\d', '[0-9]').replace('T', '(?:T').replace(/\$$/, ')?$'),
);

/** Parsed into ms since the epoch. */
export const time = z
  .string()
  .regex(TIME, {
    error: ({ input }) =>
      typeof input === 'string' && /T[0-9:.]{4,20} [0-9]{2}:?[0-9]{2}$/.test(input)
        ? 'has a space before its offset: in an address, write the + of +01:00 as %2B'
        : 'must be a time in ISO 8601, such as 2026-11-21T08:20:32Z or 2026-11-21',
    abort: true,
  })
  .max(MAX_TIME_LENGTH)
  .transform((text) => (isDay(text) ? startOf(text) : Date.parse(text)))
  .describe('A day alone is a day in Douala (UTC+1), as in statements');

const A_DAY = { error: 'must be a day, such as 2026-11-21', abort: true } as const;

/** A day in Douala. */
export const day = z.string().max(10, A_DAY).refine(isDay, A_DAY).meta({ format: 'date' });

const PAGE_SIZE = { max: 100, default: 20 } as const;

export const limit = wholeNumber({ min: 1, max: PAGE_SIZE.max, fallback: PAGE_SIZE.default }).describe(
  'Payments per page',
);

/** What stands between the cells of an answer as CSV. */
export const separator = z
  .enum(SEPARATORS)
  .default('comma')
  .describe('For `Accept: text/csv`: what stands between two cells. Excel in French expects `semicolon`');

/** The name of a merchant: operators alone may name another than their own. */
export const merchantName = z.string().regex(/^[a-zA-Z0-9-]{1,40}$/, "must be a merchant's name");

/** A transaction's id, in any form that can be a segment of a question's path at the provider. */
export const transId = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .max(MAX_TRANS_ID_LENGTH)
  .regex(/^(?!\.{1,2}$)/, { error: "must be a transaction's id", abort: true })
  .refine((given) => pathSegment(given) !== undefined, "must be a transaction's id")
  .describe("The transaction's id in the provider's records")
  .transform((given) => given as TransId);
