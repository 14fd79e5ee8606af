import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Puts the messages and stack traces of failures into payloads, which are encrypted: they may quote what a payment was
 * asked for.
 *
 * Temporal's SDK loads this file by its path, for the worker as well as for the workflows, in whose bundle it is. So it
 * may import nothing but `@temporalio/common`.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });

/** The type of the failure of an activity whose worker couldn't decrypt what it was to do, and so did nothing. */
export const DECRYPTION_FAILURE = 'DecryptionError';
