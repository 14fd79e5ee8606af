import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { ApiError, type FieldError, invalidRequest } from './problem.js';

/** The largest body that is accepted, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * Objects and arrays within each other, the body itself included; those of the API have two. To name a field that is
 * thousands of levels deep takes so long that a few such bodies would hold up everybody's requests.
 */
const MAX_DEPTH = 16;

/** Errors that one response lists; a hostile request could cause thousands. */
const MAX_ERRORS = 20;

/** Characters of a field's name that an error repeats. */
const MAX_NAME_LENGTH = 60;

const NULL = 'must not be null: give it a value or, if it is optional, leave it out';

const REPEATED = 'must not be given more than once';

const UNUSABLE = "has a name that can't be used: choose another";

const rawParser = express.raw({ type: () => true, limit: MAX_BODY_BYTES });

/**
 * The request's body, as it came.
 *
 * @throws {ApiError} `body_too_large`; `unsupported_media_type` for an unknown content encoding;
 * `invalid_request` when the body is incomplete.
 */
async function readBody(request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    rawParser(request, response, (error?: unknown) =>
      error === undefined ? resolve() : reject(toApiError(error)),
    );
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
      return new ApiError(
        'invalid_request',
        'The body is incomplete, or its length is not its Content-Length.',
      );
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

/** A body as JSON, without fields that are given twice or can't be used. @throws {ApiError} as {@link readJson}. */
export function toJson(body: Buffer): unknown {
  if (body.length === 0) throw new ApiError('malformed_json', 'The body is empty: send a JSON object.');
  const text = decodeUtf8(body);
  limitDepth(text);
  const parsed = parse(text);
  refuse(repeatedFields(text), REPEATED);
  refuse(unusableFields(parsed).slice(0, MAX_ERRORS), UNUSABLE);
  return parsed;
}

/** @throws {ApiError} `malformed_json`, without what was sent: it may be personal. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, unrounded);
  } catch (error) {
    throw new ApiError('malformed_json', `The body is not valid JSON${whereBroken(error)}.`);
  }
}

function refuse(fields: readonly string[], message: string): void {
  if (fields.length > 0) throw invalidRequest(fields.map((field) => ({ field, message })));
}

/** Keeps a number that isn't whole from becoming so by being rounded: it is no number for any field then. */
function unrounded(_: string, value: unknown, number?: { readonly source?: string }): unknown {
  return Number.isInteger(value) && !isWhole(number?.source ?? '') ? Number.NaN : value;
}

/** @param source a number as JSON has it, such as `5e3` */
function isWhole(source: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const digits = whole + fraction;
  let significant = digits.length;
  while (digits[significant - 1] === '0') significant -= 1;
  return significant === 0 || significant <= whole.length + Number(exponent);
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
 * The fields named `__proto__`, each by its path: the schemas would drop them without a word.
 *
 * @param value of at most {@link MAX_DEPTH} levels
 */
function unusableFields(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => {
    const field = path + name.slice(0, MAX_NAME_LENGTH);
    return name === '__proto__' ? [field] : unusableFields(below, `${field}.`);
  });
}

/** Strings, which may contain any other token, and the punctuation that structures JSON. One that never ends is read once. */
const TOKENS = /"(?:[^"\\]|\\.)*"?|[{}[\]:]/g;

/**
 * Refuses what a reviver would overflow the stack with.
 *
 * @param text JSON, or what may be taken for it
 * @throws {ApiError} `invalid_request` when it is nested too deeply.
 */
export function limitDepth(text: string): void {
  let depth = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) refuse(['body'], `must have at most ${MAX_DEPTH} levels`);
  }
}

/** An object or an array whose end has not been reached. */
interface OpenValue {
  /** Path of its fields, with a dot at the end; empty for the body's own. */
  readonly path: string;
  /** Names of its fields so far; none in an array. */
  readonly names: Set<string>;
  /** Path of the fields of the next object within it. */
  next: string;
}

/**
 * The fields that an object has more than once, each by its path, such as `metadata.colour`; the first of them, if there
 * are many. JSON.parse silently takes the last one.
 *
 * @param json text that JSON.parse has accepted
 * @example repeatedFields('{"amount": 500, "\\u0061mount": 600}') // ['amount']
 */
export function repeatedFields(json: string): string[] {
  const repeated = new Set<string>();
  const open: OpenValue[] = [];
  let last = '';
  for (const [token] of json.matchAll(TOKENS)) {
    const within = open.at(-1);
    if (token === '{' || token === '[') {
      const path = within?.next ?? '';
      open.push({ path, names: new Set(), next: path });
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token !== ':') {
      last = token;
    } else if (within !== undefined) {
      // Compared without escapes: any character of a name can be written as one.
      const name = String(JSON.parse(last));
      const field = within.path + name.slice(0, MAX_NAME_LENGTH);
      if (within.names.has(name)) repeated.add(field);
      if (repeated.size === MAX_ERRORS) break;
      within.names.add(name);
      within.next = `${field}.`;
    }
  }
  return [...repeated];
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
  throw invalidRequest(
    repeated
      .slice(0, MAX_ERRORS)
      .map((name) => ({ field: name.slice(0, MAX_NAME_LENGTH), message: REPEATED })),
  );
}

function toFieldErrors(
  issue: z.core.$ZodIssue,
  whole: 'body' | 'query',
  schema: z.ZodType,
  value: unknown,
): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    const message = `is not a known ${whole === 'body' ? 'field' : 'parameter'}`;
    const known =
      issue.path.length === 0 ? [...fieldsOf(schema), ...(whole === 'body' ? [KEY_HEADER] : [])] : [];
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
    (within, name) =>
      within instanceof Object ? Object.getOwnPropertyDescriptor(within, name)?.value : undefined,
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
  const plain = (name: string) => name.slice(0, MAX_NAME_LENGTH).toLowerCase().replace(/[_-]/g, '');
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
  return path.length === 0 ? whole : path.map((part) => String(part).slice(0, MAX_NAME_LENGTH)).join('.');
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
