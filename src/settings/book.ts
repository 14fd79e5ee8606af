import { z } from 'zod';
import { databaseUrl, logLevel } from './kinds.js';
import { encryption, hasKeys, KEYS_MISSING, providerAddresses } from './shared-settings.js';

const opened = { ...providerAddresses, LOG_LEVEL: logLevel, DATABASE_URL: databaseUrl };

/** The settings of the commands that read the book. */
export const bookSettings = z.object({ ...opened, ...encryption }).refine(hasKeys, KEYS_MISSING);

/** The settings of the migrations, which change tables and read no payment. */
export const migrationSettings = z.object(opened);
