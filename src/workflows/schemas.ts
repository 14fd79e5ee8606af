import * as z from 'zod/mini';
import { IDENTIFIER_PATTERN } from '../payments/words/limits.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { MadeStatement, PaymentInput, StatementInput } from './messages.js';

/*
 * Readers of the inputs and results of workflows. Temporal's command line and Web UI let anybody send a workflow
 * anything, and a workflow that fails over it fails at each try, for ever.
 */

/**
 * Reads a value of unknown origin; `what` names it in the problem. Fields that it doesn't know stay: another version
 * may need them.
 */
export type Reader<T> = (value: unknown, what: string) => Read<T>;

/** `problem` says where a value isn't what it should be, and never what it is: that may be somebody's phone number. */
export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Hides a schema, since a worker freezes what modules export, and a schema of zod's changes when it is first used. */
function reader<T>(schema: z.ZodMiniType<T>): Reader<T> {
  return (value, what) => {
    const { success, data, error } = schema.safeParse(value);
    if (success) return { kind: 'read', value: data };
    const problems = error.issues.map(({ path, message }) => `${[what, ...path].join('.')}: ${message}`);
    return { kind: 'unreadable', problem: problems.join('; ') };
  };
}

const { boolean: flag, looseObject: object, optional, string: text } = z;

const v = z.literal(1);
const count = z.int().check(z.nonnegative());
/** A day. One of zod's patterns can't be used once it is frozen. */
const date = text().check(
  z.regex(/^\d{4}-\d\d-\d\d$/),
  z.refine((day) => !Number.isNaN(Date.parse(day)), 'no such day'),
);
const paymentId = z.custom<PaymentId>((id) => typeof id === 'string' && IDENTIFIER_PATTERN.test(id), 'no such id');

export const paymentInput: Reader<PaymentInput> = reader(object({ v, id: paymentId }));
export const statementInput: Reader<StatementInput> = reader(
  object({ v, day: optional(date), soFar: optional(flag()) }),
);
export const madeStatement: Reader<MadeStatement> = reader(
  object({ date, version: count, complete: flag(), payments: count, differences: count }),
);
