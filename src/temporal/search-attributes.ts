import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

/**
 * The search attributes of every payment's workflow, by which operators find it in Temporal's Web UI: nothing of Sanaga
 * reads them. They hold no personal data: they aren't encrypted, and anyone who may list workflows can read them.
 *
 * Temporal's visibility in an SQL database has room for ten keywords in a namespace: these leave half to others.
 *
 * This file is imported by workflow code, so it may import nothing but `@temporalio/common`.
 */
export const paymentSearchAttributes = {
  merchant: defineSearchAttributeKey('Merchant', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('PaymentStatus', SearchAttributeType.KEYWORD),
  kind: defineSearchAttributeKey('PaymentKind', SearchAttributeType.KEYWORD),
  externalId: defineSearchAttributeKey('ExternalId', SearchAttributeType.KEYWORD),
  transId: defineSearchAttributeKey('TransId', SearchAttributeType.KEYWORD),
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
