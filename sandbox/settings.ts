import { validateHeaderValue } from 'node:http';
import ms, { type StringValue } from 'ms';
import { z } from 'zod';

/** Thrown by {@link readSettings}; the message has one line for each wrong setting. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const MAX_DURATION = '24d';

/** A duration such as `90s` or `24h`, in ms. */
const duration = (fallback: StringValue) =>
  z
    .string()
    .regex(/^\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)$/, 'must be a duration such as 500ms, 90s, 15m, 24h or 2d')
    .default(fallback)
    .transform((value) => Math.round(ms(value as StringValue)))
    .refine((value) => value <= ms(MAX_DURATION), `must be between 0s and ${MAX_DURATION}`);

const wholeNumber = z
  .string()
  .regex(/^\d{1,7}$/, 'must be a whole number from 1 to 9999999')
  .transform(Number)
  .refine((value) => value >= 1, 'must be a whole number from 1 to 9999999');

const positiveInteger = (fallback: number) => wholeNumber.default(fallback);

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port, from 0 to 65535')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a port, from 0 to 65535');

/** The message doesn't quote the address, since it may contain a password. */
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true })
  .refine((address) => {
    const { username, password } = new URL(address);
    return username === '' && password === '';
  }, 'must not contain a user or a password');

const text = z.string().min(1, 'is empty');

const headerValue = text.refine((value) => {
  try {
    validateHeaderValue('credential', value);
    return true;
  } catch {
    return false;
  }
}, "contains characters that an HTTP header can't carry");

const schema = z.object({
  PROVIDER_COLLECTION_API_USER: headerValue,
  PROVIDER_COLLECTION_API_KEY: headerValue,
  PROVIDER_PAYOUT_API_USER: headerValue,
  PROVIDER_PAYOUT_API_KEY: headerValue,
  HOST: text.default('127.0.0.1'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  SANDBOX_PORT: port.default(4000),
  SANDBOX_PUBLIC_URL: httpUrl.transform((address) => address.replace(/(?<!\/)\/+$/, '')).optional(),
  SANDBOX_WEBHOOK_URL: httpUrl.optional(),
  SANDBOX_WEBHOOK_DELAY: duration('100ms'),
  SANDBOX_SETTLE_DELAY: duration('1s'),
  SANDBOX_CLOCK_SCALE: positiveInteger(1),
  SANDBOX_MERCHANT_NAME: text.default('Sanaga demo shop'),
  SANDBOX_SEED: positiveInteger(1),
  SANDBOX_BALANCE: wholeNumber.optional(),
  SANDBOX_JOURNAL: text.optional(),
});

export type Settings = z.infer<typeof schema>;

/** The name of every setting that the sandbox reads. */
export const SETTING_NAMES: readonly string[] = Object.keys(schema.shape);

/**
 * Reads the sandbox's settings; an empty one counts as not set. Durations are in ms.
 *
 * @throws SettingsError naming every setting that is missing or wrong, and what is expected
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const lines = read.error.issues.map(({ path, code, message }) => {
    const name = String(path[0]);
    return given[name] === undefined && code !== 'custom' ? `${name} is not set` : `${name} ${message}`;
  });
  throw new SettingsError(lines.join('\n'));
}
