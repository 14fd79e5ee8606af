import { calmSettingOf } from '../../../lab/explore/setting.js';
import type { Change } from './mutant.js';
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
];

/** A rule of a collection's count that is switched off, and the rule that is seen to break. */
export interface RoomMutant extends Change {
  readonly rule: string;
  readonly breaks: string;
}

/** Mutants of how a collection counts its refunds. */
export const ROOM_MUTANTS: readonly RoomMutant[] = [
  {
    rule: 'what was asked for counts against what was collected, together with all that was before',
    find: 'if (counted + most > collected)',
    replace: 'if (most > collected)',
    breaks: 'never more than was collected',
  },
  {
    rule: 'a refund that has a payment is not reserved anew',
    find: "if (own?.kind === 'known') return { refunds, answer: { kind: 'known' } };",
    replace: '',
    breaks: 'read newly',
  },
  {
    rule: 'a repeated request counts once',
    find: 'const others = refunds.filter((one) => one !== own);',
    replace: 'const others = refunds;',
    breaks: 'for want of room',
  },
  {
    rule: 'of a refund that is asked for with two amounts, the larger counts',
    find: 'const most = Math.max(amount, own?.amount ?? 0);',
    replace: 'const most = amount;',
    breaks: 'never more than was collected',
  },
  {
    rule: 'a refund that the collection has forgotten is counted again',
    find: "if (reading.kind === 'known') return isNewer(reading, before) ? [...others, reading] : refunds;",
    replace:
      "if (reading.kind === 'known') return before !== undefined && isNewer(reading, before) ? [...others, reading] : refunds;",
    breaks: 'has forgotten it',
  },
  {
    rule: 'an older reading changes nothing',
    find: "if (before?.kind !== 'known') return true;",
    replace: 'return true;',
    breaks: 'for want of room',
  },
  {
    rule: 'of two readings of one state, the one before the end of the checks changes nothing',
    find: '(asOf === before.asOf && amount < before.amount)',
    replace: 'asOf === before.asOf',
    breaks: 'for want of room',
  },
  {
    rule: 'the end of the checks gives the room back',
    find: '(asOf === before.asOf && amount < before.amount)',
    replace: 'false',
    breaks: 'read newly',
  },
  {
    rule: 'a reservation keeps its room while the refund may still start',
    find: "const isOver = before?.kind === 'reserved' && before.at + RESERVED_FOR_MS <= readAt;",
    replace: "const isOver = before?.kind === 'reserved';",
    breaks: 'never more than was collected',
  },
  {
    rule: 'a reservation that nothing has come of gives its room back',
    find: "const isOver = before?.kind === 'reserved' && before.at + RESERVED_FOR_MS <= readAt;",
    replace: 'const isOver = false;',
    breaks: 'for want of room',
  },
  {
    rule: 'a payment that was seen once keeps its room',
    find: "const isOver = before?.kind === 'reserved' && before.at + RESERVED_FOR_MS <= readAt;",
    replace:
      "const isOver = before !== undefined && (before.kind === 'known' || before.at + RESERVED_FOR_MS <= readAt);",
    breaks: 'never more than was collected',
  },
  {
    rule: 'a refund is not sent once its collection is no longer SUCCESSFUL',
    find: 'if (paid === undefined) { const kind',
    replace:
      "if (paid === undefined) return { kind: 'stands', paid: [], toSpare: 0 }; if (paid === undefined) { const kind",
    breaks: 'only while its collection stands',
  },
  {
    rule: 'a refund is not sent once its collection has less left than it',
    find: "if (toSpare >= 0) return { kind: 'stands', paid, toSpare };",
    replace: "return { kind: 'stands', paid, toSpare };",
    breaks: 'only while its collection stands',
  },
  {
    rule: 'a refund that is to be sent leaves room for all others',
    find: 'const toSpare = sumOf(paid) - others - amount;',
    replace: 'const toSpare = sumOf(paid) - amount;',
    breaks: 'only while its collection stands',
  },
  {
    rule: 'a refund whose collection is under review is not given up for that',
    find: "const kind = isFinalPayment(collection) ? 'gone' : 'doubtful';",
    replace: "const kind = 'gone' as const;",
    breaks: 'withheld only when',
  },
];
