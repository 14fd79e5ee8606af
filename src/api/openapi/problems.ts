import { problemType } from '../../http/problem.js';
import { examplePayment } from '../../schemas/payment.js';
import { type Problem, problemSchema } from '../../schemas/problem.js';
import { PROBLEMS, type ProblemCode } from '../../schemas/problems.js';
import type { Route } from '../route.js';
import { type HeaderName, headersOf, optionalHeadersOf, text } from './headers.js';
import type { JsonObject, SchemaComponents } from './schema-components.js';

const PROBLEM_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const codes = problemSchema.shape.code.options;

/** Lists the codes of the problems that a route responds with, in the order of the catalogue. */
export function problemsOf(route: Route): ProblemCode[] {
  const { path, problems = [] } = route;
  const found = new Set<ProblemCode>(['internal_error', ...problems]);
  const add = (...more: readonly ProblemCode[]) => {
    for (const code of more) found.add(code);
  };
  // A segment of a path may have invalid percent-encoding.
  if (path.includes(':')) add('invalid_request');
  if (path.includes(':id')) add('not_found', 'temporarily_unavailable', 'record_unreadable');
  if (route.scopes) {
    // Every call refuses parameters and bodies that it doesn't take.
    add('invalid_request', 'unauthenticated', 'forbidden', 'rate_limited', 'too_many_attempts');
    if (route.body) add('malformed_json', 'body_too_large', 'unsupported_media_type');
    if (route.idempotencyKey) add('invalid_idempotency_key');
  }
  return codes.filter((code) => found.has(code));
}

/** Lists the statuses of all responses of a route. */
export function statusesOf(route: Route): number[] {
  const problems = problemsOf(route).map((code) => PROBLEMS[code].status);
  return [...new Set([...Object.keys(route.responses).map(Number), ...problems])];
}

export function describeProblems(route: Route, schemas: SchemaComponents): JsonObject {
  const all = problemsOf(route);
  const statuses = [...new Set(all.map((code) => PROBLEMS[code].status))];
  const described = statuses.map((status) => {
    const here = all.filter((code) => PROBLEMS[code].status === status);
    const response = {
      description: here.map((code) => `\`${code}\`: ${PROBLEMS[code].cure}`).join('; '),
      headers: {
        // Another key's scopes don't help the person who has ordered a payout to approve it.
        ...(here.includes('same_person') ? optionalHeadersOf : headersOf)(...(PROBLEM_HEADERS[status] ?? [])),
        ...(status === 422 && {
          Location: text('The address of the payment, if the provider rejected one.'),
          ...optionalHeadersOf('Idempotent-Replayed'),
        }),
      },
      content: {
        'application/problem+json': {
          // As it is: with the codes of each response in its schema, generators make a type for every response. The
          // codes are in the description, and name the examples.
          schema: schemas.use(problemSchema, 'response'),
          examples: Object.fromEntries(here.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    };
    return [status, response];
  });
  return Object.fromEntries(described);
}

const ABOUT_A_PAYMENT: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'not_a_link',
  'not_expirable',
  'not_initiated',
  'not_cancelable',
  'not_under_review',
  'resolution_refused',
  'same_person',
  'digest_mismatch',
  'not_held',
  'rejected_by_provider',
  'not_refundable',
]);

const HAS_SUMS: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['more_than_refundable', 'refundable_mismatch']);

const NAMES_A_PAYMENT: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['idempotency_key_reused', 'record_unreadable']);

export function exampleOf(code: ProblemCode): Problem {
  const { title, status, example: detail } = PROBLEMS[code];
  return {
    type: problemType(code),
    title,
    status,
    detail,
    code,
    requestId: 'cbf8e74d-ef1f-47d3-8594-65f699b1cfea',
    ...(code === 'invalid_request' && { errors: [{ field: 'amount', message: 'must be at least 100 XAF' }] }),
    ...(NAMES_A_PAYMENT.has(code) && { paymentId: examplePayment.id }),
    ...(ABOUT_A_PAYMENT.has(code) && { payment: examplePayment }),
    ...(HAS_SUMS.has(code) && { collected: 5_000, refunded: 2_000, refunding: 0, refundable: 3_000 }),
  };
}
