import { z } from 'zod';
import { statusSchema } from '../../src/provider/schemas.js';
import { ENDPOINTS, type EndpointName } from '../endpoints/endpoint.js';

const ms = z.int().min(0);
const DAY_MS = 24 * 60 * 60 * 1000;
const retryAfter = z.int().min(0).optional();

/**
 * Where and how often a fault strikes. Without `count`, `rate` and `forMs` it strikes the next match, once. With
 * `rate` it strikes that share of matches, decided by the seed for each request on its own; with `forMs` it strikes
 * for so long (the sandbox's clock); `count` puts a limit on either.
 */
const aim = {
  endpoint: z.enum([...ENDPOINTS, 'webhook']).optional(),
  externalId: z.string().min(1).optional(),
  transId: z.string().min(1).optional(),
  userId: z.string().min(1).optional(),
  count: z.int().min(1).optional(),
  rate: z.number().min(0).max(1).optional(),
  forMs: ms.optional(),
  seed: z.union([z.string(), z.number()]).optional(),
};

/** Faults that take the place of an answer, or hold it up: one a request, the first rule that strikes. */
const answerFault = z.discriminatedUnion('fault', [
  /**
   * No answer; the connection is held until the client leaves or `holdMs` of real time have passed. `questionTimeout`
   * strikes questions (and expire-pay) alone, and does nothing either.
   */
  z.strictObject({
    ...aim,
    fault: z.enum(['timeoutBeforeCommit', 'timeoutAfterCommit', 'questionTimeout']),
    holdMs: ms.max(DAY_MS).default(120_000),
  }),
  /** A 5xx with a page of HTML, as a proxy gives it. */
  z.strictObject({
    ...aim,
    fault: z.enum(['errorBeforeCommit', 'errorAfterCommit']),
    status: z.int().min(500).max(599).default(502),
  }),
  /** The connection is reset. */
  z.strictObject({ ...aim, fault: z.enum(['resetBeforeCommit', 'resetAfterCommit']) }),
  /** Committed, then a 200 whose body can't be read as what it should be. */
  z.strictObject({
    ...aim,
    fault: z.literal('garbage'),
    body: z.enum(['html', 'truncated', 'wrongShape', 'empty']).default('html'),
  }),
  /** The provider's own 429 before anything is done, with `Retry-After` when given (seconds). */
  z.strictObject({ ...aim, fault: z.literal('throttle'), retryAfter }),
  /** A 429 with a page of HTML, as a gateway gives it: before anything is done, or when it has sent a request twice. */
  z.strictObject({
    ...aim,
    fault: z.enum(['gatewayThrottleBeforeCommit', 'gatewayThrottleAfterCommit']),
    retryAfter,
  }),
  /** A right answer, `delayMs` of real time late. */
  z.strictObject({ ...aim, fault: z.literal('slow'), delayMs: ms.max(DAY_MS).default(5000) }),
  /** A 401, as if the credentials had been revoked. */
  z.strictObject({ ...aim, fault: z.literal('wrongCredentials') }),
  /** A 400 to a payout: the account doesn't hold that much. */
  z.strictObject({ ...aim, fault: z.literal('lowBalance') }),
]);

/** Fields of a Transaction that a fault can leave out: all but those that no answer goes without. */
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

/** Faults that make an answer untrue, next to whatever else strikes. */
const showingFault = z.discriminatedUnion('fault', [
  /** A status answer gives the status before the present one, if there was one. */
  z.strictObject({ ...aim, fault: z.literal('statusRegression') }),
  /** Dates in answers (and notifications) are off by `skewMs`. */
  z.strictObject({
    ...aim,
    fault: z.literal('clockSkew'),
    skewMs: z
      .int()
      .min(-365 * DAY_MS)
      .max(365 * DAY_MS)
      .default(DAY_MS),
  }),
  /** A new transaction doesn't show in lists and searches for `delayMs` of the sandbox's clock. */
  z.strictObject({ ...aim, fault: z.literal('listLag'), delayMs: ms.default(30_000) }),
  /** A transaction that a list or search has shown is left out of a later one. Strikes each transaction by itself. */
  z.strictObject({ ...aim, fault: z.literal('listFlap') }),
  /** A list or search ends after its first `size` transactions. */
  z.strictObject({ ...aim, fault: z.literal('listPage'), size: z.int().min(0).default(1) }),
  /** A status answer is as it was `delayMs` of the sandbox's clock ago: 404 for a transaction that is younger. */
  z.strictObject({ ...aim, fault: z.literal('statusLag'), delayMs: ms.default(30_000) }),
  /** An answer leaves fields of a transaction out. Strikes each transaction of a list by itself. */
  z.strictObject({
    ...aim,
    fault: z.literal('missingFields'),
    fields: z.array(omittableField).min(1).default(['externalId', 'userId', 'amount', 'transType']),
  }),
  /** An answer gives a transaction a status that the interface doesn't know. Strikes each one of a list by itself. */
  z.strictObject({
    ...aim,
    fault: z.literal('unknownStatus'),
    status: z
      .string()
      .min(1)
      .max(50)
      .refine((status) => !statusSchema.safeParse(status).success, 'status: the interface knows this one')
      .default('REVERSED'),
  }),
]);

/** Faults of notifications; all that strike take effect together. Delays are the sandbox's clock's. */
const webhookFault = z.discriminatedUnion('fault', [
  z.strictObject({ ...aim, fault: z.literal('webhookDrop') }),
  z.strictObject({ ...aim, fault: z.literal('webhookDouble') }),
  z.strictObject({ ...aim, fault: z.literal('webhookDelay'), delayMs: ms.default(60_000) }),
  /** Held back until the transaction's next notification has gone out, `delayMs` at most. */
  z.strictObject({ ...aim, fault: z.literal('webhookReorder'), delayMs: ms.default(60_000) }),
  /** One more notification, which contradicts the truth: its opposite status unless `status` or `amount` say. */
  z.strictObject({
    ...aim,
    fault: z.literal('webhookForge'),
    status: z.enum(['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED', 'EXPIRED']).optional(),
    amount: z.int().optional(),
    delayMs: ms.default(0),
  }),
  /** The body breaks off in the middle. */
  z.strictObject({ ...aim, fault: z.literal('webhookMalformed') }),
  /** The body carries `bytes` more than it needs. */
  z.strictObject({
    ...aim,
    fault: z.literal('webhookHuge'),
    bytes: z
      .int()
      .min(1)
      .max(64 * 1024 * 1024)
      .default(5 * 1024 * 1024),
  }),
]);

const anyFault = z.discriminatedUnion('fault', [answerFault, showingFault, webhookFault]);

export type AnswerFault = z.infer<typeof answerFault>;
export type ShowingFault = z.infer<typeof showingFault>;
export type WebhookFault = z.infer<typeof webhookFault>;
export type FaultRule = z.infer<typeof anyFault>;
export type FaultRequest = z.input<typeof anyFault>;
export type FaultKind = FaultRule['fault'];
/** What a fault can strike: an endpoint's requests, or notifications. */
export type Target = EndpointName | 'webhook';

const LISTS: readonly Target[] = ['transaction', 'search'];
/** What answers with transactions. */
const SHOWING: readonly Target[] = ['payment-status', 'expire-pay', ...LISTS];

const NARROW: Partial<Record<FaultKind, readonly Target[]>> = {
  lowBalance: ['payout'],
  questionTimeout: [...SHOWING, 'balance'],
  statusRegression: ['payment-status'],
  statusLag: ['payment-status'],
  listFlap: LISTS,
  listPage: LISTS,
  missingFields: SHOWING,
  unknownStatus: SHOWING,
  listLag: ['initiate-pay', 'direct-pay', 'payout'],
  clockSkew: [...ENDPOINTS, 'webhook'],
};

const SHOWING_KINDS: ReadonlySet<string> = new Set(
  showingFault.options.map(({ shape }) => shape.fault.value),
);

export const isWebhookFault = (rule: FaultRule): rule is WebhookFault => rule.fault.startsWith('webhook');
const isShowingFault = (rule: FaultRule): rule is ShowingFault => SHOWING_KINDS.has(rule.fault);
export const isAnswerFault = (rule: FaultRule): rule is AnswerFault =>
  !isWebhookFault(rule) && !isShowingFault(rule);

/** What a kind of fault can strike at all. */
export const targetsOf = (fault: FaultKind): readonly Target[] =>
  NARROW[fault] ?? (fault.startsWith('webhook') ? ['webhook'] : ENDPOINTS);

/** The body of `POST /_sandbox/faults`. */
export const faultRuleSchema = anyFault.superRefine(({ fault, endpoint }, context) => {
  if (endpoint === undefined || targetsOf(fault).includes(endpoint)) return;
  const message = `endpoint: ${fault} strikes only ${targetsOf(fault).join(', ')}`;
  context.addIssue({ code: 'custom', path: ['endpoint'], message });
});
