import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import type { PlannedHold } from './planned-hold.js';

/** The body of a merchant's request, and the provider's future result. */
export interface PlannedOrder {
  readonly way: 'link' | 'direct' | 'payout';
  readonly path: `/v1/${string}`;
  readonly body: Readonly<Record<string, unknown>>;
  /** The merchant's own id of its client, if it gives one. */
  readonly userId?: string | undefined;
  /** The API has to refuse it: its amount is below the minimum. */
  readonly invalid: boolean;
  /** What a payout waits for before it is sent, and what people do about it. */
  readonly hold?: PlannedHold | undefined;
}

/** One thing that a payer does at the checkout page. */
export type Visit =
  | { readonly action: 'look' | 'decline' }
  | {
      readonly action: 'pay';
      readonly phone: string;
      /** Presses the button twice. */
      readonly twice: boolean;
    };

/** Time of a payer's visit: after the link was given, or before it ends (after its end, when negative). */
export type VisitTime = { readonly afterMs: number } | { readonly beforeEndMs: number };

export type PlannedVisit = Visit & { readonly time: VisitTime };

/** Merchants, by the names of their API keys. Both use the same idempotency keys. */
export const OWNERS = ['shop', 'market'] as const;
export type Owner = (typeof OWNERS)[number];

/** A merchant's further calls; times in ms after the request for the payment. */
export interface MerchantHabits {
  /** Sends the request twice at once. */
  readonly twin: boolean;
  /** Sends the request again, the same as before. */
  readonly repeatsAfter: readonly number[];
  /** Sends another body with the same key. */
  readonly otherBodyAfter?: number | undefined;
  readonly looksAfter: readonly number[];
  readonly refreshesAfter?: number | undefined;
  /** Collections only: expires it, which is accepted for a link, and for a payment that was not sent yet. */
  readonly expiresAfter?: number | undefined;
}

/** One payment, as it is going to be asked for. */
export interface PlannedPayment extends PlannedOrder {
  readonly owner: Owner;
  readonly key: string;
  /** The id that owner and key lead to. */
  readonly id: PaymentId;
  /** ms from the beginning. */
  readonly arrivesAt: number;
  readonly habits: MerchantHabits;
  readonly visits: readonly PlannedVisit[];
  /** The collection that it refunds. */
  readonly refundOf?: PaymentId | undefined;
  /** The provider answers no question about it for more than a day. */
  readonly isSilent?: boolean | undefined;
  /** Time of an operator's meddling, in ms after its arrival. */
  readonly meddledAfter?: number | undefined;
  /** Time when an operator has it compared with the provider's records, in ms after its arrival. */
  readonly recheckedAfter?: number | undefined;
}

/** Merchants take turns, and use the same keys: their payments must not meet. */
export function identityOf(
  way: PlannedOrder['way'],
  index: number,
  keys: string,
): Pick<PlannedPayment, 'owner' | 'key' | 'id'> {
  const owner = OWNERS[index % OWNERS.length] ?? 'shop';
  const key = `${keys}-${Math.floor(index / OWNERS.length)}`;
  return { owner, key, id: derivePaymentId(way === 'payout' ? 'payout' : 'collection', owner, key) };
}

/** A button of Temporal's Web UI. */
export type Button = 'cancel' | 'reset' | 'terminate';

/** A press of a button on a payment's workflow, in ms after the payment's arrival. */
export interface PlannedPress {
  readonly button: Button;
  readonly afterMs: number;
}
