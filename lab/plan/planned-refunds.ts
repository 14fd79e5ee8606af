import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { type HoldLimits, type PlannedHold, verdictsOn } from './planned-hold.js';
import type { MerchantHabits, PlannedPayment } from './planned-payment.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';

/** Share of the collections by link whose order names a number for refunds. */
export const REFUND_TO_SHARE = 0.5;

/** The manners in which a run's collections are refunded; times in ms. */
export interface RefundHabits {
  readonly limits: HoldLimits;
  /** Longest time from the notification that a collection was paid until somebody refunds it. */
  readonly withinMs: number;
  /** The number that a refund is sent to which isn't to go to the payer's own. */
  readonly otherPhone: (random: SeededRandom) => string;
  /** Habits of those who ask for it. */
  readonly habitsOf: (random: SeededRandom) => MerchantHabits;
}

/** One refund of a group: a share of what was collected, in percent; `rest` names no amount. */
type Share = number | 'rest' | 'tooLittle';

/**
 * Plans the refunds of a collection, about one in four: whole or in parts, by several clerks at once, more than there
 * is, or again and again. Their arrivals are ms after the notification that it was paid.
 */
export function planRefunds(
  collection: PlannedPayment,
  seed: string | number,
  habits: RefundHabits,
): readonly PlannedPayment[] {
  const random = seededRandom(seed, 'refunds', collection.id);
  if (collection.way === 'payout' || !random.chance('refunded', 0.25)) return [];
  const part = (label: string) => random.between(label, 10, 60);
  const shares = random.pick<readonly Share[]>('group', [
    [25, ['rest']],
    [20, ['rest', 'rest']],
    [10, [100, 100, 'rest']],
    [25, [part('first'), part('second'), part('third')]],
    [10, [part('one'), part('other'), part('next'), part('another'), 'rest']],
    [5, [random.between('more', 101, 200)]],
    [5, ['tooLittle']],
  ]);
  const first = random.between('first when', 0, habits.withinMs);
  const isAtOnce = random.chance('at once', 0.6);
  return shares.map((share, nth) => {
    const own = seededRandom(seed, 'refund', collection.id, nth);
    const arrivesAt = isAtOnce ? first : own.between('when', 0, habits.withinMs);
    return planRefund({ collection, nth, share, arrivesAt }, own, habits);
  });
}

interface Draft {
  readonly collection: PlannedPayment;
  readonly nth: number;
  readonly share: Share;
  readonly arrivesAt: number;
}

function planRefund({ collection, nth, share, arrivesAt }: Draft, random: SeededRandom, habits: RefundHabits) {
  const { id: refundOf, owner } = collection;
  const ordered = Number(collection.body.amount);
  const amount = share === 'tooLittle' ? 99 : share === 'rest' ? undefined : Math.ceil((ordered * share) / 100);
  const key = `${refundOf}-${nth}`;
  const isNumberKnown = collection.way === 'direct' || collection.body.refundTo !== undefined;
  const phone = random.chance('another number', isNumberKnown ? 0.2 : 0.85) ? habits.otherPhone(random) : undefined;
  const body = {
    reason: 'It did not fit',
    ...(amount !== undefined && { amount }),
    ...(phone !== undefined && { phone }),
    ...(random.chance('expected', 0.1) && { expectedRefundable: ordered }),
  };
  const hold = holdOf(random, phone !== undefined, amount, ordered, habits.limits);
  return {
    way: 'payout',
    path: `/v1/collections/${refundOf}/refunds`,
    body,
    invalid: amount !== undefined && amount < 100,
    hold,
    owner,
    key,
    id: derivePaymentId('payout', owner, key),
    arrivesAt,
    habits: habits.habitsOf(random),
    visits: [],
    refundOf,
  } satisfies PlannedPayment;
}

/**
 * A refund to another number waits for an approval, as does one above the merchant's limit. One that is above it
 * together with the collection's others may have to.
 */
function holdOf(
  random: SeededRandom,
  isElsewhere: boolean,
  amount: number | undefined,
  collected: number,
  limits: HoldLimits,
): PlannedHold | undefined {
  const { approveAbove } = limits;
  if (!isElsewhere && Math.max(amount ?? 0, collected) <= approveAbove) return undefined;
  const needsApproval = isElsewhere || (amount ?? 0) > approveAbove;
  return { needsApproval, approveAbove, verdicts: verdictsOn(random, limits) };
}
