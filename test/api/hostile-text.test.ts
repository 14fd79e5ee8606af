import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { routes } from '../../src/api/app.js';
import { MAX_BODY_BYTES, toJson } from '../../src/http/body.js';
import { Problem } from '../../src/http/problem.js';
import { validate, validateQuery } from '../../src/http/validate.js';
import { slowest } from '../support/hostile-text.js';

type JsonSchema = z.core.JSONSchema.BaseSchema;

interface Text {
  readonly path: readonly string[];
  readonly schema: JsonSchema;
}

/** The texts in what a schema describes: those of every variant, and of what is within them. */
function textsOf(root: z.ZodType): Text[] {
  const { $defs = {}, ...whole } = z.toJSONSchema(root, { io: 'input', unrepresentable: 'any' });
  const within = (part: unknown, path: readonly string[]): Text[] => {
    if (typeof part !== 'object' || part === null) return [];
    const schema = part as JsonSchema;
    const variants = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
    return [
      ...(schema.$ref === undefined ? [] : within($defs[schema.$ref.replace('#/$defs/', '')], path)),
      ...(schema.type === 'string' ? [{ path, schema }] : []),
      ...variants.flatMap((variant) => within(variant, path)),
      ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => within(field, [...path, name])),
      ...within(schema.additionalProperties, [...path, 'a name']),
      ...within(schema.propertyNames, [...path, ANY_NAME]),
    ];
  };
  return within(whole, []);
}

/** Stands for the name itself, where any name will do. */
const ANY_NAME = '(name)';

/** The entrances of texts: each with the check of a value, and valid values. */
const entrances = routes.flatMap((route) => {
  if (route.scopes === undefined) return [];
  const { method, path, body, query, idempotencyKey: key, examples = {} } = route;
  const at = `${method} ${path}`;
  const bodies = Object.values(examples).map(({ value }) => value);
  return [
    ...(body
      ? [
          {
            place: `${at}: body`,
            schema: body,
            values: bodies,
            check: (value: unknown) => validate(body, value, 'body'),
          },
        ]
      : []),
    ...(query
      ? [
          {
            place: `${at}: query`,
            schema: query,
            values: [{}],
            check: (value: unknown) => validateQuery(query, { ...Object(value) }),
          },
        ]
      : []),
    ...(key
      ? [
          {
            place: `${at}: Idempotency-Key`,
            schema: key.schema,
            values: [''],
            check: (value: unknown) => key.schema.safeParse(value),
          },
        ]
      : []),
  ];
});

/** Each text, and how to try it with a value: what is right but for the text is refused or taken. */
const all = entrances.flatMap(({ place, schema, values, check }) =>
  textsOf(schema).map(({ path, schema: text }) => ({
    place: [place, ...path].join('.'),
    text,
    tryWith(given: string) {
      for (const value of values) {
        try {
          check(withText(value, path, given));
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
        }
      }
    },
  })),
);

/** A text of several variants is there once. */
const places = [...new Map(all.map((one) => [one.place, one])).values()];

function withText(value: unknown, path: readonly string[], text: string): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return text;
  return name === ANY_NAME ? { [text]: 'value' } : { ...Object(value), [name]: withText({}, rest, text) };
}

/** Reports whether a schema limits the length of a text. */
function isBounded({ maxLength, enum: values, const: value, pattern, allOf = [] }: JsonSchema): boolean {
  if ([maxLength, values, value].some((bound) => bound !== undefined) || ends(pattern)) return true;
  return allOf.some((part) => typeof part === 'object' && isBounded(part));
}

/** Reports whether a pattern covers the whole text, and repeats nothing without end. */
function ends(pattern = ''): boolean {
  const isWhole = pattern.startsWith('^') && pattern.endsWith('$');
  const quantifiers = pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, '');
  return isWhole && !/[*+]|\{\d+,\}/.test(quantifiers);
}

describe('a text in a request', () => {
  it.each(places)('has a bound that the OpenAPI document shows, as $place', ({ text }) => {
    expect(isBounded(text)).toBe(true);
  });

  it.each(places)('of 64 kB is taken or refused in linear time, as $place', async ({ tryWith }) => {
    expect(await slowest(tryWith)).toBeUndefined();
  });
});

describe('a body of 64 kB', () => {
  const filled =
    (piece: string, begin = '', end = '') =>
    (bytes: number) =>
      begin + piece.repeat(Math.floor((bytes - begin.length - end.length) / piece.length)) + end;
  const numbered = (begin: string, piece: (index: number) => string, end: string) => (bytes: number) =>
    begin +
    Array.from({ length: bytes / 16 }, (_, index) => piece(index))
      .join(',')
      .slice(0, bytes - 20) +
    end;

  it.each<[string, (bytes: number) => string]>([
    ['one name given again and again', filled('"a":1,', '{', '"a":1}')],
    ['thousands of names', numbered('{', (index) => `"n${index}":1`, '}')],
    ['thousands of pairs', numbered('{"metadata":{', (index) => `"n${index}":{}`, '}}')],
    ['thousands of levels', filled('[')],
    ['thousands of levels that end', (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)],
    ['thousands of levels with names', (bytes) => `${'{"a":'.repeat(bytes / 6 - 1)}1${'}'.repeat(bytes / 6 - 1)}`],
    ['thousands of objects', filled('{},', '[', '{}]')],
    ['escapes', filled('\\u0041', '{"', '":1}')],
    ['backslashes', filled('\\\\', '{"a":"', '"}')],
    ['quotes', filled('\\"', '{"a":"', '"}')],
    ['a text that never ends', filled('a', '{"a":"')],
    ['a number that never ends', filled('9', '{"amount":', '}')],
    ['spaces', filled(' ', '{', '}')],
    ['what is no JSON', filled('"')],
    ['what is no UTF-8', (bytes) => '\ufffd'.repeat(bytes / 3)],
    ['the name __proto__ again and again', filled('{"__proto__":1},', '[', '{}]')],
  ])('with %s is read or refused in linear time', async (_, jsonOf) => {
    for (const { check } of entrances.filter(({ place }) => place.endsWith(': body'))) {
      const read = (json: string) => {
        try {
          check(toJson(Buffer.from(json)));
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
        }
      };
      expect(await slowest(read, [jsonOf(MAX_BODY_BYTES)], () => jsonOf(MAX_BODY_BYTES / 4))).toBeUndefined();
    }
  });
});
