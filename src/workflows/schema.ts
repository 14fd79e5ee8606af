/**
 * What a value from outside has to be. Temporal's command line and Web UI let anybody send a workflow anything, and a
 * workflow that fails over it fails at each try, for ever: so each message and each input is `unknown` until it was
 * read.
 *
 * zod would do it, but it changes its schemas when they are first used, and the worker freezes a bundle's modules.
 *
 * @param value returned as it is, with the fields that the schema doesn't know: another version may need them
 * @param at where it stands, for the error
 * @throws {NotReadable}
 */
export type Schema<T> = (value: unknown, at: string) => T;

/**
 * A value isn't what it should be. The message says where, and never what it is: that may be somebody's phone number.
 */
export class NotReadable extends Error {
  override readonly name = 'NotReadable';
}

export const text: Schema<string> = valid('text', (value) => typeof value === 'string');

/** Text that is at least one character long, and at most so many. */
export function identifier<T extends string>(maxLength: number): Schema<T> {
  return valid(
    `text of 1 to ${maxLength} characters`,
    (value) => typeof value === 'string' && value.length > 0 && value.length <= maxLength,
  );
}

/** A day, such as `2026-11-21`. */
export const date: Schema<string> = valid(
  'a day, such as 2026-11-21',
  (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
);

export const flag: Schema<boolean> = valid('true or false', (value) => typeof value === 'boolean');

/** A field that this kind of thing doesn't have. */
export const absent: Schema<undefined> = valid('left out', (value) => value === undefined);

export const anything: Schema<unknown> = (value) => value;

export const number: Schema<number> = valid('a number', (value) => Number.isFinite(value));

/** A whole number of at least 0: an amount in XAF, a count, a time in ms. */
export const count: Schema<number> = valid(
  'a whole number',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);

export function oneOf<const T>(values: readonly T[]): Schema<T> {
  return valid(`one of ${values.join(', ')}`, (value) => values.some((one) => one === value));
}

export function optional<T>(schema: Schema<T>): Schema<T | undefined> {
  return (value, at) => (value === undefined ? undefined : schema(value, at));
}

export function list<T>(schema: Schema<T>): Schema<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw new NotReadable(`${at} must be a list`);
    for (const [place, element] of value.entries()) schema(element, `${at}[${place}]`);
    return value;
  };
}

/** An object of which all fields are of one kind. */
export function record<T>(schema: Schema<T>): Schema<Readonly<Record<string, T>>> {
  return (value, at) => {
    for (const field of Object.values(asObject(value, at))) schema(field, `a field of ${at}`);
    return value as Readonly<Record<string, T>>;
  };
}

/** An object with these fields. */
export function object<T extends object>(fields: { readonly [Field in keyof T]-?: Schema<T[Field]> }): Schema<T> {
  return (value, at) => {
    const given = asObject(value, at);
    for (const [field, schema] of Object.entries<Schema<unknown>>(fields)) schema(given[field], `${at}.${field}`);
    return value as T;
  };
}

/** A union, whose members are told apart by one field. */
export function union<Field extends string, T extends { readonly [F in Field]: string }>(
  field: Field,
  members: { readonly [Kind in T[Field]]: Schema<Extract<T, { readonly [F in Field]: Kind }>> },
): Schema<T> {
  return (value, at) => {
    const kind = asObject(value, at)[field];
    const known = typeof kind === 'string' && Object.hasOwn(members, kind);
    if (!known) throw new NotReadable(`${at}.${field} must be one of ${Object.keys(members).join(', ')}`);
    return members[kind as T[Field]](value, at) as T;
  };
}

function valid<T>(what: string, isValid: (value: unknown) => boolean): Schema<T> {
  return (value, at) => {
    if (!isValid(value)) throw new NotReadable(`${at} must be ${what}`);
    return value as T;
  };
}

function asObject(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new NotReadable(`${at} must be an object`);
}
