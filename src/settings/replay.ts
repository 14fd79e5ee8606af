import { z } from 'zod';
import { encryption, hasKeys, KEYS_MISSING, providerAddresses, temporal } from './shared-settings.js';

/** The settings of the replay before a deployment. */
export const replaySettings = z
  .object({ ...encryption, ...providerAddresses, TEMPORAL_TASK_QUEUE: temporal.TEMPORAL_TASK_QUEUE })
  .refine(hasKeys, KEYS_MISSING);
