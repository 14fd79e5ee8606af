import type { RefundedCollections } from '../../src/activities/refund-check.js';

/** Reads no collection, so that no refund is sent: for tests of other payments. */
export const noCollections: RefundedCollections = {
  standingOf: async () => ({ kind: 'doubtful', why: 'no collection is read here' }),
  doubt: async () => undefined,
};
