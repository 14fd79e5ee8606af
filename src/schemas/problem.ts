import { z } from 'zod';
import type { FieldError } from '../http/problem.js';
import { described, schemaOf, xaf } from './fields.js';
import { paymentSchema } from './payment.js';
import { PROBLEMS, type ProblemCode } from './problems.js';
import { refundSums } from './refund.js';
import { objectionsSchema } from './review.js';

/** The codes of all problems: an enum wants a tuple with a first element. */
const problemCodes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

const fieldErrorSchema = schemaOf<FieldError>()({
  field: described(z.string(), 'A field by its path, such as `metadata.colour`, or a parameter by its name'),
  message: z.string(),
}).meta({ id: 'FieldError', description: 'The error in one field. `field message` is a sentence' });

/** A problem document (RFC 9457). */
export const problemSchema = z
  .object({
    type: described(
      z.string().meta({ format: 'uri-reference' }),
      'The address of the description of this kind of problem, relative to the address of the request',
    ),
    title: z.string(),
    status: described(z.int(), 'The HTTP status'),
    detail: described(z.string(), 'The error and its remedy, for people'),
    code: described(z.enum(problemCodes), 'Stable: let programs act on it'),
    requestId: described(z.string(), "The request's X-Request-Id: give it to your operator"),
    errors: described(z.array(fieldErrorSchema).optional(), 'Each field or parameter that is wrong'),
    payment: described(paymentSchema.optional(), 'The payment as it is now'),
    paymentId: described(z.string().optional(), 'The payment that the request was about'),
    force: described(
      z.union([z.boolean(), objectionsSchema]).optional(),
      'The `force` with which the decision is taken in spite of what stands against it in `detail`',
    ),
    transactionAmount: xaf("The amount of the match's transaction, when it differs from the order's").optional(),
    ...z.object(refundSums).partial().shape,
    beingMade: described(z.literal(true).optional(), "The statement isn't there yet, because it is being made"),
  })
  .meta({ id: 'Problem', description: 'A problem document (RFC 9457)' });
export type Problem = z.output<typeof problemSchema>;
