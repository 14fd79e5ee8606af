import { z } from 'zod';
import type { Entry } from './entry.js';
import { type PhoneMedium, readPhone } from './phone-number.js';
import { outcomeOfNumber, type TestOutcome } from './test-outcome.js';

/** What a payer asks for at the checkout. Paying takes a phone; declining takes nothing. */
export interface AttemptRequest {
  readonly action: 'pay' | 'decline';
  readonly phone?: string | undefined;
  /** Detected from the number when left out. */
  readonly medium?: PhoneMedium | undefined;
  /** For the receipt; kept only when the merchant gave none. */
  readonly email?: string | undefined;
}

/** What became of it. Only `paid`, `declined` and `pending` may have changed something. */
export type AttemptResult =
  /** The link is paid: send the payer on. */
  | { readonly kind: 'paid'; readonly entry: Entry }
  /** The attempt failed, or the payer declined; the link can be tried again. */
  | { readonly kind: 'declined'; readonly entry: Entry; readonly reason: string }
  /** An attempt is under way (this one, or an earlier one: then this one did nothing). */
  | { readonly kind: 'pending'; readonly entry: Entry }
  /** The link has expired. */
  | { readonly kind: 'tooLate'; readonly entry: Entry }
  /** It was paid before: this attempt did nothing. */
  | { readonly kind: 'alreadyPaid'; readonly entry: Entry }
  /** Something in the request has to be put right. */
  | {
      readonly kind: 'invalid';
      readonly entry: Entry;
      readonly field: 'phone' | 'email';
      readonly message: string;
    }
  /** No such link. */
  | { readonly kind: 'unknown' };

/** A request that makes sense: what it comes to, and what it says of the payer. */
export type AttemptPlan =
  | {
      readonly kind: 'pay';
      readonly outcome: TestOutcome;
      readonly medium: PhoneMedium;
      readonly email?: string | undefined;
    }
  | { readonly kind: 'decline' }
  | { readonly kind: 'invalid'; readonly field: 'phone' | 'email'; readonly message: string };

/** Reads a payer's request. People put spaces into numbers, so those are let through here (the endpoints don't). */
export function planAttempt(request: AttemptRequest): AttemptPlan {
  if (request.action === 'decline') return { kind: 'decline' };
  const phone = readPhone((request.phone ?? '').replace(/\s/g, ''), request.medium);
  if (phone.kind === 'unreadable') return { kind: 'invalid', field: 'phone', message: phone.message };
  const email = request.email?.trim();
  if (email && !z.email().safeParse(email).success) {
    return { kind: 'invalid', field: 'email', message: 'email must be an e-mail address' };
  }
  return {
    kind: 'pay',
    outcome: outcomeOfNumber(phone.digits),
    medium: phone.medium,
    ...(email && { email }),
  };
}
