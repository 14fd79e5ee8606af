import { PROVIDER_LINK_LIFETIME_MS } from '../../payments/limits.js';

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A link that lives shorter than this can hardly be opened before it ends, in ms. */
const SHORTEST_MS = 10_000;

/**
 * A link's lifetime, written as a whole number with its unit, in ms. `undefined` when it isn't one, or isn't between
 * 10 seconds and the 24 hours that the provider gives a link.
 *
 * @example readExpiresIn('15m') // 900000
 */
export function readExpiresIn(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  if (count === undefined || !isUnit(unit)) return undefined;
  const ms = Number(count) * UNITS[unit];
  return ms >= SHORTEST_MS && ms <= PROVIDER_LINK_LIFETIME_MS ? ms : undefined;
}

function isUnit(text: string | undefined): text is keyof typeof UNITS {
  return text !== undefined && text in UNITS;
}
