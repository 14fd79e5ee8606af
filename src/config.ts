import { createHash } from 'node:crypto';
import { validateHeaderValue } from 'node:http';
import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { PROVIDER_LINK_LIFETIME_MS } from './payments/limits.js';

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

const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port, from 0 to 65535')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port, from 0 to 65535');

/** Messages never quote the address, because it may contain a password. */
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true })
  .refine(hasNoCredentials, 'must not contain a user or a password');

function hasNoCredentials(address: string): boolean {
  const { username, password } = new URL(address);
  return username === '' && password === '';
}

/** An address that paths are appended to. */
const baseUrl = httpUrl.refine((address) => !/[?#]/.test(address), 'must not have a query or a fragment');

const text = z.string().min(1, 'must not be empty');

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
    error:
      'must be a Standard Webhooks secret, or two separated by a comma: whsec_ and the base64 of 24 to 64 random bytes',
  });

function isWebhookSecret(secret: string): boolean {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length;
  return bytes >= 24 && bytes <= 64;
}

const yesNo = (fallback: boolean) =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');

export const SCOPES = ['collections', 'payouts', 'read', 'balance', 'review'] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key: its owner's name, its secret (in plain text, or the hex of its SHA-256), and its scopes. */
export interface ApiKeySetting {
  readonly name: string;
  readonly secret: { readonly plain: string } | { readonly sha256: string };
  readonly scopes: readonly Scope[];
}

const API_KEY = /^([a-zA-Z0-9-]{1,40}):([^:,]{8,}):([a-z+]+)$/;
const DIGEST_PREFIX = /^sha256-/i;
const DIGEST = /^sha256-([0-9a-f]{64})$/i;

/**
 * `name:secret:scope+scope,…`. Messages never show a secret. A secret that begins with `sha256-` must be a digest: if a
 * truncated digest counted as a plain secret, it would itself be a valid key.
 */
const apiKeys = text.transform((value, context): ApiKeySetting[] => {
  /** The entry that has each secret so far, by the secret's digest. */
  const seen = new Map<string, string>();
  return value.split(',').flatMap((entry, index) => {
    const problem = (message: string) => {
      context.addIssue({ code: 'custom', message: `entry ${index + 1} ${message}` });
      return [];
    };
    const [, name, secret, scopeList] = API_KEY.exec(entry.trim()) ?? [];
    if (name === undefined || secret === undefined || scopeList === undefined) {
      return problem('must be name:secret:scope+scope, with a secret of at least 8 characters');
    }
    const scopes = z.array(z.enum(SCOPES)).safeParse(scopeList.split('+'));
    if (!scopes.success)
      return problem(`(${name}) has an unknown scope; the scopes are ${SCOPES.join(', ')}`);
    const digest = DIGEST.exec(secret)?.[1]?.toLowerCase();
    if (digest === undefined && DIGEST_PREFIX.test(secret)) {
      return problem(
        `(${name}) has an invalid digest: sha256- must be followed by the 64 hex digits of a SHA-256`,
      );
    }
    const sha256 = digest ?? createHash('sha256').update(secret).digest('hex');
    const other = seen.get(sha256);
    if (other !== undefined)
      return problem(`(${name}) has the same secret as ${other}: each key needs its own`);
    seen.set(sha256, `entry ${index + 1} (${name})`);
    return [
      { name, secret: digest === undefined ? { plain: secret } : { sha256: digest }, scopes: scopes.data },
    ];
  });
});

/** The last segment of a URL path: with any other character, the address could never match. */
const webhookToken = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{16,200}$/,
    'must be 16 to 200 letters, digits, - and _: make one with `openssl rand -hex 24`',
  );

/** Where Temporal is (address, namespace, TLS, API key) is read by `@temporalio/envconfig`: see temporal/target.ts. */
const temporal = {
  TEMPORAL_TASK_QUEUE: text.default('payments'),
  TEMPORAL_UI_URL: httpUrl.optional(),
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
 * figure. With a shorter grace period, a payment that the provider accepted could be taken for missing.
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
  RESOLVE_AFTER: duration('1h', { max: '7d' }),
  SEND_BY: duration('24h', { min: '5m', max: '7d' }),
};

const schemas = {
  api: z
    .object({
      ...temporal,
      ...provider,
      ...terms,
      HOST: text.default('127.0.0.1'),
      PORT: port(3000),
      LOG_LEVEL: logLevel,
      API_KEYS: apiKeys,
      WEBHOOK_TOKEN: webhookToken,
    })
    .refine(({ POLL_FIRST, POLL_MAX }) => POLL_MAX >= POLL_FIRST, {
      path: ['POLL_MAX'],
      error: 'must be at least POLL_FIRST',
      when: areRead('POLL_FIRST', 'POLL_MAX'),
    })
    .refine(({ AMBIGUOUS_GRACE, PROVIDER_TIMEOUT }) => AMBIGUOUS_GRACE >= PROVIDER_TIMEOUT + ms(LIST_LAG), {
      path: ['AMBIGUOUS_GRACE'],
      error: `must be at least PROVIDER_TIMEOUT plus ${LIST_LAG}: the provider may list a transaction that late`,
      when: areRead('AMBIGUOUS_GRACE', 'PROVIDER_TIMEOUT'),
    }),
  worker: z
    .object({
      ...temporal,
      ...provider,
      LOG_LEVEL: logLevel,
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
      WORKER_DEPLOYMENT: text.default('sanaga'),
      WORKER_BUILD_ID: text.optional(),
      WORKER_METRICS_ADDRESS: z
        .string()
        .regex(/^[\w.[\]:-]+:\d{1,5}$/, { error: 'must be an address such as 127.0.0.1:9464', abort: true })
        .refine(hasPort, 'must have a port from 1 to 65535')
        .optional(),
      WORKER_SHUTDOWN_GRACE: duration('8s', { min: '1s', max: '2m' }),
    })
    .refine(
      ({ MERCHANT_WEBHOOK_URL: url, MERCHANT_WEBHOOK_SECRET: secret }) =>
        url === undefined || secret !== undefined,
      {
        path: ['MERCHANT_WEBHOOK_SECRET'],
        error: 'must be set when MERCHANT_WEBHOOK_URL is: notifications are never sent unsigned',
        when: areRead('MERCHANT_WEBHOOK_URL', 'MERCHANT_WEBHOOK_SECRET'),
      },
    ),
};

/** A rule about several settings is checked when each of them is valid by itself, whatever else is wrong. */
function areRead(...names: readonly string[]) {
  return ({
    issues,
  }: {
    readonly issues: readonly { readonly path?: readonly PropertyKey[] | undefined }[];
  }) => !issues.some(({ path }) => names.includes(String(path?.[0])));
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
export function readConfig<P extends Part>(part: P, env: NodeJS.ProcessEnv): Config<P> {
  const schema: z.ZodType = schemas[part];
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const read = schema.safeParse(given);
  if (read.success) return read.data as Config<P>;
  const lines = read.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return given[name] === undefined && issue.code !== 'custom'
      ? `${name} is not set`
      : `${name} ${issue.message}`;
  });
  throw new ConfigError(lines.join('\n'));
}

/** The names of the settings that a process reads; without `part`, of both processes. */
export function settingNames(part?: Part): string[] {
  const chosen = part === undefined ? Object.values(schemas) : [schemas[part]];
  const names = chosen.flatMap(({ shape }) => Object.keys(shape));
  return [...new Set(names)].sort();
}
