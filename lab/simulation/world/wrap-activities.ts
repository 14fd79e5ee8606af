import type { Activities } from '../../../src/activities/activities.js';

/**
 * Changes what activities do.
 *
 * @param claimed what the provider's notifications said last of a transaction
 */
export type WrapActivities = (
  activities: Activities,
  claimed: (transId: string) => string | undefined,
) => Activities;
