import { z } from 'zod';
import { currentState, type FoundPayment, readPayment, waitUntilFinal } from '../../engine/find-payment.js';
import { listPayments as list } from '../../engine/list-payments.js';
import type { Place } from '../../engine/places.js';
import { recheckPayment } from '../../engine/reopen-payment.js';
import { failureTypeOf } from '../../engine/temporal-calls.js';
import { updatePayment } from '../../engine/update-payment.js';
import { findByTransId, isQueryable } from '../../engine/visibility.js';
import { isOperator } from '../../http/auth.js';
import { onlyFor, variantError } from '../../http/body.js';
import { notChecked, recordsUnavailable } from '../../http/problem.js';
import type { Actor } from '../../payments/machine/events.js';
import { allOf, type Decision } from '../../payments/words/decision.js';
import { PAYMENT_STATUSES, type Payment } from '../../payments/words/payment.js';
import { PAYMENT_KINDS, parsePaymentId, type TransId } from '../../payments/words/payment-id.js';
import { isDay, startOf } from '../../payments/words/time.js';
import { pathSegment } from '../../provider/client.js';
import { REFERENCE } from '../../records/payment-record.js';
import { refreshUpdate, rejectUpdate, resolveUpdate } from '../../workflows/messages.js';
import { type ApiContext, authenticatedRoute, type ResponseOf } from '../route.js';
import { paymentPageSchema, paymentSchema } from '../schemas/payment.js';
import { forceSchema } from '../schemas/review.js';
import { identifier, textOf } from './create-payment.js';
import { paymentCsv } from './payment-csv.js';
import { actorOf, ownerOf, ownPayment, refusal, type Viewer, viewerOf } from './payment-resource.js';

/** A parameter that is a number. */
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

/** Shorter than the usual time limit of proxies. */
const MAX_WAIT_SECONDS = 60;

export const getPayment = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id',
  summary: 'A payment, at once or as soon as it is final',
  operationId: 'getPayment',
  tag: 'Payments',
  responses: { 200: { description: 'The payment as it is now.', schema: paymentSchema } },
  problems: ['not_found', 'temporarily_unavailable', 'records_unavailable', 'record_unreadable'],
  scopes: ['read', 'review'],
  query: z.strictObject({
    wait: wholeNumber({ min: 0, max: MAX_WAIT_SECONDS, fallback: 0, unit: ' of seconds' }).describe(
      'How many seconds to wait for the payment to become final',
    ),
  }),
  isOutOfTurn: ({ wait }) => wait > 0,
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const { wait } = request.query;
    const { payment } =
      found.running && wait > 0
        ? await context.requestLimits.whileWaiting(request.caller.key, () =>
            waitUntilFinal(context, found, wait * 1_000, request.hangUp),
          )
        : await readPayment(context, found);
    return { status: 200, json: viewerOf(context, request.caller, found.owner)(payment) };
  },
});

/** Characters of a time: with fractions of a second beyond any clock's. */
const MAX_TIME_LENGTH = 40;

/** Parsed into ms since the epoch. */
export const time = z
  .union([z.iso.datetime({ offset: true }).max(MAX_TIME_LENGTH), z.iso.date()], {
    error: 'must be a time in ISO 8601, such as 2026-11-21T08:20:32Z or 2026-11-21',
  })
  .transform((text) => (isDay(text) ? startOf(text) : Date.parse(text)))
  .describe('A day alone is a day in Douala (UTC+1), as in statements');

const PAGE_SIZE = { max: 100, default: 20 } as const;

export const limit = wholeNumber({ min: 1, max: PAGE_SIZE.max, fallback: PAGE_SIZE.default }).describe(
  'Payments per page',
);

/** The latest time that there is a `Date` of, in ms since the epoch. */
const MAX_TIME_MS = 8_640_000_000_000_000;

const placeSchema = z.tuple([z.int().nonnegative().max(MAX_TIME_MS), z.string()]);

/** A place in a list as an opaque string, which callers return unchanged. */
export function toCursor({ createdAt, id }: Place): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

/** The place that a cursor stands for; `undefined` when it isn't a valid cursor. */
export function readCursor(cursor: string): Place | undefined {
  const [createdAt, text] = decode(cursor) ?? [];
  const id = parsePaymentId(text);
  if (createdAt === undefined || id === undefined) return undefined;
  const place = { createdAt, id };
  // Base64 can encode one place in several ways; only the canonical one is accepted.
  return toCursor(place) === cursor ? place : undefined;
}

function decode(cursor: string): z.infer<typeof placeSchema> | undefined {
  try {
    return placeSchema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

/** Characters of a cursor; none of ours has half as many. */
const MAX_CURSOR_LENGTH = 400;

export const NO_CURSOR = 'must be the nextCursor of another page, unchanged';

/** The cursor of a list, whose meaning `read` finds; `undefined` is none. */
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

/** Characters of a transaction's id. */
const MAX_TRANS_ID_LENGTH = 200;

/** The name of a merchant: operators alone may name another than their own. */
export const merchantName = z.string().regex(/^[a-zA-Z0-9-]{1,40}$/, "must be a merchant's name");

/**
 * The caller's payments, or those of every owner for operators, as Temporal's index has them; as CSV when the caller
 * prefers that. The next page is in `nextCursor`, and in the header `Link`.
 */
export const listPayments = authenticatedRoute({
  method: 'get',
  path: '/v1/payments',
  summary: 'Payments, newest first',
  description:
    'Your payments, as the index has them; those of every merchant for operators. The index can lag behind by a moment: read a payment itself before you act on it. `medium`, `revenue`, `fee`, `reason`, `failureCode` and `updatedAt` come from the records: a payment lacks them until it is recorded as it stands, about a minute after its end, and where there are no records. A page can be shorter than `limit` although others follow: the last one has no `nextCursor`.',
  operationId: 'listPayments',
  tag: 'Payments',
  responses: {
    200: {
      description: 'A page of payments; as CSV with `Accept: text/csv`.',
      headers: ['Link'],
      schema: paymentPageSchema,
      alternative: 'text/csv',
    },
  },
  problems: ['temporarily_unavailable', 'records_unavailable', 'no_records'],
  scopes: ['read', 'review'],
  query: z.strictObject({
    status: z.enum(PAYMENT_STATUSES).optional(),
    final: z
      .enum(['true', 'false'], { error: 'must be true or false' })
      .transform((text) => text === 'true')
      .optional()
      .meta({ parameter: { type: 'boolean' } })
      .describe(
        "Whether the outcome is certain: `false` for all that is still open, REVIEW and a link's FAILED included",
      ),
    kind: z.enum(PAYMENT_KINDS).optional(),
    externalId: identifier.optional(),
    userId: identifier.optional(),
    merchant: merchantName.optional().describe('For operators: the payments of one merchant'),
    transId: z
      .string()
      .max(MAX_TRANS_ID_LENGTH, { error: "must be a transaction's id", abort: true })
      .refine(isQueryable, "must be a transaction's id")
      .optional()
      .describe("The transaction's id in the provider's records"),
    financialTransId: z
      .string()
      .regex(REFERENCE, "must be a mobile operator's reference")
      .optional()
      .describe(
        "The mobile operator's reference, which a payer's text message has. Only the records know it: a payment is found about a minute after its end",
      ),
    'created[gte]': time
      .optional()
      .describe('Created at or after this time; a day alone begins at midnight in Douala. In curl, use `-g`'),
    'created[lt]': time.optional().describe('Created before this time; a day alone begins at midnight in Douala'),
    limit,
    cursor: cursorOf(readCursor).optional().describe('The `nextCursor` of the previous page, unchanged'),
  }),
  async handle({ query, caller, preferred, address }, context) {
    const {
      limit: pageSize,
      cursor: after,
      'created[gte]': createdFrom,
      'created[lt]': createdBefore,
      merchant,
      ...wanted
    } = query;
    const filter = { ...wanted, owner: ownerOf(caller, merchant), createdFrom, createdBefore };
    const { payments, unreadable, last, isIncomplete } = await list(context, filter, {
      pageSize,
      after,
      order: 'newest first',
    });
    const nextCursor = last && toCursor(last);
    const headers = {
      Vary: 'Accept',
      ...(nextCursor && { Link: `<${nextPage(address, nextCursor)}>; rel="next"` }),
    };
    if (preferred(['application/json', 'text/csv']) === 'text/csv') {
      // It has no room to say so.
      if (isIncomplete) throw recordsUnavailable(INCOMPLETE);
      const rows = [
        ...payments.map(({ payment, owner }) => ({ ...payment, merchant: owner })),
        ...unreadable.map(({ id, owner }) => ({ id, merchant: owner })),
      ];
      const text = paymentCsv(rows, isOperator(caller));
      return { status: 200, headers: { ...headers, 'Content-Type': 'text/csv; charset=utf-8' }, text };
    }
    return {
      status: 200,
      headers,
      json: {
        data: payments.map(({ payment, owner }) => viewerOf(context, caller, owner)(payment)),
        unreadable: unreadable.map(({ id, owner }) => viewerOf(context, caller, owner)({ id })),
        ...(nextCursor && { nextCursor }),
        ...(isIncomplete && { incomplete: true as const }),
      },
    };
  },
});

const INCOMPLETE =
  "Payments of long ago would be missing, because the records can't be read at the moment. Try again shortly, or ask for JSON, which says so.";

/** The address of a request, with another cursor. */
function nextPage(address: string, nextCursor: string): string {
  const { pathname, searchParams } = new URL(address, 'http://api');
  searchParams.set('cursor', nextCursor);
  return `${pathname}?${searchParams}`;
}

const refreshResponses = {
  200: { description: 'The payment, after the provider was asked.', schema: paymentSchema },
  202: {
    description: "The provider hasn't answered within 10 seconds: read the payment later.",
    schema: paymentSchema,
  },
} as const;

/**
 * Responds with the payment once the provider has been asked. A final payment is returned as it is, unless the caller
 * is an operator: then it is compared with the provider's records again.
 */
export const refreshPayment = authenticatedRoute({
  method: 'post',
  path: '/v1/payments/:id/refresh',
  summary: 'Ask the provider for the status now, within its rate limit',
  description:
    "A final payment is returned as it is, unless the key has the scope `review`: then it is compared with the provider's records again.",
  operationId: 'refreshPayment',
  tag: 'Payments',
  responses: refreshResponses,
  problems: [
    'not_found',
    'not_initiated',
    'resolution_refused',
    'too_many_requests',
    'temporarily_unavailable',
    'records_unavailable',
    'record_unreadable',
    'provider_unavailable',
  ],
  scopes: ['read', 'review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const view = viewerOf(context, request.caller, found.owner);
    const by = actorOf(request, found.owner);
    if (!isOperator(request.caller)) return await refresh(context, found, by, view);
    const { payment } = await currentState(context, found);
    return payment.final ? await recheck(context, payment, by, view) : await refresh(context, found, by, view);
  },
});

async function refresh(
  context: ApiContext,
  found: FoundPayment,
  by: Actor,
  view: Viewer,
): Promise<ResponseOf<typeof refreshResponses>> {
  const update = await updatePayment(context, found, (handle) =>
    context.updates.send(
      found.id,
      'refresh',
      (updateId) => handle.executeUpdate(refreshUpdate, { updateId, args: [{ by }] }),
      by,
    ),
  );
  const json = view(update.result.payment);
  if (update.kind === 'refused') throw refusal(update.code, json, update.message);
  return { status: update.kind === 'underway' && !json.final ? 202 : 200, json };
}

async function recheck(
  context: ApiContext,
  before: Payment,
  by: Actor,
  view: Viewer,
): Promise<ResponseOf<typeof refreshResponses>> {
  const json = view(before);
  try {
    const answer = await recheckPayment(context, before.id, by, () =>
      refusal(
        'resolution_refused',
        json,
        "The payment's workflow was stopped by hand, so it can no longer be checked.",
      ),
    );
    if (answer === undefined) return { status: 202, json };
    return { status: 200, json: view(answer.value.payment) };
  } catch (error) {
    throw failureTypeOf(error) === 'NotChecked' ? notChecked(json) : error;
  }
}

const WHERE_REVIEW_IS = 'must be the number of the review that you decide on: review.number in GET /v1/payments/{id}';

const why = textOf(500).describe('Shown to the merchant');
const whyRejected = textOf(500).describe('Shown to operators');
/** The number of the review that the operator has seen: if it has changed, the decision is refused. */
const review = z
  .int(WHERE_REVIEW_IS)
  .min(1, WHERE_REVIEW_IS)
  .describe('The number of the review that you decide on: `review.number` of the payment');
/** What the decision overrules. */
const force = forceSchema.default(false).transform((given) => (typeof given === 'boolean' ? given : allOf(given, [])));
const transId = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .max(MAX_TRANS_ID_LENGTH)
  .regex(/^(?!\.{1,2}$)/, { error: "must be a transaction's id", abort: true })
  .refine((given) => pathSegment(given) !== undefined, "must be a transaction's id")
  .describe("The transaction's id in the provider's records")
  .transform((given) => given as TransId);

const resolutionBody = z
  .discriminatedUnion(
    'action',
    [
      z
        .strictObject({ action: z.enum(['resend', 'fail']), review, why, force, transId: onlyFor('match') })
        .meta({ id: 'ResendOrFailRequest' }),
      z.strictObject({ action: z.literal('match'), review, why, force, transId }).meta({ id: 'MatchRequest' }),
      z.strictObject({ action: z.literal('reject'), review, why: whyRejected }).meta({ id: 'RejectRequest' }),
    ],
    { error: variantError('action', 'must be "resend", "fail", "match" or "reject"') },
  )
  .meta({ id: 'ResolutionRequest' });

/**
 * Responds with 200 when the decision is carried out, with 202 when it waits for a second person, and with 409 and the
 * reason when it is refused.
 */
export const resolvePayment = authenticatedRoute({
  method: 'post',
  path: '/v1/payments/:id/resolve',
  summary: 'Decide on a payment in REVIEW',
  description:
    "For operators. A decision is checked with the provider before it is carried out, and can be refused. On a payout above its merchant's limit, it is carried out when a second person, whose key has another name, has seen it and made the same decision: until then, `review.proposed` has the first one's, which `reject` voids. To propose or reject gives the review another number. `reject` also takes back a `resend` that waits to be sent, by the number of the review that it was decided on: the payment is in REVIEW again.",
  operationId: 'resolvePayment',
  tag: 'Payments',
  examples: {
    match: {
      summary: "The provider's records show the transaction",
      value: { action: 'match', review: 1, why: 'Found in the portal', transId: 'ntLE9hHMsiKRMFBw' },
    },
    fail: {
      summary: 'No money has moved',
      value: { action: 'fail', review: 1, why: 'The provider has confirmed by phone that nothing was sent' },
    },
    reject: {
      summary: 'Void the decision that waits for a second person',
      value: { action: 'reject', review: 1, why: 'The portal shows a transaction' },
    },
  },
  responses: {
    200: {
      description: 'The decision was carried out, or the one that waited is void.',
      schema: paymentSchema,
    },
    202: {
      description:
        "The decision waits for a second person, and is in `review.proposed`; or the provider hasn't answered yet: read the payment later.",
      schema: paymentSchema,
    },
  },
  problems: [
    'not_found',
    'not_under_review',
    'resolution_refused',
    'temporarily_unavailable',
    'records_unavailable',
    'record_unreadable',
  ],
  scopes: ['review'],
  body: resolutionBody,
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const view = viewerOf(context, request.caller, found.owner);
    const send = await updateOf(context, found, request.body, request.caller.owner, view);
    const update = await updatePayment(context, found, send);
    const json = view(update.result.payment);
    switch (update.kind) {
      case 'done':
        return { status: json.review?.proposed === undefined ? 200 : 202, json };
      case 'underway':
        return { status: 202, json };
      case 'refused':
        throw refusal(update.code, json, update.message, update.insist);
      case 'ended':
        throw json.status === 'REVIEW'
          ? refusal(
              'resolution_refused',
              json,
              "The payment's workflow was stopped by hand, so it can no longer be decided on.",
            )
          : refusal('not_under_review', json);
    }
  },
});

/** What a decision sends to the payment. `by`: the name of the operator's key. */
async function updateOf(
  context: ApiContext,
  found: FoundPayment,
  body: z.output<typeof resolutionBody>,
  by: string,
  view: Viewer,
): Promise<Parameters<typeof updatePayment>[2]> {
  const { review, why } = body;
  if (body.action === 'reject') {
    return (handle) => handle.executeUpdate(rejectUpdate, { args: [{ review, by, why }] });
  }
  const { action, force } = body;
  const decision: Decision = action === 'match' ? { action, transId: body.transId } : { action };
  await refuseTaken(context, found, decision, view);
  return (handle) => handle.executeUpdate(resolveUpdate, { args: [{ decision, review, why, force, by }] });
}

/**
 * Refuses to match a transaction that another payment already has. The workflow asks the provider whose transaction it
 * is, but only Temporal's index, which can lag behind, shows that another payment has it.
 */
async function refuseTaken(context: ApiContext, found: FoundPayment, decision: Decision, view: Viewer): Promise<void> {
  if (decision.action !== 'match') return;
  const holders = await findByTransId(context, decision.transId);
  const other = holders.find((id) => id !== found.id);
  if (other === undefined) return;
  const { payment } = await currentState(context, found);
  const message = `Transaction ${decision.transId} already belongs to the payment ${other}.`;
  throw refusal('resolution_refused', view(payment), message);
}
