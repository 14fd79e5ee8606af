import type { PaymentOrder, PaymentTerms } from '../../src/payments/order.js';
import type { PaymentId } from '../../src/payments/payment-id.js';

export type Method = 'link' | 'direct' | 'payout';

/** What may go wrong, beside the plain run of things. Each costs one of a story's troubles. */
export const TROUBLES = [
  'rejected',
  'ambiguous',
  'takenTwice',
  'notSent',
  'unauthorized',
  'throttledPost',
  'unchecked',
  'wrongAmount',
  'noAnswer',
  'silence',
  'unknownStatus',
  'olderStatus',
  'fieldsLeftOut',
  'unauthorizedQuestion',
  'throttled',
  'flappingList',
  'refusedList',
  'expiryLost',
  'turn',
  'merchantAway',
  'workerLost',
] as const;
export type Trouble = (typeof TROUBLES)[number];

/** What people may ask of a payment. */
export const REQUESTS = ['expire', 'refresh', 'recheck', 'resendNotification'] as const;
export type RequestKind = (typeof REQUESTS)[number];

/** What an operator may do. `insist`: with force; `outdated`: on a review that has changed; `foreign`: match another's transaction. */
export const DECISIONS = ['resend', 'fail', 'match', 'insist', 'outdated', 'foreign'] as const;
export type DecisionMove = (typeof DECISIONS)[number];

/** Transactions that aren't the payment's, named by forged notifications and by operators who err. */
export const FOREIGN = {
  /** The provider never answers a question about it. */
  silent: 'S',
  /** The provider doesn't know it. */
  unknown: 'U',
  /** It is another payment's. */
  others: 'O',
  /** The provider doesn't say whose it is. */
  nameless: 'N',
} as const;
export type Foreign = keyof typeof FOREIGN;

/** How much of the extraordinary one story may hold. */
export interface Allowance {
  /** Troubles of the provider and of workers. */
  readonly troubles: number;
  /** Notifications, genuine, late, repeated or forged. */
  readonly notifications: number;
  /** Requests of merchants, and operators' rechecks. */
  readonly requests: number;
  /** Operators' decisions that are looked into. */
  readonly decisions: number;
  readonly handOvers: number;
  readonly resets: number;
}

/** One world to explore: a kind of payment, its terms, and what may happen to it. */
export interface Setting {
  readonly name: string;
  readonly method: Method;
  readonly terms: PaymentTerms;
  /** How late the list may show a transaction, in ms (A1). */
  readonly listLagMs: number;
  /** What the provider asks for in `Retry-After`, in ms. */
  readonly retryAfterMs: number;
  readonly allowance: Allowance;
  readonly troubles: ReadonlySet<Trouble>;
  readonly requests: ReadonlySet<RequestKind>;
  readonly decisions: ReadonlySet<DecisionMove>;
  readonly foreign: readonly Foreign[];
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Terms with few deadlines, so that stories are short; what matters is the order in which they come. */
export const SHORT_TERMS: PaymentTerms = {
  linkLifetimeMs: 40 * SECOND_MS,
  pollFirstMs: HOUR_MS,
  pollMaxMs: 12 * HOUR_MS,
  ambiguousGraceMs: 5 * SECOND_MS,
  ambiguousPolicy: 'review',
  resolveAfterMs: 30 * SECOND_MS,
  sendByMs: 8 * MINUTE_MS,
  providerTimeoutMs: 2 * SECOND_MS,
};

/** Polls come often, and before anything else. */
export const QUICK_TERMS: PaymentTerms = {
  ...SHORT_TERMS,
  linkLifetimeMs: 3 * HOUR_MS,
  pollFirstMs: 5 * SECOND_MS,
  pollMaxMs: 8 * HOUR_MS,
  ambiguousGraceMs: 3 * SECOND_MS,
  resolveAfterMs: HOUR_MS,
};

const ALLOWANCE: Allowance = {
  troubles: 2,
  notifications: 1,
  requests: 1,
  decisions: 2,
  handOvers: 1,
  resets: 1,
};

/** A setting in which everything may happen, unless it is said otherwise. */
export function settingOf(
  changes: Partial<Omit<Setting, 'allowance' | 'terms'>> & {
    readonly method: Method;
    readonly allowance?: Partial<Allowance>;
    readonly terms?: Partial<PaymentTerms>;
  },
): Setting {
  const { method, allowance, terms, ...rest } = changes;
  return {
    name: method,
    method,
    listLagMs: terms?.ambiguousPolicy === 'resend' ? 2_500 : 20_000,
    retryAfterMs: 5 * MINUTE_MS,
    troubles: new Set(TROUBLES),
    requests: new Set(REQUESTS),
    decisions: new Set(DECISIONS),
    foreign: ['silent', 'unknown', 'others', 'nameless'],
    ...rest,
    terms: { ...SHORT_TERMS, ...terms },
    allowance: { ...ALLOWANCE, ...allowance },
  };
}

/** Nothing extraordinary happens, but for what is allowed by name. */
export function calmSettingOf(changes: Parameters<typeof settingOf>[0]): Setting {
  return settingOf({
    troubles: new Set(),
    requests: new Set(),
    decisions: new Set(),
    foreign: [],
    ...changes,
    allowance: {
      troubles: 0,
      notifications: 0,
      requests: 0,
      decisions: 0,
      handOvers: 0,
      resets: 0,
      ...changes.allowance,
    },
  });
}

/** The amount ordered, and the amount of a transaction that is wrong, in XAF. */
export const AMOUNT = 1_000;
export const WRONG_AMOUNT = 9_000;

/** The order of a world's payment. */
export function orderOf(method: Method): PaymentOrder {
  const common = { amount: AMOUNT, metadata: {} };
  switch (method) {
    case 'link':
      return { ...common, id: 'col_1' as PaymentId, kind: 'collection', method };
    case 'direct':
      return { ...common, id: 'col_1' as PaymentId, kind: 'collection', method, phone: '670000000' };
    case 'payout':
      return { ...common, id: 'pay_1' as PaymentId, kind: 'payout', phone: '670000000' };
  }
}
