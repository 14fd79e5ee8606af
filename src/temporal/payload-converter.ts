import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/** The value of a payload that can't be read. No message, input or result may be it. */
const UNREADABLE = Symbol("a payload that can't be read");

/**
 * Reads payloads without throwing over one that can't be read. Temporal's own converter throws, and in a workflow that
 * would fail its task again and again. A payload that can't be decrypted doesn't come here: it waits for its key.
 *
 * Temporal's SDK loads this file by its path, into the workflows' bundle alone.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context) => defaultPayloadConverter.toPayload(value, context),
  fromPayload<T>(payload: Parameters<PayloadConverter['fromPayload']>[0]): T {
    try {
      return defaultPayloadConverter.fromPayload(payload);
    } catch {
      return UNREADABLE as T;
    }
  },
};
