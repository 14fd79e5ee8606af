import { validateHeaderValue } from 'node:http';
import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { MINIMUM_AMOUNT } from '../payments/words/limits.js';

/*
 * The kinds of setting. Each parses the text of one setting, and its message says what the text must be. It never
 * quotes a text that may be a secret.
 */

const DURATION = /^\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)$/;

/** Longest duration of any setting: Node's timers take at most 2^31 - 1 ms, and fire at once beyond that. */
const MAX_DURATION = '24d';

interface DurationBounds {
  /** At least this long; 0s when not given. */
  readonly min?: StringValue;
  /** At most this long; {@link MAX_DURATION} when not given. */
  readonly max?: StringValue;
  /** The reason for the bounds, where it isn't obvious. It ends the message. */
  readonly because?: string;
}

const durationForm = z.string().regex(DURATION, 'must be a duration such as 500ms, 90s, 15m, 24h or 2d');

const inMs = ({ min = '0s', max = MAX_DURATION, because }: DurationBounds) =>
  z
    .transform((text: string) => Math.round(ms(text as StringValue)))
    .refine((value) => value >= ms(min) && value <= ms(max), {
      error: `must be between ${min} and ${max}${because === undefined ? '' : `: ${because}`}`,
    });

/** A duration such as `90s` or `24h`, in ms. */
export const durationText = (bounds: DurationBounds = {}) => durationForm.pipe(inMs(bounds));

/** A duration with a default, in ms. */
export const duration = (fallback: StringValue, bounds: DurationBounds = {}) =>
  durationForm.default(fallback).pipe(inMs(bounds));

export const count = (fallback: number, { min = 1, max = 9_999_999 }: { min?: number; max?: number } = {}) =>
  z
    .string()
    .regex(/^\d{1,7}$/, `must be a whole number from ${min} to ${max}`)
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** Proxies before a process that tell it who calls. */
export const trustedProxies = count(0, { min: 0, max: 10 });

export const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port, from 0 to 65535')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port, from 0 to 65535');

/** Characters of an address: parsing a very long one can take seconds. */
const MAX_ADDRESS_LENGTH = 2_000;

/** Messages never quote the address, because it may contain a password. */
export const httpUrl = z
  .string()
  .max(MAX_ADDRESS_LENGTH, { error: `must have at most ${MAX_ADDRESS_LENGTH} characters`, abort: true })
  .pipe(z.url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true }))
  .refine(hasNoCredentials, 'must not contain a user or a password');

function hasNoCredentials(address: string): boolean {
  const { username, password } = new URL(address);
  return username === '' && password === '';
}

/** An address that paths are appended to, without slashes at its end. */
export const baseUrl = httpUrl
  .refine((address) => !/[?#]/.test(address), 'must not have a query or a fragment')
  .transform((address) => address.replace(/(?<!\/)\/+$/, ''));

export const text = z.string().min(1, 'must not be empty');

/** The address that a process listens on. */
export const host = text.default('127.0.0.1');

/** A value that is sent in an HTTP header. */
export const headerValue = text.refine((value) => {
  try {
    validateHeaderValue('credential', value);
    return true;
  } catch {
    return false;
  }
}, "contains characters that an HTTP header can't carry");

export const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info');

/**
 * `whsec_` and the base64 of 24 to 64 random bytes, padded. Node ignores what isn't base64, so the bytes are written
 * again and compared: the library that signs throws for other characters.
 */
export function isWebhookSecret(secret: string): boolean {
  const base64 = secret.replace(/^whsec_/, '');
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

/** The form of a webhook secret, for the message that refuses another. */
export const WEBHOOK_SECRET_FORM =
  'whsec_ and the base64 of 24 to 64 random bytes, with + and / and padded with = (base64url, which has - and _, is not it): make one with `echo "whsec_$(openssl rand -base64 32)"`';

/** One Standard Webhooks secret, or two while it is being changed: `whsec_` and the base64 of 24 to 64 random bytes. */
export const webhookSecrets = text
  .transform((value) => value.split(',').map((secret) => secret.trim()))
  .refine((secrets) => secrets.length <= 2 && secrets.every(isWebhookSecret), {
    error: `must be a Standard Webhooks secret, or two separated by a comma: ${WEBHOOK_SECRET_FORM}`,
  });

export const yesNo = (fallback: boolean) =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');

/** An amount in XAF. */
export const xaf = z
  .string()
  .regex(/^\d{1,16}$/, 'must be a whole number of XAF')
  .transform(Number)
  .refine(Number.isSafeInteger, `must be at most ${Number.MAX_SAFE_INTEGER} XAF`)
  .refine((value) => value >= MINIMUM_AMOUNT, `must be at least ${MINIMUM_AMOUNT} XAF`);

/** The balance of the payout service that operators are warned below. Unset, nobody asks for it. */
export const floatWarnBelow = xaf.optional();

/** The last segment of a URL path: with any other character, the address could never match. */
export const webhookToken = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,200}$/, 'must be 16 to 200 letters, digits, - and _: make one with `openssl rand -hex 24`');

/** A PostgreSQL database, as libpq's tools take it. Messages never quote it, because it may contain a password. */
export const databaseUrl = text.refine((value) => {
  const { protocol, pathname } = URL.parse(value) ?? {};
  return (protocol === 'postgres:' || protocol === 'postgresql:') && (pathname?.length ?? 0) > 1;
}, 'must be an address such as postgres://user:password@host:5432/database');

/** Address of a process's metrics. Unset, it serves none. */
export const metricsAddress = z
  .string()
  .regex(/^[\w.[\]:-]+:\d{1,5}$/, { error: 'must be an address such as 127.0.0.1:9464', abort: true })
  .refine(hasPort, 'must have a port from 1 to 65535')
  .optional();

function hasPort(address: string): boolean {
  const number = Number(address.slice(address.lastIndexOf(':') + 1));
  return number >= 1 && number <= 65_535;
}

/** A rule about several settings is checked when each of them is valid by itself, whatever else is wrong. */
export function areRead(...names: readonly string[]) {
  return ({ issues }: { readonly issues: readonly { readonly path?: readonly PropertyKey[] | undefined }[] }) =>
    !issues.some(({ path }) => names.includes(String(path?.[0])));
}
