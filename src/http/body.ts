import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { parseExactly, repeatedFields, shortened, TooDeepError } from '../text/exact-json.js';
import { ApiError, type FieldError, invalidRequest } from './problem.js';

/** The largest body that is accepted, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Errors that one response lists; a hostile request could cause thousands. */
const MAX_ERRORS = 20;

const NULL = 'must not be null: give it a value or, if it is optional, leave it out';

const REPEATED = 'must not be given more than once';

const UNUSABLE = "has a name that can't be used: choose another";

const BROKEN = 'has half of a character: a text was cut between the two parts of it';

const rawParser = express.raw({ type: () => true, limit: MAX_BODY_BYTES });

/**
 * The request's body, as it came.
 *
 * @throws {ApiError} `body_too_large`; `unsupported_media_type` for an unknown content encoding;
 * `invalid_request` when the body is incomplete.
 */
async function readBody(request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    rawParser(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(toApiError(error))));
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/**
 * The request's body, as it came: what its Content-Encoding says is left to the caller.
 *
 * @throws {ApiError} `body_too_large`; `invalid_request` when the body is incomplete.
 */
export async function readBytes(request: Request, response: Response): Promise<Buffer> {
  delete request.headers['content-encoding'];
  return await readBody(request, response);
}

/** The parser's errors may hold the body itself, so only their `type` is used. */
function toApiError(error: unknown): ApiError {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      // The rest of the body isn't worth reading, so the connection ends with the response.
      return new ApiError('body_too_large', `A body may have at most ${MAX_BODY_BYTES} bytes.`, {
        headers: { Connection: 'close' },
      });
    case 'encoding.unsupported':
      return new ApiError('unsupported_media_type', 'This Content-Encoding is not supported.');
    case undefined:
      // zlib's errors, for a body that isn't compressed as its Content-Encoding says, have no type.
      return new ApiError('invalid_request', "The body can't be decoded.");
    default:
      return new ApiError('invalid_request', 'The body is incomplete, or its length is not its Content-Length.');
  }
}

/**
 * The request's body as JSON. A field that is given twice is refused: programs differ on which of the two
 * counts, so what somebody on the way has checked could be another amount than the one that is paid.
 *
 * @throws {ApiError} as {@link readBody}, and `unsupported_media_type`, `malformed_json`, `invalid_request`.
 */
export async function readJson(request: Request, response: Response): Promise<unknown> {
  if (!request.is('application/json')) {
    throw new ApiError('unsupported_media_type', 'Send a JSON object with "Content-Type: application/json".');
  }
  return toJson(await readBody(request, response));
}

/**
 * A body as JSON, without fields that are given twice or can't be used, and without halves of characters, which many
 * programs can't read in what they are answered. @throws {ApiError} as {@link readJson}.
 */
export function toJson(body: Buffer): unknown {
  if (body.length === 0) throw new ApiError('malformed_json', 'The body is empty: send a JSON object.');
  const text = decodeUtf8(body);
  const parsed = parse(text);
  refuse(repeatedFields(text).map((field) => ({ field, message: REPEATED })));
  refuse(unusableFields(parsed).slice(0, MAX_ERRORS));
  return parsed;
}

/**
 * @throws {ApiError} `malformed_json`, without what was sent: it may be personal; `invalid_request` when it is nested
 *   too deeply.
 */
function parse(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    if (error instanceof TooDeepError) throw invalidRequest([{ field: 'body', message: error.message }]);
    throw new ApiError('malformed_json', `The body is not valid JSON${whereBroken(error)}.`);
  }
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidRequest(errors);
}

function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new ApiError('malformed_json', 'The body is not valid UTF-8.');
  }
}

/** Where JSON.parse met the mistake, as far as it says: the rest of its message repeats the body. */
function whereBroken(error: unknown): string {
  const message = error instanceof SyntaxError ? error.message : '';
  if (message.endsWith('end of JSON input')) return ': it ends too early';
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  return line === undefined ? '' : `: see line ${line}, column ${column}`;
}

/**
 * The fields that can't be used, each by its path: those named `__proto__`, which the schemas would drop without a
 * word, and those with half of a character in their name or their text.
 *
 * @param value of few levels: as {@link parseExactly} takes it
 */
function unusableFields(value: unknown, path = ''): FieldError[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [{ field: path || 'body', message: BROKEN }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => {
    const field = path === '' ? shortened(name) : `${path}.${shortened(name)}`;
    if (name === '__proto__') return [{ field, message: UNUSABLE }];
    return name.isWellFormed() ? unusableFields(below, field) : [{ field, message: BROKEN }];
  });
}

/**
 * Parses a value by its schema.
 *
 * @param whole what errors call the value itself
 * @throws {ApiError} `invalid_request` with an error for each wrong field.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, whole: 'body' | 'query'): T {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalidRequest(
    parsed.error.issues.flatMap((issue) => toFieldErrors(issue, whole, schema, value)).slice(0, MAX_ERRORS),
  );
}

/**
 * Query parameters that match a schema.
 *
 * @param query parameters as Express parses them: one that is given twice is an array
 * @throws {ApiError} `invalid_request` with an error for each parameter that is wrong or given more than once.
 */
export function validateQuery<T>(schema: z.ZodType<T>, query: Readonly<Record<string, unknown>>): T {
  const repeated = Object.keys(query).filter((name) => Array.isArray(query[name]));
  if (repeated.length === 0) return validate(schema, query, 'query');
  throw invalidRequest(repeated.slice(0, MAX_ERRORS).map((name) => ({ field: shortened(name), message: REPEATED })));
}

function toFieldErrors(
  issue: z.core.$ZodIssue,
  whole: 'body' | 'query',
  schema: z.ZodType,
  value: unknown,
): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    const message = `is not a known ${whole === 'body' ? 'field' : 'parameter'}`;
    const known = issue.path.length === 0 ? [...fieldsOf(schema), ...(whole === 'body' ? [KEY_HEADER] : [])] : [];
    return issue.keys.slice(0, MAX_ERRORS).map((key) => {
      const field = nameOf([...issue.path, key], whole);
      // Of several kinds of body, another has it.
      if (known.includes(key)) return { field, message: 'is not for this request: leave it out' };
      const meant = nearest(key, known);
      if (meant === undefined) return { field, message };
      return {
        field,
        message: `${message}: did you mean ${meant === KEY_HEADER ? `the header ${meant}` : meant}?`,
      };
    });
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

/** In a body, it would be no promise that a repeated request pays once. */
const KEY_HEADER = 'Idempotency-Key';

function fieldsOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (!(schema instanceof z.ZodUnion)) return [];
  return schema.options.flatMap((option) => (option instanceof z.ZodType ? fieldsOf(option) : []));
}

/** The name that was probably meant: the same but for case, `_` and `-`, or with a slip or two. */
function nearest(given: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => shortened(name).toLowerCase().replace(/[_-]/g, '');
  const [closest] = known
    .map((name) => ({ name, slips: distance(plain(given), plain(name)) }))
    .filter(({ name, slips }) => slips <= Math.min(2, Math.floor(name.length / 3)))
    .sort((one, other) => one.slips - other.slips);
  return closest?.name;
}

/** How many letters have to be added, left out or replaced: Levenshtein's distance. */
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
  return path.length === 0 ? whole : path.map((part) => shortened(String(part))).join('.');
}

/** A field of another variant of the body, which this one refuses. */
export const onlyFor = (variant: string) => z.never({ error: `is only for ${variant}` }).optional();

/** The message for what a schema has none of its own for. It repeats no value: that may be personal. */
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
