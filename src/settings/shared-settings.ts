import { z } from 'zod';
import { encryptionKeys, KEY_ADVICE } from './encryption-keys.js';
import { areRead, baseUrl, duration, headerValue, httpUrl, text } from './kinds.js';
import { providerUrl } from './provider-address.js';

/* The settings that several processes read, by subject. */

export const encryption = {
  ENCRYPTION: z.enum(['on', 'off'], 'must be on or off').default('on'),
  ENCRYPTION_KEYS: encryptionKeys.optional(),
};

/** Personal data is written in plain text only if somebody has decided that it may be. */
export const hasKeys = (settings: { readonly ENCRYPTION: string; readonly ENCRYPTION_KEYS?: unknown }) =>
  settings.ENCRYPTION === 'off' || settings.ENCRYPTION_KEYS !== undefined;

export const KEYS_MISSING = {
  path: ['ENCRYPTION_KEYS'],
  error: `is not set: names and phone numbers would be in Temporal for everyone to read. ${KEY_ADVICE}, and set ENCRYPTION_KEYS_FILE to its path, for the API, every worker and the codec server alike; or set ENCRYPTION=off to do without`,
  when: areRead('ENCRYPTION', 'ENCRYPTION_KEYS'),
};

/**
 * Settings of Temporal besides its address, namespace, TLS and API key, which `@temporalio/envconfig` reads: see
 * temporal/connection.ts.
 */
export const temporal = {
  TEMPORAL_TASK_QUEUE: text.default('payments'),
  TEMPORAL_UI_URL: baseUrl.optional(),
};

/** Traces, off without an endpoint. OpenTelemetry's exporter reads further settings itself, such as headers. */
export const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, 'must be a number from 0 to 1')
    .default('1')
    .transform(Number),
};

export const provider = {
  PROVIDER_COLLECTION_URL: providerUrl,
  PROVIDER_COLLECTION_API_USER: headerValue,
  PROVIDER_COLLECTION_API_KEY: headerValue,
  PROVIDER_PAYOUT_URL: providerUrl,
  PROVIDER_PAYOUT_API_USER: headerValue,
  PROVIDER_PAYOUT_API_KEY: headerValue,
  PROVIDER_TIMEOUT: duration('15s', { min: '1s', max: '60s' }),
};

/**
 * Where the provider is, for those who don't call it: with the sandbox alone, the secrets of `.env.example` are taken.
 */
export const providerAddresses = {
  PROVIDER_COLLECTION_URL: providerUrl.optional(),
  PROVIDER_PAYOUT_URL: providerUrl.optional(),
};

export const ONE_DESCRIPTION =
  "can't be set together with MERCHANTS_FILE: the file has the merchants' keys and webhook addresses";
