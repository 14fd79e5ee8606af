import { z } from 'zod';
import { statusSchema } from '../../src/provider/schemas.js';
import { ENDPOINTS, type EndpointName } from '../endpoints/endpoint.js';
import { answerForm, notificationForm } from './odd-forms.js';

const ms = z.int().min(0);
const DAY_MS = 24 * 60 * 60 * 1000;
const retryAfter = z.int().min(0).optional();

/**
 * The scope of a fault. By default it applies to the next match, once. With `rate` it applies to that share of matches,
 * each decided separately by the seed; with `forMs` it applies for that long (the sandbox's clock); `count` limits
 * either.
 */
const scope = {
  endpoint: z.enum([...ENDPOINTS, 'webhook']).optional(),
  externalId: z.string().min(1).optional(),
  transId: z.string().min(1).optional(),
  userId: z.string().min(1).optional(),
  count: z.int().min(1).optional(),
  rate: z.number().min(0).max(1).optional(),
  forMs: ms.optional(),
  seed: z.union([z.string(), z.number()]).optional(),
};

/** Faults that replace or delay a response. Only the first matching rule applies to a request. */
const responseFault = z.discriminatedUnion('fault', [
  /**
   * No response: the connection is held until the client closes it, at most `holdMs` of real time. `questionTimeout`
   * is limited to the GET endpoints and expire-pay, and has no effect at the provider.
   */
  z.strictObject({
    ...scope,
    fault: z.enum(['timeoutBeforeCommit', 'timeoutAfterCommit', 'questionTimeout']),
    holdMs: ms.max(DAY_MS).default(120_000),
  }),
  /** A 5xx with an HTML page, as from a proxy. */
  z.strictObject({
    ...scope,
    fault: z.enum(['errorBeforeCommit', 'errorAfterCommit']),
    status: z.int().min(500).max(599).default(502),
  }),
  /** The connection is reset. */
  z.strictObject({ ...scope, fault: z.enum(['resetBeforeCommit', 'resetAfterCommit']) }),
  /** Processes the request, then responds 200 with an invalid body. */
  z.strictObject({
    ...scope,
    fault: z.literal('garbage'),
    body: z.enum(['html', 'truncated', 'wrongShape', 'empty']).default('html'),
  }),
  /** The provider's own 429, without processing the request; `retryAfter` (seconds) sets `Retry-After`. */
  z.strictObject({ ...scope, fault: z.literal('throttle'), retryAfter }),
  /** A 429 with an HTML page, as from a gateway: instead of passing the request on, or after doing so. */
  z.strictObject({
    ...scope,
    fault: z.enum(['gatewayThrottleBeforeCommit', 'gatewayThrottleAfterCommit']),
    retryAfter,
  }),
  /** The correct response, delayed by `delayMs` of real time. */
  z.strictObject({ ...scope, fault: z.literal('slow'), delayMs: ms.max(DAY_MS).default(5000) }),
  /** The correct response, in a form that a client must read all the same. */
  z.strictObject({ ...scope, fault: z.literal('oddForm'), form: answerForm.default('chunked') }),
  /** 401, as if the credentials had been revoked. */
  z.strictObject({ ...scope, fault: z.literal('wrongCredentials') }),
  /** 400 to a payout: insufficient balance. */
  z.strictObject({ ...scope, fault: z.literal('lowBalance') }),
]);

/** The fields of a Transaction that a fault can omit: all but the required ones. */
const omittableField = z.enum([
  'externalId',
  'userId',
  'amount',
  'transType',
  'medium',
  'revenue',
  'reason',
  'financialTransId',
  'dateInitiated',
  'dateConfirmed',
]);
export type OmittableField = z.infer<typeof omittableField>;

/** Faults that make the content of a response wrong. All matching rules apply. */
const contentFault = z.discriminatedUnion('fault', [
  /** payment-status returns the previous status, if there is one. */
  z.strictObject({ ...scope, fault: z.literal('statusRegression') }),
  /** Dates in responses and notifications are off by `skewMs`. */
  z.strictObject({
    ...scope,
    fault: z.literal('clockSkew'),
    skewMs: z
      .int()
      .min(-365 * DAY_MS)
      .max(365 * DAY_MS)
      .default(DAY_MS),
  }),
  /** A new transaction is missing from lists and searches for `delayMs` of the sandbox's clock. */
  z.strictObject({ ...scope, fault: z.literal('listLag'), delayMs: ms.default(30_000) }),
  /** Omits a transaction that an earlier list or search contained. Applies to each transaction separately. */
  z.strictObject({ ...scope, fault: z.literal('listFlap') }),
  /** Truncates a list or search to its first `size` transactions. */
  z.strictObject({ ...scope, fault: z.literal('listPage'), size: z.int().min(0).default(1) }),
  /** payment-status responds as it would have `delayMs` (sandbox clock) ago: 404 for a newer transaction. */
  z.strictObject({ ...scope, fault: z.literal('statusLag'), delayMs: ms.default(30_000) }),
  /** Omits fields of a transaction. Applies to each transaction of a list separately. */
  z.strictObject({
    ...scope,
    fault: z.literal('missingFields'),
    fields: z.array(omittableField).min(1).default(['externalId', 'userId', 'amount', 'transType']),
  }),
  /** Gives a transaction an undocumented status. Applies to each transaction of a list separately. */
  z.strictObject({
    ...scope,
    fault: z.literal('unknownStatus'),
    status: z
      .string()
      .min(1)
      .max(50)
      .refine((status) => !statusSchema.safeParse(status).success, 'status: must not be one of the documented statuses')
      .default('REVERSED'),
  }),
]);

/** Faults of notifications. All matching rules apply; delays are in ms of the sandbox's clock. */
const webhookFault = z.discriminatedUnion('fault', [
  z.strictObject({ ...scope, fault: z.literal('webhookDrop') }),
  z.strictObject({ ...scope, fault: z.literal('webhookDouble') }),
  z.strictObject({ ...scope, fault: z.literal('webhookDelay'), delayMs: ms.default(60_000) }),
  /** Holds a notification back until the transaction's next one has been sent, at most `delayMs`. */
  z.strictObject({ ...scope, fault: z.literal('webhookReorder'), delayMs: ms.default(60_000) }),
  /** Sends an additional, forged notification: with the opposite status, unless `status` or `amount` is given. */
  z.strictObject({
    ...scope,
    fault: z.literal('webhookForge'),
    status: z.enum(['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED']).optional(),
    amount: z.int().optional(),
    delayMs: ms.default(0),
  }),
  /** Cuts the body in half. */
  z.strictObject({ ...scope, fault: z.literal('webhookMalformed') }),
  /** Sends it in a form that a client must read all the same. */
  z.strictObject({ ...scope, fault: z.literal('webhookOddForm'), form: notificationForm.default('list') }),
  /** Pads the body with `bytes` bytes. */
  z.strictObject({
    ...scope,
    fault: z.literal('webhookHuge'),
    bytes: z
      .int()
      .min(1)
      .max(64 * 1024 * 1024)
      .default(5 * 1024 * 1024),
  }),
]);

const anyFault = z.discriminatedUnion('fault', [responseFault, contentFault, webhookFault]);

export type ResponseFault = z.infer<typeof responseFault>;
export type ContentFault = z.infer<typeof contentFault>;
export type WebhookFault = z.infer<typeof webhookFault>;
export type FaultRule = z.infer<typeof anyFault>;
export type FaultRequest = z.input<typeof anyFault>;
export type FaultKind = FaultRule['fault'];
/** The target of a fault: the requests to an endpoint, or notifications. */
export type Target = EndpointName | 'webhook';

const LISTS: readonly Target[] = ['transaction', 'search'];
/** The endpoints that respond with transactions. */
const TRANSACTIONS: readonly Target[] = ['payment-status', 'expire-pay', ...LISTS];

/** The targets of the faults that can't apply everywhere. */
const LIMITED_TARGETS: Partial<Record<FaultKind, readonly Target[]>> = {
  lowBalance: ['payout'],
  questionTimeout: [...TRANSACTIONS, 'balance'],
  statusRegression: ['payment-status'],
  statusLag: ['payment-status'],
  listFlap: LISTS,
  listPage: LISTS,
  missingFields: TRANSACTIONS,
  unknownStatus: TRANSACTIONS,
  listLag: ['initiate-pay', 'direct-pay', 'payout'],
  clockSkew: [...ENDPOINTS, 'webhook'],
};

const CONTENT_FAULTS: ReadonlySet<string> = new Set(contentFault.options.map(({ shape }) => shape.fault.value));

export const isWebhookFault = (rule: FaultRule): rule is WebhookFault => rule.fault.startsWith('webhook');
const isContentFault = (rule: FaultRule): rule is ContentFault => CONTENT_FAULTS.has(rule.fault);
export const isResponseFault = (rule: FaultRule): rule is ResponseFault =>
  !isWebhookFault(rule) && !isContentFault(rule);

/** The targets that a kind of fault can apply to. */
export const targetsOf = (fault: FaultKind): readonly Target[] =>
  LIMITED_TARGETS[fault] ?? (fault.startsWith('webhook') ? ['webhook'] : ENDPOINTS);

/** The body of `POST /_sandbox/faults`. */
export const faultRuleSchema = anyFault.superRefine(({ fault, endpoint }, context) => {
  if (endpoint === undefined || targetsOf(fault).includes(endpoint)) return;
  const message = `endpoint: ${fault} applies only to ${targetsOf(fault).join(', ')}`;
  context.addIssue({ code: 'custom', path: ['endpoint'], message });
});
