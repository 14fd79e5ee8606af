import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { PROVIDER_LINK_LIFETIME_MS } from './payments/limits.js';

/**
 * Every setting, read once from the environment. Each process reads its own part with {@link readConfig}; what is
 * wrong is said all at once, one line for each mistake.
 */

/** Thrown by {@link readConfig}; the message has one line for each wrong setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const DURATION = /^\d+(\.\d+)?(ms|s|m|h|d)$/;

/** A duration such as `90s` or `24h`, in ms. */
const duration = (fallback: string) =>
  z
    .string()
    .regex(DURATION, 'is not a duration: write it like 500ms, 90s, 15m, 24h or 2d')
    .default(fallback)
    .transform((text) => ms(text as StringValue));

const count = (fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,6}$/, 'is not a whole number of at least 1')
    .default(String(fallback))
    .transform(Number);

const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'is not a port')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value <= 65_535, 'is not a port: at most 65535');

const httpUrl = z.url({ protocol: /^https?$/, error: 'is not an http(s) address' });
const text = z.string().min(1, 'is empty');
const host = text.default('127.0.0.1');
const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info');

/** Standard Webhooks: `whsec_` and base64 of 24 to 64 random bytes. During a rotation there are two, with a comma. */
const webhookSecrets = text
  .transform((value) => value.split(',').map((secret) => secret.trim()))
  .refine((secrets) => secrets.length <= 2 && secrets.every(isWebhookSecret), {
    error:
      'is not one or two Standard Webhooks secrets (comma between): whsec_ and the base64 of 24 to 64 random bytes',
  });

function isWebhookSecret(secret: string): boolean {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length;
  return bytes >= 24 && bytes <= 64;
}

const yesNo = (fallback: boolean) =>
  z
    .enum(['true', 'false'], 'is neither true nor false')
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');

export const SCOPES = ['collections', 'payouts', 'read', 'balance', 'review'] as const;
export type Scope = (typeof SCOPES)[number];

/** One merchant's key: its owner's name, its secret (plain, or the hex of its SHA-256), and what it may do. */
export interface ApiKeySetting {
  readonly name: string;
  readonly secret: { readonly plain: string } | { readonly sha256: string };
  readonly scopes: readonly Scope[];
}

const API_KEY = /^([a-zA-Z0-9-]{1,40}):([^:,]{8,}):([a-z+]+)$/;
const DIGEST = /^sha256-([0-9a-f]{64})$/;

/** `name:secret:scope+scope,…`; what is wrong is said without showing a secret. */
const apiKeys = text.transform((value, context): ApiKeySetting[] =>
  value.split(',').flatMap((entry, index) => {
    const problem = (message: string) => {
      context.addIssue({ code: 'custom', message: `entry ${index + 1} ${message}` });
      return [];
    };
    const [, name, secret, scopeList] = API_KEY.exec(entry.trim()) ?? [];
    if (name === undefined || secret === undefined || scopeList === undefined) {
      return problem('is not of the form name:secret:scope+scope (a secret has at least 8 characters)');
    }
    const scopes = z.array(z.enum(SCOPES)).safeParse(scopeList.split('+'));
    if (!scopes.success)
      return problem(`(${name}) has an unknown scope; the scopes are ${SCOPES.join(', ')}`);
    const digest = DIGEST.exec(secret)?.[1];
    return [
      { name, secret: digest === undefined ? { plain: secret } : { sha256: digest }, scopes: scopes.data },
    ];
  }),
);

/** Where Temporal is (address, namespace, TLS, API key) is read by `@temporalio/envconfig`: see temporal/target.ts. */
const temporal = {
  TEMPORAL_TASK_QUEUE: text.default('payments'),
  TEMPORAL_UI_URL: httpUrl.optional(),
};

const credentials = {
  PROVIDER_COLLECTION_API_USER: text,
  PROVIDER_COLLECTION_API_KEY: text,
  PROVIDER_PAYOUT_API_USER: text,
  PROVIDER_PAYOUT_API_KEY: text,
};

const provider = {
  ...credentials,
  PROVIDER_COLLECTION_URL: httpUrl,
  PROVIDER_PAYOUT_URL: httpUrl,
  PROVIDER_TIMEOUT: duration('15s'),
};

const terms = {
  LINK_LIFETIME: duration('24h').refine(
    (value) => value <= PROVIDER_LINK_LIFETIME_MS,
    'is longer than the 24h that a link lives',
  ),
  POLL_FIRST: duration('3m'),
  POLL_MAX: duration('1h'),
  AMBIGUOUS_GRACE: duration('15m'),
  AMBIGUOUS_POLICY: z.enum(['review', 'resend'], 'is neither review nor resend').default('review'),
  RESOLVE_AFTER: duration('1h'),
  SEND_BY: duration('24h'),
};

const schemas = {
  api: z.object({
    ...temporal,
    ...provider,
    ...terms,
    HOST: host,
    PORT: port(3000),
    LOG_LEVEL: logLevel,
    API_KEYS: apiKeys,
    WEBHOOK_TOKEN: text.min(16, 'is shorter than 16 characters'),
  }),
  worker: z
    .object({
      ...temporal,
      ...provider,
      LOG_LEVEL: logLevel,
      MERCHANT_WEBHOOK_URL: httpUrl.optional(),
      MERCHANT_WEBHOOK_SECRET: webhookSecrets.optional(),
      MERCHANT_WEBHOOK_ALLOW_PRIVATE: yesNo(false),
      MERCHANT_WEBHOOK_TIMEOUT: duration('5s'),
      WORKER_MAX_CACHED_WORKFLOWS: count(500),
      WORKER_MAX_CONCURRENT_WORKFLOW_TASKS: count(40),
      WORKER_MAX_CONCURRENT_ACTIVITIES: count(100),
      WORKER_MAX_CONCURRENT_LOCAL_ACTIVITIES: count(100),
      WORKER_DEPLOYMENT: text.default('sanaga'),
      WORKER_BUILD_ID: text.optional(),
      WORKER_METRICS_ADDRESS: z
        .string()
        .regex(/^[\w.[\]:-]+:\d{1,5}$/, 'is not an address like 127.0.0.1:9464')
        .optional(),
      WORKER_SHUTDOWN_GRACE: duration('8s'),
    })
    .superRefine((worker, context) => {
      if (worker.MERCHANT_WEBHOOK_URL !== undefined && worker.MERCHANT_WEBHOOK_SECRET === undefined) {
        const message = 'has to be set when MERCHANT_WEBHOOK_URL is: notifications are never sent unsigned';
        context.addIssue({ code: 'custom', path: ['MERCHANT_WEBHOOK_SECRET'], message });
      }
    }),
  sandbox: z.object({
    ...credentials,
    HOST: host,
    LOG_LEVEL: logLevel,
    SANDBOX_PORT: port(4000),
    SANDBOX_PUBLIC_URL: httpUrl.optional(),
    SANDBOX_WEBHOOK_URL: httpUrl.optional(),
    SANDBOX_WEBHOOK_DELAY: duration('100ms'),
    SANDBOX_SETTLE_DELAY: duration('1s'),
    SANDBOX_CLOCK_SCALE: count(1),
    SANDBOX_MERCHANT_NAME: text.default('Sanaga demo shop'),
    SANDBOX_SEED: count(1),
    SANDBOX_JOURNAL: text.optional(),
  }),
};

export type Part = keyof typeof schemas;
export type Config<P extends Part> = z.infer<(typeof schemas)[P]>;

/**
 * The settings of one process.
 *
 * @throws {ConfigError} naming every setting that is missing or wrong, and what it should look like.
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

/** Every setting that one of our processes reads, by name. */
export function settingNames(): string[] {
  const names = Object.values(schemas).flatMap(({ shape }) => Object.keys(shape));
  return [...new Set(names)].sort();
}
