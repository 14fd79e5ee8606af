import type { z } from 'zod';
import type { phoneMediumSchema } from '../src/provider/schemas.js';

export type PhoneMedium = z.infer<typeof phoneMediumSchema>;

/** A Cameroonian mobile number: nine digits from 6 on, with or without the country's prefix, nothing between them. */
const MOBILE = /^(?:\+?237)?(6\d{8})$/;

/**
 * Which operator holds which numbers. The provider doesn't say how it detects a medium; the sandbox goes by the
 * country's numbering plan: 67x, 650 to 654 and 680 to 684 are mobile money; 69x, 655 to 659 and 685 to 689 are
 * orange money. Other ranges (62x, 66x, …) belong to operators that it doesn't pay through.
 */
const MOBILE_MONEY = /^6(?:7\d|[58][0-4])/;
const ORANGE_MONEY = /^6(?:9\d|[58][5-9])/;

/** The number's nine digits, or `undefined` when it isn't a mobile number. */
export const nineDigits = (phone: string): string | undefined => MOBILE.exec(phone)?.[1];

/** The medium of a number by the numbering plan, or `undefined` when its range belongs to none. */
export function detectMedium(phone: string): PhoneMedium | undefined {
  const digits = nineDigits(phone);
  if (digits === undefined) return undefined;
  if (MOBILE_MONEY.test(digits)) return 'mobile money';
  if (ORANGE_MONEY.test(digits)) return 'orange money';
  return undefined;
}

export type PhoneReading =
  | { readonly kind: 'read'; readonly digits: string; readonly medium: PhoneMedium }
  | { readonly kind: 'unreadable'; readonly message: string };

/**
 * Reads a number and settles its medium. A medium that was asked for wins over the numbering plan, since a number
 * can be taken along to another operator; without one, the plan has to know the number.
 */
export function readPhone(phone: string, asked?: PhoneMedium): PhoneReading {
  const digits = nineDigits(phone);
  if (digits === undefined) {
    return {
      kind: 'unreadable',
      message: 'phone must be nine digits starting with 6, optionally after +237',
    };
  }
  const medium = asked ?? detectMedium(digits);
  if (medium === undefined) {
    return { kind: 'unreadable', message: 'phone belongs to no known medium: give the medium as well' };
  }
  return { kind: 'read', digits, medium };
}
