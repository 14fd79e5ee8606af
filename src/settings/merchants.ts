import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MINIMUM_AMOUNT } from '../payments/words/limits.js';
import { PAYMENT_EVENT_TYPES, type PaymentEventType } from '../payments/words/payment.js';
import { parseExactly, repeatedFields, TooDeepError } from '../text/exact-json.js';

/**
 * The merchants of an installation: their API keys, webhook endpoints and limits. They are read from the merchants'
 * file, or from settings that describe one merchant.
 */

export const SCOPES = ['collections', 'payouts', 'read', 'balance', 'review'] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key. Only the SHA-256 of its secret is kept, in lower-case hex. */
export interface MerchantKey {
  readonly sha256: string;
  readonly scopes: readonly Scope[];
}

/** An address that a merchant's notifications are sent to. */
export interface MerchantWebhook {
  readonly url: string;
  /** One Standard Webhooks secret, or two while it is being changed. */
  readonly secrets: readonly string[];
  /** The types of notifications that it takes; all of them when not given. */
  readonly types?: readonly PaymentEventType[] | undefined;
}

/** Amounts in XAF. What isn't given is not limited. */
export interface MerchantLimits {
  readonly maxCollection?: number | undefined;
  readonly maxPayout?: number | undefined;
  /** Of all payouts ordered on one calendar day in Cameroon. */
  readonly maxPayoutsPerDay?: number | undefined;
  /** A decision on a payout of more takes two people. */
  readonly secondPersonAbove?: number | undefined;
}

export interface Merchant {
  /** The owner of its payments and Idempotency-Keys. */
  readonly name: string;
  readonly keys: readonly MerchantKey[];
  readonly webhooks: readonly MerchantWebhook[];
  readonly limits: MerchantLimits;
}

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

/**
 * `whsec_` and the base64 of 24 to 64 random bytes, padded. Node ignores what isn't base64, so the bytes are written
 * again and compared: the library that signs throws for other characters.
 */
export function isWebhookSecret(secret: string): boolean {
  const base64 = secret.replace(/^whsec_/, '');
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

/** What a secret that isn't one has to be. */
export const WEBHOOK_SECRET_FORM =
  'whsec_ and the base64 of 24 to 64 random bytes, with + and / and padded with = (base64url, which has - and _, is not it): make one with `echo "whsec_$(openssl rand -base64 32)"`';

const API_KEY = /^([a-zA-Z0-9-]{1,40}):([^:,]{24,}|sha256-[^:,]*):([a-z+]+)$/i;
const DIGEST_PREFIX = /^sha256-/i;
const DIGEST = /^sha256-([0-9a-f]{64})$/i;

/** An API key as `API_KEYS` gives it, with the name of its owner. */
export interface NamedKey extends MerchantKey {
  readonly name: string;
}

/**
 * `name:secret:scope+scope,…`. Messages never show a secret. A secret that begins with `sha256-` must be a digest: if a
 * truncated digest counted as a plain secret, it would itself be a valid key.
 */
export const apiKeys = z
  .string()
  .min(1, 'must not be empty')
  .transform((value, context): NamedKey[] => {
    /** The entry that has each secret so far, by the secret's digest. */
    const seen = new Map<string, string>();
    return value.split(',').flatMap((entry, index) => {
      const problem = (message: string) => {
        context.addIssue({ code: 'custom', message: `entry ${index + 1} ${message}` });
        return [];
      };
      const [, name, secret, scopeList] = API_KEY.exec(entry.trim()) ?? [];
      if (name === undefined || secret === undefined || scopeList === undefined) {
        return problem(
          'must be name:secret:scope+scope, with a secret of at least 24 characters: make one with `openssl rand -hex 24`',
        );
      }
      const scopes = z.array(z.enum(SCOPES)).safeParse(scopeList.split('+'));
      if (!scopes.success) return problem(`(${name}) has an unknown scope; the scopes are ${SCOPES.join(', ')}`);
      const digest = DIGEST.exec(secret)?.[1]?.toLowerCase();
      if (digest === undefined && DIGEST_PREFIX.test(secret)) {
        return problem(`(${name}) has an invalid digest: sha256- must be followed by the 64 hex digits of a SHA-256`);
      }
      const sha256 = digest ?? sha256Of(secret);
      const other = seen.get(sha256);
      if (other !== undefined) return problem(`(${name}) has the same secret as ${other}: each key needs its own`);
      seen.set(sha256, `entry ${index + 1} (${name})`);
      return [{ name, sha256, scopes: scopes.data }];
    });
  });

/** The SHA-256 of an API key's secret, in hex. */
export function sha256Of(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The owners of keys as merchants without webhooks, each with the same limits. */
export function merchantsOfKeys(keys: readonly NamedKey[], limits: MerchantLimits): Merchant[] {
  const names = [...new Set(keys.map(({ name }) => name))];
  return names.map((name) => ({
    name,
    keys: keys.filter((key) => key.name === name).map(({ sha256, scopes }) => ({ sha256, scopes })),
    webhooks: [],
    limits,
  }));
}

/** Whether a merchant can have payments: one whose keys can't create any is an operator. */
export function hasPayments({ keys }: Pick<Merchant, 'keys'>): boolean {
  return keys.some(({ scopes }) => scopes.includes('collections') || scopes.includes('payouts'));
}

/** The names of those who can decide on payments in REVIEW. Keys of one name count as one person. */
export function decidersAmong(merchants: readonly Pick<Merchant, 'name' | 'keys'>[]): string[] {
  return merchants.filter(({ keys }) => keys.some(({ scopes }) => scopes.includes('review'))).map(({ name }) => name);
}

const limit = z.int('must be a whole number of XAF').min(MINIMUM_AMOUNT, `must be at least ${MINIMUM_AMOUNT} XAF`);

const merchant = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9-]{1,40}$/, 'must have 1 to 40 letters, digits and "-"'),
  keys: z.array(
    z.strictObject({
      sha256: z
        .string()
        .regex(/^[0-9a-fA-F]{64}$/, "must be the 64 hex digits of the secret's SHA-256")
        .toLowerCase(),
      scopes: z.array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`)).min(1, 'must have at least one scope'),
    }),
  ),
  webhooks: z
    .array(
      z.strictObject({
        url: httpUrl,
        secrets: z
          .array(z.string().refine(isWebhookSecret, `must be a Standard Webhooks secret: ${WEBHOOK_SECRET_FORM}`))
          .min(1, 'must have one secret, or two while it is being changed')
          .max(2, 'must have one secret, or two while it is being changed'),
        types: z
          .array(z.enum(PAYMENT_EVENT_TYPES, `must be one of ${PAYMENT_EVENT_TYPES.join(', ')}`))
          .min(1, 'must have at least one type; leave it out to get all of them')
          .optional(),
      }),
    )
    .default([]),
  limits: z
    .strictObject({
      maxCollection: limit.optional(),
      maxPayout: limit.optional(),
      maxPayoutsPerDay: limit.optional(),
      secondPersonAbove: limit.optional(),
    })
    .default({}),
});

const merchantsSchema = z
  .strictObject({ merchants: z.array(merchant).min(1, 'must have at least one merchant') })
  .superRefine(({ merchants }, context) => {
    const once = (what: string) => {
      const places = new Map<string, string>();
      return (value: string, path: (string | number)[]) => {
        const earlier = places.get(value);
        if (earlier !== undefined)
          context.addIssue({ code: 'custom', path, message: `is the same as ${earlier}: ${what}` });
        else places.set(value, placeOf(path));
      };
    };
    const name = once('each merchant needs its own name');
    const key = once('each key needs its own secret');
    for (const [index, one] of merchants.entries()) {
      const at = ['merchants', index];
      name(one.name, [...at, 'name']);
      for (const [number, { sha256 }] of one.keys.entries()) key(sha256, [...at, 'keys', number, 'sha256']);
      const url = once('each webhook of a merchant needs its own address');
      for (const [number, webhook] of one.webhooks.entries()) url(webhook.url, [...at, 'webhooks', number, 'url']);
    }
  });

/** A place in the file, such as `merchants[0].keys[1].sha256`. */
function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

/** The path of the merchants' file, parsed into the merchants in it. Messages never quote what is in the file. */
export const merchantsFile = z
  .string()
  .min(1, 'must not be empty')
  .transform((path, context): readonly Merchant[] => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    let content: string;
    try {
      content = readFileSync(path, 'utf8');
    } catch (error) {
      return refuse(`can't be read: ${reasonOf(error)}`);
    }
    let json: unknown;
    try {
      json = parseExactly(content);
      const [repeated] = repeatedFields(content);
      if (repeated !== undefined) return refuse(`${repeated} must not be given more than once`);
    } catch (error) {
      if (error instanceof TooDeepError) return refuse(`the content ${error.message}`);
      return refuse(`is not valid JSON${positionIn(error)}`);
    }
    const read = merchantsSchema.safeParse(json);
    if (read.success) return read.data.merchants;
    for (const mistake of read.error.issues.flatMap(describe)) refuse(mistake);
    return z.NEVER;
  });

/** The mistakes that an issue stands for, each as `place message`. */
function describe(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${placeOf([...issue.path, key])} is not a known field`);
  const place = issue.path.length === 0 ? 'the content' : placeOf(issue.path);
  return [`${place} ${inOurWords(issue.message)}`];
}

/** zod's own messages read `Invalid input: expected string, received undefined`. */
function inOurWords(message: string): string {
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (expected === undefined) return message;
  return received === 'undefined' ? 'is required' : `must be of type ${expected}`;
}

/** Where JSON ends to be valid. The rest of the error's message quotes the file, which has secrets in it. */
function positionIn(error: unknown): string {
  const [, position] = /position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  return position === undefined ? '' : `, at character ${Number(position) + 1}`;
}

/** Why a file can't be read, such as `ENOENT`. */
export function reasonOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
}
