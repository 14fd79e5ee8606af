import { z } from 'zod';
import type { ListPlace } from '../book/lists.js';
import { parsePaymentId } from '../payments/words/payment-id.js';

/** The latest time that there is a `Date` of, in ms since the epoch. */
const MAX_TIME_MS = 8_640_000_000_000_000;

const placeSchema = z.tuple([z.int().nonnegative().max(MAX_TIME_MS), z.string()]);

/** Makes an opaque string of a place in a list, which callers return unchanged. */
export function toCursor({ createdAt, id }: ListPlace): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

/** Reads a cursor. @returns `undefined` for one that isn't valid. */
export function readCursor(cursor: string): ListPlace | undefined {
  const [createdAt, text] = decode(cursor) ?? [];
  const id = parsePaymentId(text);
  if (createdAt === undefined || id === undefined) return undefined;
  const place = { createdAt, id };
  // Base64 can encode one position in several ways; only the canonical one is accepted.
  return toCursor(place) === cursor ? place : undefined;
}

function decode(cursor: string): z.infer<typeof placeSchema> | undefined {
  try {
    return placeSchema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

/** Characters of a cursor; none that the API makes has half as many. */
const MAX_CURSOR_LENGTH = 400;

export const NO_CURSOR = 'must be the nextCursor of another page, unchanged';

/** Makes the schema of a list's cursor. `read` says what a cursor means; `undefined` refuses it. */
export function cursorOf<T>(read: (cursor: string) => T | undefined) {
  return z
    .string()
    .max(MAX_CURSOR_LENGTH, { error: NO_CURSOR, abort: true })
    .transform((given, context) => {
      const found = read(given);
      if (found !== undefined) return found;
      context.addIssue({ code: 'custom', message: NO_CURSOR });
      return z.NEVER;
    });
}

/** The parameter of lists of payments. */
export const cursor = cursorOf(readCursor).optional().describe('The `nextCursor` of the previous page, unchanged');
