import { calmSettingOf } from '../../../lab/explore/setting.js';
import type { Mutant } from './mutants.js';

const inDoubt = calmSettingOf({
  kind: 'payout',
  troubles: new Set(['ambiguous', 'takenTwice']),
  decisions: new Set(['fail', 'insist']),
  allowance: { troubles: 1, decisions: 1 },
});
const sentAgain = calmSettingOf({
  kind: 'payout',
  troubles: new Set(['ambiguous']),
  decisions: new Set(['resend', 'insist']),
  allowance: { troubles: 1, decisions: 1 },
});
const ofAnotherAmount = calmSettingOf({
  kind: 'direct',
  troubles: new Set(['wrongAmount', 'fieldsLeftOut']),
  decisions: new Set(['match', 'insist']),
  allowance: { troubles: 2, decisions: 1 },
});
const inHaste = calmSettingOf({
  kind: 'payout',
  troubles: new Set(['throttledPost', 'silence']),
  decisions: new Set(['resend', 'insist']),
  allowance: { troubles: 2, notifications: 1, decisions: 1 },
  namesAlone: true,
});
const decidedTwice = calmSettingOf({
  kind: 'direct',
  troubles: new Set(['ambiguous', 'fieldsLeftOut']),
  decisions: new Set(['fail', 'match', 'insist']),
  allowance: { troubles: 3, decisions: 2 },
});

/** Mutants of what a payment counts for, as a refund or as a collection. */
export const REFUND_MUTANTS: readonly Mutant[] = [
  {
    rule: 'a refund under review keeps its room',
    find: "if (isSettled && phase.status !== 'SUCCESSFUL') return further;",
    replace: "if (phase.kind === 'review' || (isSettled && phase.status !== 'SUCCESSFUL')) return further;",
    setting: inDoubt,
    states: 20_000,
    breaks: 'refundCounts',
    story: [/REVIEW/],
  },
  {
    rule: 'a refund that an operator calls FAILED keeps its room until the checks are over',
    find: "const isSettled = phase.kind === 'ended' && phase.checks.length === 0 && !phase.outstanding?.length;",
    replace: "const isSettled = phase.kind === 'ended' && !phase.outstanding?.length;",
    setting: inDoubt,
    states: 20_000,
    breaks: 'refundCounts',
    story: [/fail \(forced\)/],
  },
  {
    rule: 'a refund that the provider has failed gives its room back',
    find: "if (isSettled && phase.status !== 'SUCCESSFUL') return further;",
    replace: '',
    setting: calmSettingOf({ kind: 'payout' }),
    states: 20_000,
    breaks: 'refundFree',
    story: [/FAILED, final/],
  },
  {
    rule: 'further transactions of a refund count with its own',
    find: 'const further = sumOf(furtherOf(refund));',
    replace: 'const further = 0;',
    setting: inDoubt,
    states: 20_000,
    breaks: 'refundCounts',
    story: [/taken as T1 and T2/],
  },
  {
    rule: 'each request for a refund counts while it is not known what came of it',
    find: 'return Math.max(shown, order.amount * Math.max(requests, 1));',
    replace: 'return Math.max(shown, order.amount);',
    setting: sentAgain,
    states: 20_000,
    breaks: 'refundCounts',
    story: [/resend \(forced\)/],
  },
  {
    rule: 'what was collected can be refunded, not what was ordered',
    find: 'const moved = facts.amountPaid ?? otherAmountOf(collection, phase.transId);',
    replace: 'const moved = order.amount;',
    setting: ofAnotherAmount,
    states: 20_000,
    breaks: 'collected',
    story: [/of a wrong amount/],
  },
  {
    rule: 'an amount that the provider has shown once counts as collected, though the latest answer leaves it out',
    find: 'const moved = facts.amountPaid ?? otherAmountOf(collection, phase.transId);',
    replace: 'const moved = facts.amountPaid;',
    setting: ofAnotherAmount,
    states: 20_000,
    breaks: 'collected',
    story: [/with fields left out/],
  },
  {
    rule: 'a throttled request for a refund counts where an operator does not wait for the list to show it',
    find: "const count = sends.count + (isThrottled && cause === 'operator' ? 1 : 0);",
    replace: 'const { count } = sends;',
    setting: inHaste,
    breaks: 'refundCounts',
    story: [/throttled/, /resend \(forced\)/],
  },
  {
    rule: 'a match counts as collected, though an operator has decided before that no money has moved',
    find: 'const tolerant = { ...payment, acceptedDifference: wrong };',
    replace: 'const tolerant = wrong === undefined ? payment : { ...payment, acceptedDifference: wrong };',
    setting: decidedTwice,
    breaks: 'collected',
    story: [/fail \(forced\)/, /match T1/, /with fields left out/],
  },
];
