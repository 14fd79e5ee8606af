import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/**
 * The search attributes of every payment's workflow. They hold no personal data: they aren't encrypted, and anyone who
 * may list workflows can read them.
 *
 * Temporal's visibility in an SQL database has room for three of each type in a namespace, and for ten keywords. These
 * leave room for others of every type.
 *
 * This file is imported by workflow code, so it may import nothing but `@temporalio/common`.
 */
export const paymentSearchAttributes = {
  /** The merchant's name: merchants list only their own payments. */
  merchant: defineSearchAttributeKey('Merchant', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('PaymentStatus', SearchAttributeType.KEYWORD),
  /** `true` when the status is final: a link's FAILED may not be. Absent until it first is. */
  final: defineSearchAttributeKey('PaymentFinal', SearchAttributeType.BOOL),
  /** `true` when a notification was given up, and not sent again. Absent until one is given up. */
  givenUp: defineSearchAttributeKey('NotificationGivenUp', SearchAttributeType.BOOL),
  /** What a held payout waits for: `approval`, `date` or both. Absent unless it is held. */
  heldFor: defineSearchAttributeKey('HeldFor', SearchAttributeType.KEYWORD_LIST),
  /** The date of a payout that has one: it counts on that day. */
  sendAt: defineSearchAttributeKey('SendAt', SearchAttributeType.DATETIME),
  /** When a held payout was released, to be sent: the day that it belongs to from then on. Absent until then. */
  releasedAt: defineSearchAttributeKey('ReleasedAt', SearchAttributeType.DATETIME),
  kind: defineSearchAttributeKey('PaymentKind', SearchAttributeType.KEYWORD),
  externalId: defineSearchAttributeKey('ExternalId', SearchAttributeType.KEYWORD),
  userId: defineSearchAttributeKey('UserId', SearchAttributeType.KEYWORD),
  transId: defineSearchAttributeKey('TransId', SearchAttributeType.KEYWORD),
  /** The collection that a payout refunds. */
  refundOf: defineSearchAttributeKey('RefundOf', SearchAttributeType.KEYWORD),
  /** The order's amount, in XAF. */
  amount: defineSearchAttributeKey('Amount', SearchAttributeType.INT),
  /** The amount that moved when the payment was last SUCCESSFUL, if the provider has given it, in whole XAF. */
  amountPaid: defineSearchAttributeKey('AmountPaid', SearchAttributeType.DOUBLE),
  /** ms since the epoch. The same in all runs of a payment, unlike their start times. */
  createdAt: defineSearchAttributeKey('CreatedAt', SearchAttributeType.INT),
} as const;

/** Longest value of {@link paymentSearchAttributes.transId}, in characters. */
const MAX_KEYWORD_LENGTH = 200;

/**
 * Returns a transaction's id as the index has it. The provider may choose any text; what would have a meaning in
 * Temporal's query language is percent-encoded.
 */
export function toTransIdKeyword(transId: string): string {
  const encoded = transId.replace(/[^A-Za-z0-9_.:/+=@~-]+/g, (text) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
  );
  return encoded.slice(0, MAX_KEYWORD_LENGTH);
}

/** Returns a transaction's id of a {@link toTransIdKeyword}. One that was cut off within a character stays encoded. */
export function fromTransIdKeyword(keyword: string): string {
  try {
    return decodeURIComponent(keyword);
  } catch {
    return keyword;
  }
}
