import { MINUTE_MS } from '../../src/payments/words/time.js';
import type { SeededRandom } from './seeded-random.js';

/** Somebody who decides on a merchant's held payouts: the clerk ordered them, and a stranger is another merchant's. */
export type Decider = 'clerk' | 'clerkAgain' | 'accountant' | 'owner' | 'stranger';

/** Time of a verdict: after the payout was seen to be held, or before the end of its wait (after it, when negative). */
export type VerdictTime = { readonly afterMs: number } | { readonly beforeEndMs: number };

/** What somebody does about a held payout. */
export interface PlannedVerdict {
  readonly by: Decider;
  readonly action: 'approve' | 'reject' | 'cancel';
  /** Approves by the digest of another payout. */
  readonly isOther?: true | undefined;
  readonly time: VerdictTime;
}

/** What a payout waits for by its order or its merchant's limit, and what people do about it. */
export interface PlannedHold {
  readonly needsApproval: boolean;
  /** Needs one too when its amount is more than this; XAF. */
  readonly approveAbove: number;
  /** ms from its arrival to its date. */
  readonly sendAfterMs?: number | undefined;
  readonly verdicts: readonly PlannedVerdict[];
}

/** The limits of merchants, and their clerks' habits. */
export interface HoldLimits {
  /** A payout of more waits for an approval; XAF. */
  readonly approveAbove: number;
  /** Longest wait for the approval, in ms. */
  readonly approvalWithinMs: number;
  /** Verdicts come within this time, in ms: those at the end of the wait only if it is no shorter. */
  readonly decidedWithinMs: number;
  /** The latest date of a payout, in ms after its arrival. */
  readonly maxDateMs: number;
}

/**
 * Draws whether a payout is held, about one in five: its body's own fields, and what people do about it.
 */
export function planHold(
  random: SeededRandom,
  amount: number,
  limits: HoldLimits,
): { readonly body: { readonly approval?: true }; readonly hold?: PlannedHold } {
  const ordered = random.pick<'nothing' | 'approval' | 'date' | 'both'>('hold', [
    [86, 'nothing'],
    [6, 'approval'],
    [4, 'date'],
    [4, 'both'],
  ]);
  const isAsked = ordered === 'approval' || ordered === 'both';
  const needsApproval = isAsked || amount > limits.approveAbove;
  const isDated = ordered === 'date' || ordered === 'both';
  const body = isAsked ? { approval: true as const } : {};
  if (!needsApproval && !isDated) return { body };
  const sendAfterMs = isDated ? random.between('date', limits.maxDateMs / 4, limits.maxDateMs) : undefined;
  const verdicts = needsApproval ? verdictsOn(random, limits) : verdictsOnDate(random, sendAfterMs ?? 0);
  return { body, hold: { needsApproval, approveAbove: limits.approveAbove, sendAfterMs, verdicts } };
}

/** Verdicts on a payout that needs an approval: those that decide it, and those that have to be refused. */
export function verdictsOn(random: SeededRandom, { approvalWithinMs, decidedWithinMs }: HoldLimits): PlannedVerdict[] {
  const decided = random.between('decided', decidedWithinMs / 50, decidedWithinMs * 0.7);
  const isWaitedFor = decidedWithinMs >= approvalWithinMs;
  const sooner = () => ({ afterMs: random.between('sooner', 0, decided) });
  const time = { afterMs: decided };
  const approves = { by: 'accountant', action: 'approve', time } as const;
  const decisive = random.pick<readonly PlannedVerdict[]>('decisive', [
    [46, [approves]],
    [12, [{ ...approves, action: 'reject' }]],
    [isWaitedFor ? 6 : 0, []],
    [isWaitedFor ? 6 : 0, [{ ...approves, time: { beforeEndMs: random.between('edge', -1_500, 1_500) } }]],
    [
      isWaitedFor ? 4 : 0,
      [{ ...approves, time: { beforeEndMs: -random.between('late', 1, 30) * (approvalWithinMs / 20) } }],
    ],
    [8, [approves, { by: 'owner', action: 'reject', time }]],
    [6, [approves, { by: 'owner', action: 'approve', time }]],
    [6, [{ by: 'clerk', action: 'cancel', time }]],
    [6, [approves, { by: 'clerk', action: 'cancel', time }]],
  ]);
  const sometimes = (label: string, likelihood: number, verdict: PlannedVerdict) =>
    random.chance(label, likelihood) ? [verdict] : [];
  const after = (ms: number) => ({ afterMs: decided + ms });
  return [
    ...decisive,
    ...sometimes('own', 0.25, { by: 'clerk', action: 'approve', time: sooner() }),
    ...sometimes('own, again', 0.15, { by: 'clerkAgain', action: 'approve', time: sooner() }),
    ...sometimes('another digest', 0.2, { by: 'owner', action: 'approve', isOther: true, time: sooner() }),
    ...sometimes('stranger', 0.1, { by: 'stranger', action: 'approve', time: sooner() }),
    ...sometimes('twice', 0.25, { ...approves, time: after(random.between('twice when', 0, decidedWithinMs / 10)) }),
    ...sometimes('afterthought', 0.15, { by: 'owner', action: 'reject', time: after(decidedWithinMs / 4) }),
  ];
}

/** Verdicts on a payout that waits for its date alone, which nobody has to approve. */
function verdictsOnDate(random: SeededRandom, sendAfterMs: number): PlannedVerdict[] {
  const time = { afterMs: random.between('decided', 0, sendAfterMs) };
  return random.pick<PlannedVerdict[]>('decisive', [
    [60, []],
    [15, [{ by: 'clerk', action: 'cancel', time }]],
    [10, [{ by: 'clerk', action: 'cancel', time: { beforeEndMs: random.between('edge', -1_500, 1_500) } }]],
    [10, [{ by: 'accountant', action: 'reject', time }]],
    [5, [{ by: 'accountant', action: 'approve', time }]],
  ]);
}

/** The limits of the simulation's merchants. */
export const SIMULATED_LIMITS: HoldLimits = {
  approveAbove: 500_000,
  approvalWithinMs: 600 * MINUTE_MS,
  decidedWithinMs: 600 * MINUTE_MS,
  maxDateMs: 1_200 * MINUTE_MS,
};

/** The limits of a chaos run's merchants, whose people decide within a minute. */
export const CHAOS_LIMITS: HoldLimits = {
  approveAbove: 185_000,
  approvalWithinMs: 5 * MINUTE_MS,
  decidedWithinMs: MINUTE_MS,
  maxDateMs: MINUTE_MS,
};
