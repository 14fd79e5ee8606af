import type { OrderKind, PaymentOrder, PaymentTerms } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/payments/words/time.js';

/** Troubles that may come. Each costs one of a story's troubles. */
export const TROUBLES = [
  'rejected',
  'ambiguous',
  'takenTwice',
  'doubledLater',
  'notSent',
  'unauthorized',
  'throttledPost',
  'unread',
  'withheld',
  'workersAway',
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
  'disputedList',
  'expiryLost',
  'turn',
  'takenBack',
  'triesAgain',
  'workerLost',
] as const;

export type Trouble = (typeof TROUBLES)[number];

/** People's requests to a payment. */
export const REQUESTS = ['expire', 'refresh', 'recheck'] as const;

export type RequestKind = (typeof REQUESTS)[number];

/**
 * Abilities of operators. `insist`: with force; `outdated`: on a review that has changed; `foreign`: match another
 * payment's transaction; `second`: there is a second person, who may also reject what the first has decided, as the
 * first may.
 */
export const DECISIONS = ['resend', 'fail', 'match', 'insist', 'outdated', 'foreign', 'second'] as const;

export type DecisionKind = (typeof DECISIONS)[number];

/** Transactions that aren't the payment's, named by forged notifications and by operators who err. */
export const FOREIGN = {
  /** The provider never answers a question about it. */
  silent: 'S',
  /** The provider doesn't know it. */
  unknown: 'U',
  /** It is another payment's, which it names in both ways, as its user alone, or as its user beside this one. */
  others: 'O',
  othersUser: 'P',
  both: 'B',
  /** The provider doesn't say whose it is. */
  nameless: 'N',
} as const;

export type Foreign = keyof typeof FOREIGN;

export const FOREIGN_KINDS: readonly Foreign[] = ['silent', 'unknown', 'others', 'othersUser', 'both', 'nameless'];

/** What the payout of a setting waits for before it is sent. A clerk has ordered it. */
export interface HeldOrder {
  readonly approval?: true | undefined;
  /** Time from the beginning of the story until its date, in ms. */
  readonly sendAfterMs?: number | undefined;
}

/**
 * People of the merchant: the clerk, who has ordered the payout, and two who may approve it. The clerk's name in the
 * merchants' file changes: another one for the same key, and another spelling, with another key.
 */
export type Approver = 'clerk' | 'renamed clerk' | 'Clérk' | 'manager' | 'accountant';

/** Identifiers of each one's keys. */
export const KEYS_OF: Readonly<Record<Approver, readonly string[]>> = {
  clerk: ['k1'],
  'renamed clerk': ['k2', 'k1'],
  Clérk: ['k3'],
  manager: ['k4'],
  accountant: ['k5'],
};

/** Beginning of every story, in ms since the epoch. */
export const START = Date.UTC(2026, 0, 1);

/** Numbers of unusual events allowed in one story. */
export interface Allowance {
  /** Troubles of the provider and of workers. */
  readonly troubles: number;
  /** Notifications, genuine, late, repeated or forged. */
  readonly notifications: number;
  /** Requests of merchants, and operators' rechecks. */
  readonly requests: number;
  /** Operators' decisions, and approvals and rejections of a held payout. */
  readonly decisions: number;
}

/** One setting to explore: a kind of payment, its terms, and what may happen to it. */
export interface Setting {
  readonly name: string;
  readonly kind: OrderKind;
  readonly held?: HeldOrder | undefined;
  readonly terms: PaymentTerms;
  /** Longest delay until the list shows a transaction, in ms (A1). */
  readonly listLagMs: number;
  /** The provider's `Retry-After`, in ms. */
  readonly retryAfterMs: number;
  readonly allowance: Allowance;
  readonly troubles: ReadonlySet<Trouble>;
  readonly requests: ReadonlySet<RequestKind>;
  readonly decisions: ReadonlySet<DecisionKind>;
  readonly foreign: readonly Foreign[];
  /** The provider answers 4xx when it is asked for the list of a payment without transactions. */
  readonly refusesUnknown?: true | undefined;
  /** Number of foreign transactions of each kind; one by default. */
  readonly copies?: number | undefined;
  /**
   * The payment was sent in a time that the book has lost, and its list shows that; a link was given to its payer, and
   * the list may not show it yet.
   */
  readonly wasSentBefore?: true | undefined;
  /**
   * The provider may take a request that it throttles, show that later than A4 has it, and reject the request that
   * repeats it.
   */
  readonly rejectsRepeated?: true | undefined;
  /** Notifications may name the payment alone. */
  readonly namesAlone?: true | undefined;
}

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
  approvalWithinMs: 3 * MINUTE_MS,
};

/**
 * Polls come often, and before anything else. As the settings have it, the grace is no shorter than a request's time
 * limit with the lag of the list.
 */
export const QUICK_TERMS: PaymentTerms = {
  ...SHORT_TERMS,
  linkLifetimeMs: 3 * HOUR_MS,
  pollFirstMs: 5 * SECOND_MS,
  pollMaxMs: 8 * HOUR_MS,
  ambiguousGraceMs: 4.8 * SECOND_MS,
  resolveAfterMs: HOUR_MS,
};

/** The terms of production, where nobody decides before the list shows all that was made of a request, either. */
export const LISTED_LATE: Pick<PaymentTerms, 'listedAfterMs' | 'resolveAfterMs'> = {
  listedAfterMs: HOUR_MS,
  resolveAfterMs: HOUR_MS,
};

const ALLOWANCE: Allowance = {
  troubles: 2,
  notifications: 1,
  requests: 1,
  decisions: 2,
};

/** Makes a setting in which everything may happen, but for the changes. */
export function settingOf(
  changes: Partial<Omit<Setting, 'allowance' | 'terms'>> & {
    readonly kind: OrderKind;
    readonly allowance?: Partial<Allowance>;
    readonly terms?: Partial<PaymentTerms>;
  },
): Setting {
  const { kind, allowance, terms, ...rest } = changes;
  return {
    name: kind,
    kind,
    listLagMs: terms?.ambiguousPolicy === 'resend' ? 2_500 : 20_000,
    retryAfterMs: RETRY_AFTER_MS,
    troubles: new Set(TROUBLES),
    requests: new Set(REQUESTS),
    decisions: new Set(DECISIONS),
    foreign: FOREIGN_KINDS,
    ...rest,
    terms: { ...SHORT_TERMS, ...terms },
    allowance: { ...ALLOWANCE, ...allowance },
  };
}

/** Makes a setting without unusual events, except the named ones. */
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
      ...changes.allowance,
    },
  });
}

/** Decisions on a payout of the amount that is ordered take two people. */
export const TWO_PEOPLE: Pick<PaymentTerms, 'secondPersonAbove'> = { secondPersonAbove: 900 };

/** The amount ordered, and the amount of a transaction that is wrong, in XAF. */
export const AMOUNT = 1_000;

export const WRONG_AMOUNT = 9_000;

/** Returns the order of a setting's payment. */
export function orderOf(kind: OrderKind): PaymentOrder {
  const common = { amount: AMOUNT, metadata: {} };
  switch (kind) {
    case 'link':
      return { ...common, id: 'col_1' as PaymentId, kind };
    case 'direct':
      return { ...common, id: 'col_1' as PaymentId, kind, phone: '670000000' };
    case 'payout':
      return { ...common, id: 'pay_1' as PaymentId, kind, phone: '670000000' };
  }
}

/** Returns the order of a setting's payment, with what it waits for. */
export function orderIn({ kind, held }: Pick<Setting, 'kind' | 'held'>): PaymentOrder {
  const order = orderOf(kind);
  if (order.kind !== 'payout' || held === undefined) return order;
  const { approval, sendAfterMs } = held;
  return {
    ...order,
    orderedBy: 'clerk',
    orderedByKeys: KEYS_OF.clerk,
    approval,
    sendAt: sendAfterMs && START + sendAfterMs,
  };
}

/** Longer than anything else that a payment waits for before it sends or asks again. */
export const RETRY_AFTER_MS = 5 * MINUTE_MS;
