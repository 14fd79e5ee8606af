import { describe, expect, it } from '@jest/globals';
import { routes } from '../../src/api/app.js';
import { type FieldError, Problem } from '../../src/http/problem.js';
import { validate } from '../../src/http/validate.js';

/** Every field of every body that a request can have, in each of its examples, with whether it is in one. */
const fields = routes.flatMap((route) => {
  if (route.scopes === undefined || route.body === undefined) return [];
  const { method, path, body, examples = {} } = route;
  return Object.entries(examples).flatMap(([name, { value }]) =>
    fieldsOf(body, value).map((field) => ({
      place: `${method} ${path}, ${name}: ${field}`,
      body,
      value,
      field,
    })),
  );
});

/** The names that the schema knows, told by what it says of those it doesn't know. */
function fieldsOf(schema: unknown, value: unknown): string[] {
  const shapes: Record<string, unknown>[] = [];
  const collect = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    if ('shape' in one) shapes.push(one.shape as Record<string, unknown>);
    if ('options' in one && Array.isArray(one.options)) one.options.forEach(collect);
    if ('in' in one) collect(one.in);
  };
  collect(schema);
  return [...new Set([...shapes.flatMap(Object.keys), ...Object.keys(Object(value))])];
}

describe('null as the value of a field', () => {
  it('is tried with all of them', () => {
    expect(fields.length).toBeGreaterThan(40);
  });

  it.each(fields)('is refused, with what to do, in $place', ({ body, value, field }) => {
    let errors: readonly FieldError[] = [];
    try {
      validate<unknown>(body, { ...Object(value), [field]: null }, 'body');
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      errors = error.extras.errors ?? [];
    }
    expect(errors.find((error) => error.field === field)?.message).toMatch(
      /^(must not be null: give it a value or, if it is optional, leave it out|is not for this request: leave it out)$/,
    );
  });
});
