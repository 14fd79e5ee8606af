import { z } from 'zod';
import { type PaymentId, parsePaymentId } from '../payments/payment-id.js';

/** A payment's place in a list, newest first: by when it began (ms since the epoch), then by its id. */
export interface Place {
  readonly createdAt: number;
  readonly id: PaymentId;
}

const placeSchema = z.tuple([z.int().nonnegative(), z.string()]);

/** The place in a form that callers give back and don't look into. */
export function toCursor({ createdAt, id }: Place): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

/** The place that a cursor stands for; `undefined` when it is none of ours. */
export function readCursor(cursor: string): Place | undefined {
  const [createdAt, text] = decode(cursor) ?? [];
  const id = parsePaymentId(text);
  if (createdAt === undefined || id === undefined) return undefined;
  const place = { createdAt, id };
  // What decodes to a place but isn't how we write it was not written by us.
  return toCursor(place) === cursor ? place : undefined;
}

function decode(cursor: string): z.infer<typeof placeSchema> | undefined {
  try {
    return placeSchema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

/** Whether a payment comes after another one in a list. */
export function isAfter(one: Place, other: Place): boolean {
  return compare(one, other) > 0;
}

/** Orders places, newest first. */
export function compare(one: Place, other: Place): number {
  if (one.createdAt !== other.createdAt) return other.createdAt - one.createdAt;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
