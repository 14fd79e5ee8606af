import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/** The value of a payload that can't be read. No message, input or result may be it. */
const UNREADABLE = Symbol("a payload that can't be read");

/**
 * Reads payloads, and doesn't throw over one that can't be read, as Temporal's own converter does: in a workflow that
 * would fail its task, again and again. One that can't be decrypted doesn't come here: it waits for its key.
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
