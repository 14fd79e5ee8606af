import { z } from 'zod';
import { shorten } from '../text/exact-json.js';
import { MAX_ERRORS, REPEATED } from './body.js';
import { type FieldError, invalidRequest } from './problem.js';

const NULL = 'must not be null: give it a value or, if it is optional, leave it out';

/**
 * Parses a value by its schema.
 *
 * @param whole what errors call the value itself
 * @throws {Problem} `invalid_request` with an error for each wrong field.
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
 * @throws {Problem} `invalid_request` with an error for each parameter that is wrong or given more than once.
 */
export function validateQuery<T>(schema: z.ZodType<T>, query: Readonly<Record<string, unknown>>): T {
  const repeated = Object.keys(query).filter((name) => Array.isArray(query[name]));
  if (repeated.length === 0) return validate(schema, query, 'query');
  throw invalidRequest(repeated.slice(0, MAX_ERRORS).map((name) => ({ field: shorten(name), message: REPEATED })));
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
      // Another variant of the body has the field.
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

/** Finds the name that was probably meant: the same but for case, `_` and `-`, or with a slip or two. */
function nearest(given: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => shorten(name).toLowerCase().replace(/[_-]/g, '');
  const [closest] = known
    .map((name) => ({ name, slips: distance(plain(given), plain(name)) }))
    .filter(({ name, slips }) => slips <= Math.min(2, Math.floor(name.length / 3)))
    .sort((one, other) => one.slips - other.slips);
  return closest?.name;
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
  return path.length === 0 ? whole : path.map((part) => shorten(String(part))).join('.');
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
