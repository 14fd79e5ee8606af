import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MINIMUM_AMOUNT } from '../payments/words/limits.js';
import { PAYMENT_EVENT_TYPES } from '../payments/words/payment.js';
import { parseExactly, repeatedFields, TooDeepError } from '../text/exact-json.js';
import { durationText, httpUrl, isWebhookSecret, WEBHOOK_SECRET_FORM } from './kinds.js';
import { type Merchant, SCOPES, spellingCheck, TWO_SPELLINGS } from './merchants.js';

const limit = z.int('must be a whole number of XAF').min(MINIMUM_AMOUNT, `must be at least ${MINIMUM_AMOUNT} XAF`);

const name = z.string().regex(/^[a-zA-Z0-9-]{1,40}$/, 'must have 1 to 40 letters, digits and "-"');

/** Bounds of the time for an approval, here and in the setting APPROVAL_WITHIN. */
export const APPROVAL_BOUNDS = { min: '5m' } as const;

const merchantSchema = z.strictObject({
  name,
  keys: z.array(
    z.strictObject({
      sha256: z
        .string()
        .regex(/^[0-9a-fA-F]{64}$/, "must be the 64 hex digits of the secret's SHA-256")
        .toLowerCase(),
      scopes: z.array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`)).min(1, 'must have at least one scope'),
      person: name.optional(),
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
      approveAbove: limit.optional(),
      approvalWithin: durationText(APPROVAL_BOUNDS).optional(),
    })
    .default({}),
});

const merchantsSchema = z
  .strictObject({ merchants: z.array(merchantSchema).min(1, 'must have at least one merchant') })
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
    const isInOneSpelling = spellingCheck(merchants.map((one) => one.name));
    const name = once('each merchant needs its own name');
    const key = once('each key needs its own secret');
    for (const [index, one] of merchants.entries()) {
      const at = ['merchants', index];
      name(one.name, [...at, 'name']);
      for (const [number, { sha256, person: who }] of one.keys.entries()) {
        key(sha256, [...at, 'keys', number, 'sha256']);
        if (isInOneSpelling(who ?? one.name)) continue;
        context.addIssue({ code: 'custom', path: [...at, 'keys', number, 'person'], message: TWO_SPELLINGS });
      }
      const url = once('each webhook of a merchant needs its own address');
      for (const [number, webhook] of one.webhooks.entries()) url(webhook.url, [...at, 'webhooks', number, 'url']);
    }
  });

/** Names the merchant as the person of each key that names none. */
function withPersons({ keys, ...merchant }: z.output<typeof merchantSchema>): Merchant {
  return { ...merchant, keys: keys.map((key) => ({ ...key, person: key.person ?? merchant.name })) };
}

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
      // Editors of Windows begin a file with a byte order mark.
      content = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
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
    if (read.success) return read.data.merchants.map(withPersons);
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

/**
 * Returns the position where the JSON stops being valid. The rest of the error's message quotes the file, which has
 * secrets in it.
 */
function positionIn(error: unknown): string {
  const [, position] = /position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  return position === undefined ? '' : `, at character ${Number(position) + 1}`;
}

/** Returns the reason why a file can't be read, such as `ENOENT`. */
export function reasonOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
}
