import { z } from 'zod';
import { databaseUrl, logLevel } from './kinds.js';
import { encryption, hasKeys, KEYS_MISSING, providerAddresses } from './shared-settings.js';

/** The settings of the records' commands. */
export const recordsSettings = z
  .object({ ...encryption, ...providerAddresses, LOG_LEVEL: logLevel, RECORDS_URL: databaseUrl })
  .refine(hasKeys, KEYS_MISSING);
