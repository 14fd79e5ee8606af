import { readFileSync } from 'node:fs';
import { validateHeaderValue } from 'node:http';
import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { MINIMUM_AMOUNT, PROVIDER_LINK_LIFETIME_MS } from '../payments/words/limits.js';
import { encryptionKeys, KEY_ADVICE } from './encryption-keys.js';
import { exampleSecrets } from './example-secrets.js';
import {
  apiKeys,
  decidersAmong,
  hasPayments,
  httpUrl,
  isWebhookSecret,
  type Merchant,
  merchantsFile,
  merchantsOfKeys,
  type NamedKey,
  reasonOf,
  WEBHOOK_SECRET_FORM,
} from './merchants.js';

/**
 * Every setting, read once from the environment. Each process reads its own part with {@link readConfig}, which reports
 * all mistakes at once, one line for each.
 */

/** Thrown by {@link readConfig}; the message has one line for each wrong setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const DURATION = /^\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)$/;

/** The longest duration of any setting: Node's timers take at most 2^31 - 1 ms, and fire at once beyond that. */
const MAX_DURATION = '24d';

interface DurationBounds {
  /** At least this long; 0s when not given. */
  readonly min?: StringValue;
  /** At most this long; {@link MAX_DURATION} when not given. */
  readonly max?: StringValue;
  /** The reason for the bounds, where it isn't obvious. It ends the message. */
  readonly because?: string;
}

/** A moment such as `2026-11-26T10:30:00Z`, in ms since the epoch. */
const time = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-26T10:30:00Z' })
  .transform((text) => Date.parse(text));

/** A duration such as `90s` or `24h`, in ms. */
const duration = (fallback: StringValue, { min = '0s', max = MAX_DURATION, because }: DurationBounds = {}) =>
  z
    .string()
    .regex(DURATION, 'must be a duration such as 500ms, 90s, 15m, 24h or 2d')
    .default(fallback)
    .transform((text) => Math.round(ms(text as StringValue)))
    .refine((value) => value >= ms(min) && value <= ms(max), {
      error: `must be between ${min} and ${max}${because === undefined ? '' : `: ${because}`}`,
    });

const count = (fallback: number, { min = 1, max = 9_999_999 }: { min?: number; max?: number } = {}) =>
  z
    .string()
    .regex(/^\d{1,7}$/, `must be a whole number from ${min} to ${max}`)
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** Proxies before a process that tell it who calls. */
const trustedProxies = count(0, { min: 0, max: 10 });

const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port, from 0 to 65535')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port, from 0 to 65535');

/** An address that paths are appended to, without slashes at its end. */
const baseUrl = httpUrl
  .refine((address) => !/[?#]/.test(address), 'must not have a query or a fragment')
  .transform((address) => address.replace(/(?<!\/)\/+$/, ''));

const text = z.string().min(1, 'must not be empty');

/** The address that a process listens on. */
const host = text.default('127.0.0.1');

/** A value that is sent in an HTTP header. */
const headerValue = text.refine((value) => {
  try {
    validateHeaderValue('credential', value);
    return true;
  } catch {
    return false;
  }
}, "contains characters that an HTTP header can't carry");

const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info');

/** One Standard Webhooks secret, or two while it is being changed: `whsec_` and the base64 of 24 to 64 random bytes. */
const webhookSecrets = text
  .transform((value) => value.split(',').map((secret) => secret.trim()))
  .refine((secrets) => secrets.length <= 2 && secrets.every(isWebhookSecret), {
    error: `must be a Standard Webhooks secret, or two separated by a comma: ${WEBHOOK_SECRET_FORM}`,
  });

const yesNo = (fallback: boolean) =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');

/** An amount in XAF. */
const xaf = z
  .string()
  .regex(/^\d{1,16}$/, 'must be a whole number of XAF')
  .transform(Number)
  .refine(Number.isSafeInteger, `must be at most ${Number.MAX_SAFE_INTEGER} XAF`)
  .refine((value) => value >= MINIMUM_AMOUNT, `must be at least ${MINIMUM_AMOUNT} XAF`);

/** The last segment of a URL path: with any other character, the address could never match. */
const webhookToken = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,200}$/, 'must be 16 to 200 letters, digits, - and _: make one with `openssl rand -hex 24`');

const encryption = {
  ENCRYPTION: z.enum(['on', 'off'], 'must be on or off').default('on'),
  ENCRYPTION_KEYS: encryptionKeys.optional(),
};

/** Nobody's personal data is written in plain text, unless somebody has decided that it may be. */
const hasKeys = (settings: { readonly ENCRYPTION: string; readonly ENCRYPTION_KEYS?: unknown }) =>
  settings.ENCRYPTION === 'off' || settings.ENCRYPTION_KEYS !== undefined;

const KEYS_MISSING = {
  path: ['ENCRYPTION_KEYS'],
  error: `is not set: names and phone numbers would be in Temporal for everyone to read. ${KEY_ADVICE}, and set ENCRYPTION_KEYS_FILE to its path, for the API, every worker and the codec server alike; or set ENCRYPTION=off to do without`,
  when: areRead('ENCRYPTION', 'ENCRYPTION_KEYS'),
};

/** A PostgreSQL database, as libpq's tools take it. Messages never quote it, because it may contain a password. */
const databaseUrl = text.refine((value) => {
  const { protocol, pathname } = URL.parse(value) ?? {};
  return (protocol === 'postgres:' || protocol === 'postgresql:') && (pathname?.length ?? 0) > 1;
}, 'must be an address such as postgres://user:password@host:5432/database');

/** Where a process shows its metrics: nowhere, unless it is set. */
const metricsAddress = z
  .string()
  .regex(/^[\w.[\]:-]+:\d{1,5}$/, { error: 'must be an address such as 127.0.0.1:9464', abort: true })
  .refine(hasPort, 'must have a port from 1 to 65535')
  .optional();

/**
 * Where Temporal is (address, namespace, TLS, API key) is read by `@temporalio/envconfig`: see temporal/connection.ts.
 */
const temporal = {
  TEMPORAL_TASK_QUEUE: text.default('payments'),
  TEMPORAL_UI_URL: baseUrl.optional(),
};

/** Traces, off without an endpoint. OpenTelemetry's exporter reads further settings itself, such as headers. */
const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, 'must be a number from 0 to 1')
    .default('1')
    .transform(Number),
};

const provider = {
  PROVIDER_COLLECTION_URL: baseUrl,
  PROVIDER_COLLECTION_API_USER: headerValue,
  PROVIDER_COLLECTION_API_KEY: headerValue,
  PROVIDER_PAYOUT_URL: baseUrl,
  PROVIDER_PAYOUT_API_USER: headerValue,
  PROVIDER_PAYOUT_API_KEY: headerValue,
  PROVIDER_TIMEOUT: duration('15s', { min: '1s', max: '60s' }),
};

/**
 * How long the provider's lists may take to show the transaction of a request that has ended. The provider gives no
 * figure. With a shorter grace period, or an earlier decision, a payment that the provider accepted could be taken for
 * missing.
 */
const LIST_LAG = '15s';

const terms = {
  LINK_LIFETIME: duration('24h', {
    min: '10s',
    max: ms(PROVIDER_LINK_LIFETIME_MS) as StringValue,
    because: 'the provider ends every link after a day',
  }),
  POLL_FIRST: duration('3m', { min: '1s', max: '1d' }),
  POLL_MAX: duration('1h', { min: '5s', max: '7d' }),
  AMBIGUOUS_GRACE: duration('15m', { max: '7d' }),
  AMBIGUOUS_POLICY: z.enum(['review', 'resend'], 'must be review or resend').default('review'),
  RESOLVE_AFTER: duration('1h', {
    min: LIST_LAG,
    max: '7d',
    because: 'the provider may list a transaction late',
  }),
  SEND_BY: duration('24h', { min: '5m', max: '7d' }),
};

/** One merchant's limits, and those of every merchant whose entry in the merchants' file has none of its own. */
const limits = {
  MAX_COLLECTION: xaf.default(10_000_000),
  MAX_PAYOUT: xaf.default(2_000_000),
  MAX_PAYOUTS_PER_DAY: xaf.optional(),
  SECOND_PERSON_ABOVE: xaf.optional(),
};

const ONE_DESCRIPTION =
  "can't be set together with MERCHANTS_FILE: the file has the merchants' keys and webhook addresses";

const schemas = {
  api: z
    .object({
      ...temporal,
      ...provider,
      ...tracing,
      ...terms,
      ...limits,
      ...encryption,
      HOST: host,
      PORT: port(3000),
      LOG_LEVEL: logLevel,
      API_METRICS_ADDRESS: metricsAddress,
      API_KEYS: apiKeys.optional(),
      MERCHANTS_FILE: merchantsFile.optional(),
      MERCHANT_WEBHOOK_URL: httpUrl.optional(),
      WEBHOOK_TOKEN: webhookToken,
      TRUSTED_PROXIES: trustedProxies,
      MAX_REQUESTS_PER_MINUTE: count(6_000),
      MAX_CONCURRENT_REQUESTS: count(200),
      MAX_ACTIVE_REQUESTS: count(20),
      RECORDS_URL: databaseUrl.optional(),
      DESK_URL: baseUrl.optional(),
    })
    .superRefine(
      ({ API_KEYS, MERCHANTS_FILE, MERCHANT_WEBHOOK_URL }, context) => {
        const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
        if (MERCHANTS_FILE !== undefined) {
          if (API_KEYS !== undefined) refuse('API_KEYS', ONE_DESCRIPTION);
          if (MERCHANT_WEBHOOK_URL !== undefined) refuse('MERCHANT_WEBHOOK_URL', ONE_DESCRIPTION);
          return;
        }
        if (API_KEYS === undefined) return refuse('API_KEYS', 'is not set, and neither is MERCHANTS_FILE');
        const owners = merchantsOfKeys(API_KEYS, {})
          .filter(hasPayments)
          .map(({ name }) => name);
        if (MERCHANT_WEBHOOK_URL === undefined || owners.length < 2) return;
        refuse(
          'MERCHANT_WEBHOOK_URL',
          `would get the notifications of ${owners.join(' and ')} alike. Give each merchant its own address in a merchants' file, and set MERCHANTS_FILE instead of API_KEYS and MERCHANT_WEBHOOK_URL: see docs/settings.md`,
        );
      },
      { when: areRead('API_KEYS', 'MERCHANTS_FILE', 'MERCHANT_WEBHOOK_URL') },
    )
    .refine(({ POLL_FIRST, POLL_MAX }) => POLL_MAX >= POLL_FIRST, {
      path: ['POLL_MAX'],
      error: 'must be at least POLL_FIRST',
      when: areRead('POLL_FIRST', 'POLL_MAX'),
    })
    .refine(({ AMBIGUOUS_GRACE, PROVIDER_TIMEOUT }) => AMBIGUOUS_GRACE >= PROVIDER_TIMEOUT + ms(LIST_LAG), {
      path: ['AMBIGUOUS_GRACE'],
      error: `must be at least PROVIDER_TIMEOUT plus ${LIST_LAG}: the provider may list a transaction that late`,
      when: areRead('AMBIGUOUS_GRACE', 'PROVIDER_TIMEOUT'),
    })
    .refine(hasKeys, KEYS_MISSING),
  desk: z.object({
    HOST: host,
    DESK_PORT: port(3001),
    DESK_API_URL: baseUrl.default('http://127.0.0.1:3000'),
    DESK_SESSION: duration('8h', { min: '5m', max: '24h' }),
    DESK_SESSION_IDLE: duration('30m', { min: '1m', max: '24h' }),
    TRUSTED_PROXIES: trustedProxies,
    LOG_LEVEL: logLevel,
  }),
  worker: z
    .object({
      ...temporal,
      ...provider,
      ...encryption,
      ...tracing,
      LOG_LEVEL: logLevel,
      MERCHANTS_FILE: merchantsFile.optional(),
      MERCHANT_WEBHOOK_URL: httpUrl.optional(),
      MERCHANT_WEBHOOK_SECRET: webhookSecrets.optional(),
      MERCHANT_WEBHOOK_ALLOW_PRIVATE: yesNo(false),
      MERCHANT_WEBHOOK_TIMEOUT: duration('5s', {
        min: '100ms',
        max: '9s',
        because: 'Temporal ends an attempt to send a notification after 10s',
      }),
      WORKER_MAX_CACHED_WORKFLOWS: count(500),
      WORKER_MAX_CONCURRENT_WORKFLOW_TASKS: count(40, { min: 2 }),
      WORKER_MAX_CONCURRENT_ACTIVITIES: count(100),
      WORKER_MAX_CONCURRENT_LOCAL_ACTIVITIES: count(100),
      WORKER_CALL_STACKS: yesNo(false),
      WORKER_DEPLOYMENT: text.default('sanaga'),
      WORKER_BUILD_ID: text.optional(),
      WORKER_METRICS_ADDRESS: metricsAddress,
      WORKER_SHUTDOWN_GRACE: duration('8s', { min: '1s', max: '2m' }),
      TEMPORAL_RESTORED_AT: time.optional(),
      RECORDS_URL: databaseUrl.optional(),
    })
    .refine(
      ({ MERCHANT_WEBHOOK_URL: url, MERCHANT_WEBHOOK_SECRET: secret }) => url === undefined || secret !== undefined,
      {
        path: ['MERCHANT_WEBHOOK_SECRET'],
        error: 'must be set when MERCHANT_WEBHOOK_URL is: notifications are never sent unsigned',
        when: areRead('MERCHANT_WEBHOOK_URL', 'MERCHANT_WEBHOOK_SECRET'),
      },
    )
    .refine((settings) => settings.MERCHANTS_FILE === undefined || settings.MERCHANT_WEBHOOK_URL === undefined, {
      path: ['MERCHANT_WEBHOOK_URL'],
      error: ONE_DESCRIPTION,
      when: areRead('MERCHANTS_FILE', 'MERCHANT_WEBHOOK_URL'),
    })
    .refine(hasKeys, KEYS_MISSING),
  codec: z
    .object({
      ...encryption,
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
    .refine(
      ({ API_KEYS, MERCHANTS_FILE, CODEC_UI_TOKEN }) =>
        CODEC_UI_TOKEN !== undefined ||
        merchantsFrom(API_KEYS, MERCHANTS_FILE).some(({ keys }) =>
          keys.some(({ scopes }) => scopes.includes('review')),
        ),
      {
        path: ['API_KEYS'],
        error: 'has no key with the scope review, and neither has MERCHANTS_FILE: nobody could read a payment',
        when: areRead('API_KEYS', 'MERCHANTS_FILE', 'CODEC_UI_TOKEN'),
      },
    )
    .refine(hasKeys, KEYS_MISSING),
  records: z.object({ ...encryption, LOG_LEVEL: logLevel, RECORDS_URL: databaseUrl }).refine(hasKeys, KEYS_MISSING),
};

/** Settings that can be kept in a file instead, whose path is in the setting with `_FILE` at its end. */
export const SECRET_SETTINGS = [
  'API_KEYS',
  'WEBHOOK_TOKEN',
  'PROVIDER_COLLECTION_API_USER',
  'PROVIDER_COLLECTION_API_KEY',
  'PROVIDER_PAYOUT_API_USER',
  'PROVIDER_PAYOUT_API_KEY',
  'MERCHANT_WEBHOOK_SECRET',
  'ENCRYPTION_KEYS',
  'CODEC_UI_TOKEN',
  'RECORDS_URL',
] as const;

/** A rule about several settings is checked when each of them is valid by itself, whatever else is wrong. */
function areRead(...names: readonly string[]) {
  return ({ issues }: { readonly issues: readonly { readonly path?: readonly PropertyKey[] | undefined }[] }) =>
    !issues.some(({ path }) => names.includes(String(path?.[0])));
}

function hasPort(address: string): boolean {
  const number = Number(address.slice(address.lastIndexOf(':') + 1));
  return number >= 1 && number <= 65_535;
}

export type Part = keyof typeof schemas;
export type Config<P extends Part> = z.infer<(typeof schemas)[P]>;

/**
 * The settings of one process.
 *
 * @throws {ConfigError} with one line for each setting that is missing or wrong.
 * @example readConfig('worker', process.env).PROVIDER_TIMEOUT // 15000
 */
export function readConfig<P extends Part>(
  part: P,
  env: NodeJS.ProcessEnv,
  onGap: (gap: string) => void = refuseGap,
): Config<P> {
  const schema: z.ZodType = schemas[part];
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { given, mistakes } = withSecretFiles(set, settingNames(part));
  const unread = mistakes.map(({ name }) => name);
  const read = schema.safeParse(given);
  if (read.success && mistakes.length === 0) {
    const config = read.data as Config<P>;
    const examples = exampleSecrets({ settings: given, keys: keysIn(config) }, namesOfSecrets(part));
    if (examples.length > 0) throw new ConfigError(examples.join('\n'));
    const gap = secondPersonGap(config);
    if (gap !== undefined) onGap(gap);
    return config;
  }
  const lines = (read.error?.issues ?? [])
    .filter(({ path: [name] }) => !unread.includes(String(name)))
    .map((issue) => {
      const name = String(issue.path[0]);
      return given[name] === undefined && issue.code !== 'custom' ? `${name} is not set` : `${name} ${issue.message}`;
    });
  throw new ConfigError([...mistakes.map(({ line }) => line), ...lines].join('\n'));
}

function refuseGap(gap: string): never {
  throw new ConfigError(gap);
}

/** Why nobody could complete a decision that takes two people, if so. */
function secondPersonGap(config: Config<Part>): string | undefined {
  if (!('PORT' in config)) return undefined;
  const { API_KEYS, MERCHANTS_FILE, SECOND_PERSON_ABOVE } = config;
  const merchants = merchantsFrom(API_KEYS, MERCHANTS_FILE);
  const limited = merchants.find(({ limits }) => limits.secondPersonAbove !== undefined);
  const people = decidersAmong(merchants);
  if ((SECOND_PERSON_ABOVE === undefined && limited === undefined) || people.length > 1) return undefined;
  const what =
    SECOND_PERSON_ABOVE === undefined
      ? `MERCHANTS_FILE gives ${limited?.name} a secondPersonAbove, and that `
      : 'SECOND_PERSON_ABOVE ';
  const has = people.length === 0 ? 'nobody has one' : `only ${people[0]} has one`;
  return `${what}takes two people whose keys have the scope review, under two names: ${has}`;
}

function namesOfSecrets(part: Part): readonly string[] {
  const names = settingNames(part);
  return SECRET_SETTINGS.filter((name) => names.includes(name));
}

/** The keys that the settings let call, in whichever way they describe them. */
function keysIn(config: Config<Part>) {
  const merchants = 'MERCHANTS_FILE' in config ? config.MERCHANTS_FILE : undefined;
  const keys = 'API_KEYS' in config ? config.API_KEYS : undefined;
  return merchantsFrom(keys, merchants).flatMap((merchant) => merchant.keys);
}

interface SecretMistake {
  readonly name: string;
  readonly line: string;
}

/** The environment with the secrets that are kept in files, without the line break at the end of each. */
function withSecretFiles(env: NodeJS.ProcessEnv, names: readonly string[]) {
  const given: NodeJS.ProcessEnv = { ...env };
  const mistakes: SecretMistake[] = [];
  for (const name of SECRET_SETTINGS) {
    if (env[`${name}_FILE`] === undefined || !names.includes(name)) continue;
    try {
      given[name] = secretOf(env, name);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push({ name, line: error.message });
    }
  }
  return { given, mistakes };
}

/**
 * The environment with Temporal's API key as it is in its file, if it is in one: Temporal's own library reads it from
 * none.
 *
 * @throws {ConfigError} when both are set, or the file is empty or can't be read.
 */
export function withTemporalApiKey(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, TEMPORAL_API_KEY: secretOf(env, 'TEMPORAL_API_KEY') };
}

/**
 * A secret as it is set, or as it is in the file that is set in its place.
 *
 * @throws {ConfigError} when both are set, or the file is empty or can't be read.
 */
function secretOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const path = env[`${name}_FILE`];
  if (path === undefined || path === '') return env[name];
  if (env[name] !== undefined && env[name] !== '') {
    throw new ConfigError(`${name}_FILE can't be set together with ${name}: set one of them`);
  }
  const secret = readSecret(name, path).replace(/\r?\n$/, '');
  if (secret === '') throw new ConfigError(`${name}_FILE is empty`);
  return secret;
}

function readSecret(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${name}_FILE can't be read: ${reasonOf(error)}`);
  }
}

/** The merchants in the settings, whichever of the two describes them, without limits. */
export function merchantsFrom(
  keys: readonly NamedKey[] | undefined,
  file: readonly Merchant[] | undefined,
): readonly Merchant[] {
  return file ?? merchantsOfKeys(keys ?? [], {});
}

/** The merchants that the API knows, with the limits that hold for each. */
export function merchantsOf(config: Config<'api'>): readonly Merchant[] {
  const usual = {
    maxCollection: config.MAX_COLLECTION,
    maxPayout: config.MAX_PAYOUT,
    maxPayoutsPerDay: config.MAX_PAYOUTS_PER_DAY,
    secondPersonAbove: config.SECOND_PERSON_ABOVE,
  };
  if (config.MERCHANTS_FILE === undefined) return merchantsOfKeys(config.API_KEYS ?? [], usual);
  return config.MERCHANTS_FILE.map((merchant) => ({ ...merchant, limits: { ...usual, ...merchant.limits } }));
}

/** The names of the settings that a process reads; without `part`, of all of them. */
export function settingNames(part?: Part): string[] {
  const chosen = part === undefined ? Object.values(schemas) : [schemas[part]];
  const names = chosen.flatMap(({ shape }) => Object.keys(shape));
  return [...new Set(names)].sort();
}
