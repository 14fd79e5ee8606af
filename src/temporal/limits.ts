/*
 * Temporal's limits for one payment, where merchants could exceed them. Temporal Cloud's limits are the narrowest:
 * 40 kB for all that is stored beside a workflow (its memo, and all of its search attributes), 2 MB for a message.
 * Encryption adds some hundred bytes to each value. A request is refused by limits below these before the provider is
 * asked for anything.
 */

/**
 * Bytes that a payment's metadata may have as JSON: most of its memo, which lists are made from. The rest has less than
 * 2 kB.
 */
export const MAX_METADATA_BYTES = 32_000;
