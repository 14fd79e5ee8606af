import type { z } from 'zod';
import { type FieldError, invalidRequest } from './problem.js';

/** Enough to mend a request by; a hostile one could make thousands. */
const MOST_ERRORS = 20;

/** How much of an unknown field's name is repeated. */
const MOST_OF_A_NAME = 60;

/**
 * Reads a value by its schema.
 *
 * @param whole what to call the value itself in an error: `body` or `query`
 * @throws {ApiError} `invalid_request` with an error for each field that is wrong.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, whole: string): T {
  const read = schema.safeParse(value, { error: describeIssue });
  if (read.success) return read.data;
  throw invalidRequest(
    read.error.issues.flatMap((issue) => toFieldErrors(issue, whole)).slice(0, MOST_ERRORS),
  );
}

/**
 * @param query parameters as Express reads them: one given twice is a list
 * @throws {ApiError} `invalid_request` with an error for each parameter that is given more than once.
 */
export function refuseRepeated(query: Readonly<Record<string, unknown>>): void {
  const repeated = Object.keys(query).filter((name) => Array.isArray(query[name]));
  if (repeated.length === 0) return;
  throw invalidRequest(
    repeated.slice(0, MOST_ERRORS).map((name) => ({
      field: name.slice(0, MOST_OF_A_NAME),
      message: 'may be given once',
    })),
  );
}

function toFieldErrors(issue: z.core.$ZodIssue, whole: string): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: nameOf([...issue.path, key], whole),
      message: 'is not a known field',
    }));
  }
  return [{ field: nameOf(issue.path, whole), message: issue.message }];
}

function nameOf(path: readonly PropertyKey[], whole: string): string {
  return path.length === 0 ? whole : path.map((part) => String(part).slice(0, MOST_OF_A_NAME)).join('.');
}

/** Plain words for what schemas don't put in words of their own. A value is never repeated: it may be personal. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(issue.expected)}`;
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

function article(type: string): string {
  if (type === 'record') return 'an object';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
