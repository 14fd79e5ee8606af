import { z } from 'zod';
import { apiKeys } from './api-keys.js';
import { areRead, host, logLevel, port, trustedProxies, webhookToken } from './kinds.js';
import { decidersAmong, merchantsIn } from './merchants.js';
import { merchantsFile } from './merchants-file.js';
import { encryption, hasKeys, KEYS_MISSING, ONE_DESCRIPTION, providerAddresses, temporal } from './shared-settings.js';

/** The codec server's settings. */
export const codecSettings = z
  .object({
    ...encryption,
    ...providerAddresses,
    TEMPORAL_UI_URL: temporal.TEMPORAL_UI_URL,
    HOST: host,
    CODEC_PORT: port(8234),
    TRUSTED_PROXIES: trustedProxies,
    CODEC_UI_TOKEN: webhookToken.optional(),
    LOG_LEVEL: logLevel,
    API_KEYS: apiKeys.optional(),
    MERCHANTS_FILE: merchantsFile.optional(),
  })
  .refine(({ API_KEYS, MERCHANTS_FILE }) => API_KEYS === undefined || MERCHANTS_FILE === undefined, {
    path: ['API_KEYS'],
    error: ONE_DESCRIPTION,
    when: areRead('API_KEYS', 'MERCHANTS_FILE'),
  })
  .refine((settings) => settings.CODEC_UI_TOKEN !== undefined || decidersAmong(merchantsIn(settings)).length > 0, {
    path: ['API_KEYS'],
    error: 'has no key with the scope review, and neither has MERCHANTS_FILE: nobody could read a payment',
    when: areRead('API_KEYS', 'MERCHANTS_FILE', 'CODEC_UI_TOKEN'),
  })
  .refine(hasKeys, KEYS_MISSING);
