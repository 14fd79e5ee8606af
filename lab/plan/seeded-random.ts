import { keyedRandom } from '../../sandbox/keyed-random.js';

/**
 * Random values that depend on the seed, the subject and the label, and not on the order in which they are drawn: the
 * same seed makes the same plans.
 */
export interface SeededRandom {
  /** Draws whether something of this likelihood (0 to 1) happens. */
  chance(label: string, likelihood: number): boolean;
  /** An integer from `min` to `max`. */
  between(label: string, min: number, max: number): number;
  /** One of the choices, each as likely as its weight. */
  pick<Choice>(label: string, choices: readonly (readonly [weight: number, choice: Choice])[]): Choice;
}

/** The random of one subject, such as a payment or a day. */
export function seededRandom(seed: string | number, ...subject: readonly (string | number)[]): SeededRandom {
  const random = keyedRandom(seed);
  const fraction = (label: string) => random.fraction('simulation', ...subject, label);
  return {
    chance: (label, likelihood) => fraction(label) < likelihood,
    between: (label, min, max) => min + Math.floor(fraction(label) * (max - min + 1)),
    pick(label, choices) {
      const total = choices.reduce((sum, [weight]) => sum + weight, 0);
      let left = fraction(label) * total;
      for (const [weight, choice] of choices) {
        left -= weight;
        if (left < 0) return choice;
      }
      throw new RangeError(`there is nothing to choose from for ${label}`);
    },
  };
}
