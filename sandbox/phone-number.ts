import type { z } from 'zod';
import type { phoneMediumSchema } from '../src/provider/schemas.js';

export type PhoneMedium = z.infer<typeof phoneMediumSchema>;

/** A Cameroonian mobile number: nine digits starting with 6, with or without the country code, no separators. */
const MOBILE = /^(?:\+?237)?(6\d{8})$/;

/**
 * The provider doesn't document how it detects a medium. The sandbox follows the country's numbering plan: 67x, 650
 * to 654 and 680 to 684 are mobile money; 69x, 655 to 659 and 685 to 689 are orange money. Other ranges (62x, 66x, …)
 * belong to operators that aren't supported.
 */
const MOBILE_MONEY = /^6(?:7\d|[58][0-4])/;
const ORANGE_MONEY = /^6(?:9\d|[58][5-9])/;

/** The nine digits of a mobile number; `undefined` for anything else. */
const nineDigits = (phone: string): string | undefined => MOBILE.exec(phone)?.[1];

/** The medium of a number by the numbering plan; `undefined` when its range has none. */
export function detectMedium(phone: string): PhoneMedium | undefined {
  const digits = nineDigits(phone);
  if (digits === undefined) return undefined;
  if (MOBILE_MONEY.test(digits)) return 'mobile money';
  if (ORANGE_MONEY.test(digits)) return 'orange money';
  return undefined;
}

export type PhoneReading =
  | { readonly kind: 'read'; readonly digits: string; readonly medium: PhoneMedium }
  | { readonly kind: 'invalid'; readonly message: string };

/**
 * Reads a number and its medium. A requested medium takes precedence over the numbering plan, since a number can be
 * ported to another operator; without one, the number must be in the plan.
 */
export function readPhone(phone: string, requested?: PhoneMedium): PhoneReading {
  const digits = nineDigits(phone);
  if (digits === undefined) {
    return { kind: 'invalid', message: 'phone must be nine digits starting with 6, optionally after +237' };
  }
  const medium = requested ?? detectMedium(digits);
  if (medium === undefined) {
    return { kind: 'invalid', message: 'phone matches no known medium: send medium as well' };
  }
  return { kind: 'read', digits, medium };
}
