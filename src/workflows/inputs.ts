import { ApplicationFailure, log } from '@temporalio/workflow';
import * as z from 'zod/mini';
import { IDENTIFIER_PATTERN } from '../payments/words/limits.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { MadeStatement, PaymentInput, StatementInput } from './messages.js';

/*
 * Reads the inputs of workflows, and what somebody may have completed a step with by hand: Temporal's command line and
 * Web UI let anybody send a workflow anything, and a workflow that fails over it fails at each try, for ever.
 */

/**
 * Reads a value of unknown origin. Fields that it doesn't know stay: another version may need them.
 *
 * @throws ApplicationFailure that ends the workflow before it has done anything
 */
export type Reader<T> = (value: unknown) => T;

/** The type of the ApplicationFailure that refuses an unknown input. */
const UNREADABLE = 'Unreadable';

/** Hides a schema, since a worker freezes what modules export, and a schema of zod's changes when it is first used. */
function reader<T>(schema: z.ZodMiniType<T>): Reader<T> {
  return (value) => {
    const { success, data, error } = schema.safeParse(value);
    if (success) return data;
    // It says where the value isn't what it should be, and never what it is: that may be somebody's phone number.
    const problem = error.issues.map(({ path, message }) => `${['input', ...path].join('.')}: ${message}`).join('; ');
    log.warn("a workflow was started by hand with an input that it can't take, and ends", { problem });
    throw ApplicationFailure.nonRetryable(problem, UNREADABLE);
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

export const readPaymentInput: Reader<PaymentInput> = reader(object({ v, id: paymentId }));
export const readStatementInput: Reader<StatementInput> = reader(
  object({ v, day: optional(date), soFar: optional(flag()) }),
);
export const readMadeStatement: Reader<MadeStatement> = reader(
  object({ date, version: count, complete: flag(), payments: count, differences: count }),
);
