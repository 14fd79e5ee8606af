import type { Request, Response } from 'express';
import { z } from 'zod';
import { shorten } from '../text/exact-json.js';
import { MAX_ERRORS, REPEATED, readBytes, toJson } from './body.js';
import { type FieldError, invalidRequest, Problem } from './problem.js';

const NULL = 'must not be null: give it a value or, if it is optional, leave it out';

/** The schemas of a request's parts: a name that is unknown in one may be meant for another. */
interface RequestParts {
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  /** It takes an Idempotency-Key. */
  readonly idempotencyKey?: unknown;
}

/**
 * Parses a value by its schema.
 *
 * @param whole what errors call the value itself
 * @param parts of the request that the value is a part of
 * @throws {Problem} `invalid_request` with an error for each wrong field.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, whole: Whole, parts: RequestParts = {}): T {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const described = { ...parts, [whole]: schema };
  throw invalidRequest(
    parsed.error.issues.flatMap((issue) => toFieldErrors(issue, whole, described, value)).slice(0, MAX_ERRORS),
  );
}

type Whole = 'body' | 'query';

/** What a call takes that describes no query. */
const NO_PARAMETERS = z.strictObject({});

/**
 * The query parameters of a request, which match its schema: none without one. An unknown parameter is never ignored,
 * because its sender means something by it, such as to send a payout later.
 *
 * @param query parameters as Express parses them: one that is given twice is an array
 * @throws {Problem} `invalid_request` with an error for each parameter that is wrong or given more than once.
 */
export function validateQuery<T>(
  schema: z.ZodType<T> | undefined,
  query: Readonly<Record<string, unknown>>,
  parts: RequestParts = {},
): T | undefined {
  const refused = Object.keys(query).flatMap((name): FieldError[] => {
    if (Array.isArray(query[name])) return [{ field: shorten(name), message: REPEATED }];
    // The schemas would drop it silently.
    return name === '__proto__' ? [{ field: name, message: 'is not a known parameter' }] : [];
  });
  if (refused.length > 0) throw invalidRequest(refused.slice(0, MAX_ERRORS));
  if (schema !== undefined) return validate(schema, query, 'query', parts);
  validate(NO_PARAMETERS, query, 'query', parts);
  return undefined;
}

const NO_BODY = 'must be left out: this call takes none';

/** What a call takes that describes no body: many clients send an empty object, which says nothing, with every POST. */
const NO_FIELDS = z.strictObject({}, { error: ({ code }) => (code === 'invalid_type' ? NO_BODY : undefined) });

/**
 * Refuses a body that a call wouldn't read: its sender means something by it, such as to end a payment later.
 *
 * @throws {Problem} `invalid_request` with an error for each field.
 */
export async function expectNoBody(request: Request, response: Response, parts: RequestParts = {}): Promise<void> {
  let given: unknown;
  try {
    const body = await readBytes(request, response);
    if (body.length === 0) return;
    given = toJson(body);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw invalidRequest([{ field: 'body', message: NO_BODY }], error.headers);
  }
  validate(NO_FIELDS, given, 'body', parts);
}

function toFieldErrors(issue: z.core.$ZodIssue, whole: Whole, parts: RequestParts, value: unknown): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_ERRORS).map((key) => ({
      field: nameOf([...issue.path, key], whole),
      message: whyUnknown(key, whole, issue.path.length === 0 ? parts : {}),
    }));
  }
  const isNull = issue.path.length > 0 && valueAt(value, issue.path) === null;
  return [{ field: nameOf(issue.path, whole), message: isNull ? NULL : issue.message }];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (within, name) => (within instanceof Object ? Object.getOwnPropertyDescriptor(within, name)?.value : undefined),
    value,
  );
}

/** A name that may have been meant, and how the sentence goes on that says so. */
interface Meant {
  readonly name: string;
  readonly hint: string;
}

function whyUnknown(key: string, whole: Whole, parts: RequestParts): string {
  const known = fieldsOf(parts[whole]);
  // Another variant of the body has the field.
  if (known.includes(key)) return 'is not for this request: leave it out';
  const unknown = `is not a known ${whole === 'body' ? 'field' : 'parameter'}`;
  const others = whole === 'body' ? fieldsOf(parts.query) : fieldsOf(parts.body);
  const place = whole === 'body' ? 'a parameter of the address' : 'a field of the body';
  const all: Meant[] = [
    ...known.map((name) => ({ name, hint: `did you mean ${name}?` })),
    ...others.map((name) => ({ name, hint: `${name} is ${place}` })),
    // Elsewhere, it would be no promise that a repeated request pays once.
    ...(parts.idempotencyKey ? [{ name: KEY_HEADER, hint: `did you mean the header ${KEY_HEADER}?` }] : []),
  ];
  const hint = nearest(key, all) ?? otherName(key, known) ?? (known.length === 0 ? 'this call takes none' : undefined);
  return hint === undefined ? unknown : `${unknown}: ${hint}`;
}

const KEY_HEADER = 'Idempotency-Key';

/** What other payment interfaces call our fields. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  message: ['description', 'note', 'narration', 'purpose', 'payerMessage', 'payeeNote'],
  externalId: ['reference', 'orderId', 'orderReference', 'merchantReference', 'clientReference', 'transactionId'],
  userId: ['customerId', 'customer'],
  phone: ['msisdn', 'phoneNumber', 'mobile', 'recipient', 'number', 'payer', 'payee', 'to'],
  medium: ['network', 'operator', 'provider', 'channel', 'paymentMethod'],
  redirectUrl: ['returnUrl', 'successUrl', 'backUrl'],
  expiresIn: ['expiresAt', 'expiry', 'ttl'],
  sendAt: ['scheduledAt', 'scheduleAt', 'scheduledFor', 'date'],
};

/** Says what a field is called here that others call otherwise, or that there is only one currency. */
function otherName(given: string, known: readonly string[]): string | undefined {
  const name = plain(given);
  if (name === 'currency' && known.includes('amount')) return 'every amount is in XAF, so leave it out';
  const [meant] = Object.entries(OTHER_NAMES).find(([, others]) => others.some((one) => plain(one) === name)) ?? [];
  return meant !== undefined && known.includes(meant) ? `did you mean ${meant}?` : undefined;
}

/** A name without case, `_` and `-`. */
const plain = (name: string) => shorten(name).toLowerCase().replace(/[_-]/g, '');

function fieldsOf(schema: z.ZodType | undefined): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (!(schema instanceof z.ZodUnion)) return [];
  return [...new Set(schema.options.flatMap((option) => (option instanceof z.ZodType ? fieldsOf(option) : [])))];
}

/** Finds the name that was probably meant: the same but for case, `_` and `-`, or with a slip or two. */
function nearest(given: string, all: readonly Meant[]): string | undefined {
  const [closest] = all
    .map(({ name, hint }) => ({ name, hint, slips: distance(plain(given), plain(name)) }))
    .filter(({ name, slips }) => slips <= Math.min(2, Math.floor(name.length / 3)))
    .sort((one, other) => one.slips - other.slips);
  return closest?.hint;
}

/** Counts the letters to add, leave out or replace: Levenshtein's distance. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at++) {
      const replaced = (row[at] ?? 0) + Number(letter !== other[at]);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function nameOf(path: readonly PropertyKey[], whole: string): string {
  return path.length === 0 ? whole : path.map((part) => shorten(String(part)) || '""').join('.');
}

/** A field of another variant of the body, which this one refuses. */
export const onlyFor = (variant: string) => z.never({ error: `is only for ${variant}` }).optional();

/** Words an issue that the schema has no message for. Repeats no value, which may be personal. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_big':
      return `must have at most ${issue.maximum} characters`;
    case 'too_small':
      return `must have at least ${issue.minimum} characters`;
    default:
      return undefined;
  }
}

/**
 * The message for a body whose variant can't be told, because the field that names it is missing or wrong.
 *
 * @example z.discriminatedUnion('method', [...], { error: variantError('method', 'must be "link" or "direct"') })
 */
export const variantError = (field: string, message: string) => (issue: z.core.$ZodRawIssue) => {
  if (issue.code !== 'invalid_union') return undefined;
  const isGiven = issue.input instanceof Object && Object.hasOwn(issue.input, field);
  return isGiven ? message : message.replace('must be', 'is required:');
};

function withArticle(type: string): string {
  if (type === 'record') return 'an object';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
