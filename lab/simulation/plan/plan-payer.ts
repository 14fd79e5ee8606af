import type { Dice } from './dice.js';
import { HOUR, MINUTE } from './durations.js';
import { type NumberFate, phoneNumber } from './phone-numbers.js';

/** One thing that a payer does at the checkout page. */
export type Visit =
  | { readonly action: 'look' | 'decline' }
  | {
      readonly action: 'pay';
      readonly phone: string /** Presses the button twice. */;
      readonly twice: boolean;
    };

/** When a payer comes: so long after the link was given, or so long before it ends (after, when negative). */
export type VisitTime = { readonly afterMs: number } | { readonly beforeEndMs: number };

export type PlannedVisit = Visit & { readonly time: VisitTime };

/** What the payer of a link is going to do, in order. */
export function planPayer(dice: Dice): PlannedVisit[] {
  const afterMs = dice.pick('patience', [
    [6, dice.between('soon', 1, 9) * MINUTE],
    [2, dice.between('later', 10, 180) * MINUTE],
    [1, dice.between('late', 3, 23) * HOUR],
  ]);
  const pay = (label: string, fate: NumberFate, time: VisitTime): PlannedVisit => ({
    action: 'pay',
    phone: phoneNumber(dice, label, fate),
    twice: dice.chance(`${label} twice`, 0.15),
    time,
  });
  const again = { afterMs: afterMs + dice.between('again', 1, 60) * MINUTE };
  const look: PlannedVisit = { action: 'look', time: { afterMs } };
  const decline: PlannedVisit = { action: 'decline', time: { afterMs } };
  return dice.pick<PlannedVisit[]>('payer', [
    [38, [pay('first', 'pays', { afterMs })]],
    [10, [look, pay('first', 'paysLater', { afterMs })]],
    [8, [decline]],
    [10, [decline, pay('second', 'pays', again)]],
    [6, [pay('first', 'fails', { afterMs }), pay('second', 'pays', again)]],
    [4, [pay('first', 'failsLater', { afterMs }), pay('second', 'pays', again)]],
    [12, [look]],
    [6, [pay('last', 'pays', { beforeEndMs: dice.between('last second', 1, 999) })]],
    [6, [pay('too late', 'pays', { beforeEndMs: -dice.between('too late', 0, 2_000) })]],
  ]);
}
