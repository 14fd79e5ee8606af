import {
  type Allowance,
  calmSettingOf,
  type DecisionMove,
  type Foreign,
  type Method,
  QUICK_TERMS,
  type RequestKind,
  type Setting,
  SHORT_TERMS,
  settingOf,
  type Trouble,
} from './setting.js';

/** A subject that is explored in depth: what may happen is chosen so that whole stories of it can be played. */
interface Theme {
  readonly name: string;
  readonly allowance: Partial<Allowance>;
  readonly troubles?: readonly Trouble[];
  readonly requests?: readonly RequestKind[];
  readonly decisions?: readonly DecisionMove[];
  readonly foreign?: readonly Foreign[];
  readonly isQuick?: boolean;
}

const THEMES: readonly Theme[] = [
  {
    name: 'a request in doubt',
    allowance: { troubles: 2, notifications: 1, decisions: 1 },
    troubles: ['ambiguous', 'takenTwice', 'flappingList', 'fieldsLeftOut'],
    decisions: ['resend', 'fail', 'match', 'insist'],
  },
  {
    name: 'two decisions',
    allowance: { troubles: 2, decisions: 2 },
    troubles: ['ambiguous', 'takenTwice', 'silence'],
    decisions: ['resend', 'fail', 'match', 'insist', 'outdated'],
  },
  {
    name: 'a request that is not sent',
    allowance: { troubles: 3, requests: 1, notifications: 1 },
    troubles: ['rejected', 'unauthorized', 'notSent', 'throttledPost', 'unchecked', 'ambiguous'],
    requests: ['expire', 'refresh'],
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
    decisions: ['fail', 'match', 'foreign'],
    foreign: ['silent', 'unknown', 'others', 'nameless'],
  },
  {
    name: 'lost workers and hand-overs',
    allowance: { troubles: 3, handOvers: 1, resets: 1, notifications: 1, requests: 1 },
    troubles: ['workerLost', 'ambiguous', 'merchantAway'],
    requests: ['expire', 'refresh', 'resendNotification'],
  },
  {
    name: 'what comes after the end',
    allowance: { troubles: 2, notifications: 1, requests: 1, decisions: 1 },
    troubles: [
      'turn',
      'wrongAmount',
      'unknownStatus',
      'olderStatus',
      'refusedList',
      'throttled',
      'merchantAway',
    ],
    requests: ['recheck', 'resendNotification'],
    decisions: ['fail', 'match', 'insist'],
  },
  {
    name: 'many polls',
    allowance: { troubles: 3, notifications: 2, requests: 2 },
    troubles: ['workerLost', 'noAnswer', 'throttled', 'fieldsLeftOut', 'wrongAmount'],
    requests: ['refresh', 'expire'],
    isQuick: true,
  },
];

/** The worlds that are explored unless others are asked for. A direct payment differs from a payout in its words alone. */
export function defaultWorlds(): Setting[] {
  const themed = (['payout', 'link'] as const).flatMap((method) =>
    (['review', 'resend'] as const).flatMap((policy) =>
      THEMES.map((theme) => worldOf(theme, method, policy)),
    ),
  );
  const whole = (['payout', 'link', 'direct'] as const).map((method) =>
    settingOf({ name: `${method}: everything at once`, method, terms: SHORT_TERMS }),
  );
  return [...themed, ...whole];
}

function worldOf(theme: Theme, method: Method, ambiguousPolicy: 'review' | 'resend'): Setting {
  const { name, allowance, troubles, requests, decisions, foreign = [], isQuick } = theme;
  return calmSettingOf({
    name: `${method}, ${ambiguousPolicy}: ${name}`,
    method,
    terms: { ...(isQuick ? QUICK_TERMS : SHORT_TERMS), ambiguousPolicy },
    allowance,
    troubles: new Set(troubles),
    requests: new Set(requests),
    decisions: new Set(decisions),
    foreign,
  });
}
