import type { OrderKind } from '../../src/payments/words/order.js';
import { MINUTE_MS, SECOND_MS } from '../../src/payments/words/time.js';
import {
  type Allowance,
  calmSettingOf,
  type DecisionKind,
  FOREIGN_KINDS,
  type Foreign,
  type HeldOrder,
  LISTED_LATE,
  QUICK_TERMS,
  RETRY_AFTER_MS,
  type RequestKind,
  type Setting,
  SHORT_TERMS,
  settingOf,
  type Trouble,
  TWO_PEOPLE,
} from './setting.js';

/**
 * A subject that is explored in depth: what may happen is limited, so that its stories can be explored to their end.
 */
interface Theme {
  readonly name: string;
  readonly allowance: Partial<Allowance>;
  readonly troubles?: readonly Trouble[];
  readonly requests?: readonly RequestKind[];
  readonly decisions?: readonly DecisionKind[];
  readonly foreign?: readonly Foreign[];
  readonly isQuick?: boolean;
  /** The list may show one of two transactions of a doubled request an hour after it (A3). */
  readonly isListedLate?: true;
  readonly refusesUnknown?: true;
  readonly wasSentBefore?: true;
  readonly isOfLinks?: true;
  readonly namesAlone?: true;
  readonly rejectsRepeated?: true;
  /** The provider's `Retry-After`, in ms. */
  readonly retryAfterMs?: number;
  /** What its payouts wait for. */
  readonly held?: HeldOrder;
  /** Its payouts are above the limit. */
  readonly takesTwoPeople?: boolean;
}

const THEMES: readonly Theme[] = [
  {
    name: 'a request in doubt',
    allowance: { troubles: 2, notifications: 1, decisions: 1 },
    troubles: ['ambiguous', 'takenTwice', 'flappingList', 'fieldsLeftOut'],
    decisions: ['resend', 'fail', 'match', 'insist'],
  },
  {
    name: 'a doubled request that is listed late',
    allowance: { troubles: 2, decisions: 1 },
    troubles: ['takenTwice', 'silence', 'flappingList'],
    decisions: ['fail', 'match', 'insist'],
    isListedLate: true,
  },
  {
    name: 'two decisions',
    allowance: { troubles: 2, decisions: 2 },
    troubles: ['ambiguous', 'takenTwice', 'silence'],
    decisions: ['resend', 'fail', 'match', 'insist', 'outdated'],
  },
  {
    name: 'decisions that take two people',
    allowance: { troubles: 2, decisions: 3 },
    troubles: ['ambiguous', 'takenTwice', 'silence'],
    decisions: ['resend', 'fail', 'match', 'insist', 'outdated', 'second'],
    takesTwoPeople: true,
  },
  {
    name: 'an approval',
    allowance: { troubles: 2, notifications: 1, requests: 1, decisions: 3 },
    troubles: ['workerLost', 'ambiguous', 'unread', 'silence'],
    requests: ['expire'],
    decisions: ['resend', 'fail', 'insist', 'outdated', 'second'],
    foreign: ['unknown'],
    held: { approval: true },
  },
  {
    name: 'an approval and a date',
    allowance: { troubles: 2, requests: 1, decisions: 3 },
    troubles: ['workerLost', 'notSent', 'unread'],
    requests: ['expire'],
    decisions: ['resend', 'fail', 'outdated', 'second'],
    held: { approval: true, sendAfterMs: 2 * MINUTE_MS },
  },
  {
    name: 'a date alone',
    allowance: { troubles: 2, notifications: 1, requests: 1, decisions: 1 },
    troubles: ['workerLost', 'notSent', 'unread', 'ambiguous', 'workersAway'],
    requests: ['expire'],
    decisions: ['fail', 'insist'],
    foreign: ['unknown'],
    held: { sendAfterMs: 2 * MINUTE_MS },
  },
  {
    name: 'a held payout that was sent in a time that the book has lost',
    allowance: { troubles: 2, notifications: 1, requests: 1, decisions: 2 },
    troubles: ['silence', 'unread', 'olderStatus'],
    requests: ['expire'],
    decisions: ['resend', 'fail', 'match', 'insist'],
    wasSentBefore: true,
    namesAlone: true,
    held: { approval: true, sendAfterMs: 2 * MINUTE_MS },
  },
  {
    name: 'a request that is not sent',
    allowance: { troubles: 3, requests: 1, notifications: 1 },
    troubles: ['rejected', 'unauthorized', 'notSent', 'throttledPost', 'unread', 'ambiguous'],
    requests: ['expire', 'refresh'],
    retryAfterMs: SECOND_MS,
  },
  {
    name: 'a resend that has to wait',
    allowance: { troubles: 3, decisions: 2, notifications: 1 },
    troubles: ['ambiguous', 'unauthorized', 'notSent', 'throttledPost'],
    decisions: ['resend', 'fail'],
    retryAfterMs: SECOND_MS,
  },
  {
    name: 'questions without an answer',
    allowance: { troubles: 2, notifications: 1, requests: 1 },
    troubles: [
      'noAnswer',
      'silence',
      'unknownStatus',
      'olderStatus',
      'throttled',
      'unauthorizedQuestion',
      'expiryLost',
    ],
    requests: ['expire', 'refresh'],
  },
  {
    name: 'forged notifications',
    allowance: { troubles: 1, notifications: 3, decisions: 1 },
    troubles: ['ambiguous', 'silence'],
    decisions: ['fail', 'match', 'foreign', 'insist'],
    foreign: FOREIGN_KINDS,
  },
  {
    name: 'lost runs, and requests that report late',
    allowance: { troubles: 3, notifications: 1, requests: 1, decisions: 2 },
    troubles: ['workerLost', 'ambiguous', 'notSent'],
    requests: ['expire', 'refresh'],
    decisions: ['resend', 'fail', 'match', 'insist'],
  },
  {
    name: 'what comes after the end',
    allowance: { troubles: 2, notifications: 1, requests: 1, decisions: 1 },
    troubles: [
      'turn',
      'takenBack',
      'doubledLater',
      'silence',
      'wrongAmount',
      'unknownStatus',
      'olderStatus',
      'refusedList',
      'throttled',
    ],
    requests: ['recheck'],
    decisions: ['fail', 'match', 'insist'],
  },
  {
    name: 'old answers',
    allowance: { troubles: 3, decisions: 2, requests: 1, notifications: 1 },
    troubles: ['olderStatus', 'wrongAmount', 'takenTwice', 'flappingList', 'silence'],
    requests: ['expire'],
    decisions: ['fail', 'match', 'insist'],
  },
  {
    name: 'a payer who tries again',
    allowance: { troubles: 3, decisions: 1, requests: 1, notifications: 1 },
    troubles: ['triesAgain', 'silence'],
    requests: ['expire'],
    decisions: ['fail', 'match'],
  },
  {
    name: 'a provider that refuses to list nothing',
    allowance: { troubles: 2, decisions: 2, notifications: 1 },
    troubles: ['ambiguous', 'throttledPost', 'notSent'],
    decisions: ['resend', 'fail', 'insist'],
    refusesUnknown: true,
    retryAfterMs: SECOND_MS,
  },
  {
    name: 'a payment that was sent in a time that the book has lost',
    allowance: { troubles: 3, decisions: 1, notifications: 1 },
    troubles: ['flappingList', 'silence', 'olderStatus'],
    decisions: ['resend', 'fail', 'match', 'insist'],
    wasSentBefore: true,
  },
  {
    name: 'a link that was given in a time that the book has lost',
    allowance: { troubles: 3, decisions: 1, notifications: 1, requests: 1 },
    troubles: ['silence', 'expiryLost', 'flappingList', 'ambiguous', 'notSent', 'rejected'],
    requests: ['expire'],
    decisions: ['resend', 'fail', 'match', 'insist'],
    wasSentBefore: true,
    isOfLinks: true,
  },
  {
    name: 'notifications that name the payment alone',
    allowance: { troubles: 2, decisions: 1, notifications: 2, requests: 1 },
    troubles: ['ambiguous', 'throttledPost', 'notSent', 'rejected', 'silence'],
    decisions: ['resend', 'fail', 'insist'],
    requests: ['expire'],
    namesAlone: true,
  },
  {
    name: 'a second request that is rejected',
    allowance: { troubles: 4, decisions: 1, requests: 1 },
    troubles: ['throttledPost', 'silence', 'flappingList'],
    decisions: ['resend', 'fail', 'match', 'insist'],
    requests: ['expire', 'recheck'],
    rejectsRepeated: true,
    retryAfterMs: SECOND_MS,
  },
  {
    name: 'many polls',
    allowance: { troubles: 3, notifications: 2, requests: 2 },
    troubles: ['workerLost', 'noAnswer', 'throttled', 'fieldsLeftOut', 'wrongAmount'],
    requests: ['refresh', 'expire'],
    isQuick: true,
  },
];

/** Lists the settings that are explored by default. A direct payment differs from a payout in its words alone. */
export function defaultSettings(): Setting[] {
  const themed = (['payout', 'link'] as const).flatMap((kind) =>
    (['review', 'resend'] as const).flatMap((policy) =>
      THEMES.filter((theme) => isOf(theme, kind)).map((theme) => settingOfTheme(theme, kind, policy)),
    ),
  );
  const whole = (['payout', 'link', 'direct'] as const).map((kind) =>
    settingOf({ name: `${kind}: everything at once`, kind, terms: SHORT_TERMS }),
  );
  return [...themed, ...whole];
}

function isOf({ isOfLinks, takesTwoPeople, wasSentBefore, held }: Theme, kind: OrderKind): boolean {
  if (isOfLinks) return kind === 'link';
  return kind === 'payout' || !(takesTwoPeople || wasSentBefore || held);
}

function settingOfTheme(theme: Theme, kind: OrderKind, ambiguousPolicy: 'review' | 'resend'): Setting {
  const {
    name,
    allowance,
    troubles,
    requests,
    decisions,
    foreign = [],
    isQuick,
    isListedLate,
    held,
    takesTwoPeople,
    refusesUnknown,
    wasSentBefore,
    namesAlone,
    rejectsRepeated,
    retryAfterMs = RETRY_AFTER_MS,
  } = theme;
  return calmSettingOf({
    name: `${kind}, ${ambiguousPolicy}: ${name}`,
    kind,
    held,
    terms: {
      ...(isQuick ? QUICK_TERMS : SHORT_TERMS),
      ...(isListedLate && LISTED_LATE),
      ...(takesTwoPeople && TWO_PEOPLE),
      ambiguousPolicy,
    },
    allowance,
    troubles: new Set(troubles),
    requests: new Set(requests),
    decisions: new Set(decisions),
    foreign,
    refusesUnknown,
    wasSentBefore,
    namesAlone,
    rejectsRepeated,
    retryAfterMs,
  });
}
