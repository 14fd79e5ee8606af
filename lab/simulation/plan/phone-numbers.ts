import type { Dice } from './dice.js';

/** What the provider makes of a number; see the sandbox's test numbers. */
export type NumberFate = 'pays' | 'fails' | 'paysLater' | 'failsLater' | 'stays';

/** A mobile number, most often of a known medium, that the provider brings to the given end. */
export function phoneNumber(
  dice: Dice,
  label: string,
  fate: NumberFate,
  prefix = prefixOf(dice, label),
): string {
  const middle = String(dice.between(`${label} middle`, 0, 9_999)).padStart(4, '0');
  return `${prefix}${middle}${lastDigits(dice, label, fate)}`;
}

function prefixOf(dice: Dice, label: string): string {
  return dice.pick(`${label} operator`, [
    [6, '67'],
    [4, '69'],
  ]);
}

function lastDigits(dice: Dice, label: string, fate: NumberFate): string {
  const two = (most: number) => String(dice.between(`${label} count`, 1, most)).padStart(2, '0');
  switch (fate) {
    case 'pays':
      return `0${two(99)}`;
    case 'fails':
      return `1${two(99)}`;
    case 'paysLater':
      return dice.pick(`${label} unit`, [
        [4, `2${two(59)}`],
        [5, `4${two(59)}`],
        [1, `6${two(30)}`],
      ]);
    case 'failsLater':
      return dice.pick(`${label} unit`, [
        [4, `3${two(59)}`],
        [5, `5${two(59)}`],
        [1, `7${two(30)}`],
      ]);
    case 'stays':
      return `8${two(99)}`;
  }
}
