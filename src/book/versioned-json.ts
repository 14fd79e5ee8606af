import { z } from 'zod';

/** The version of all that is kept. A change of shape or meaning takes the next number, and a schema of its own. */
const VERSION = 1;

const versioned = z.looseObject({ v: z.int() });

/** A row or a statement can't be read. The message says why and what to do; it quotes nothing. */
export class UnreadableRecordError extends Error {
  override readonly name: string = 'UnreadableRecordError';
}

/** Writes a value as JSON, with the version of its shape. */
export function toJson(content: object): string {
  return JSON.stringify({ v: VERSION, ...content });
}

/**
 * Reads what {@link toJson} wrote.
 *
 * @throws {UnreadableRecordError} when another version has written it, or it is damaged.
 */
export function fromJson<T>(json: string, schema: z.core.$ZodType<T>): T {
  const { v, ...content } = checked(parsed(json), versioned);
  if (v === VERSION) return checked(content, schema);
  throw new UnreadableRecordError(
    `It was written in version ${v}, and this release reads version ${VERSION}. Read it with the release that wrote it, or a later one.`,
  );
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // The error would quote the text.
    throw damaged('it is no JSON');
  }
}

function checked<T>(value: unknown, schema: z.core.$ZodType<T>): T {
  const { success, data, error } = z.safeParse(schema, value);
  if (success) return data;
  throw damaged(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(', '));
}

/** @param how such as `it is no JSON` */
export function damaged(how: string): UnreadableRecordError {
  return new UnreadableRecordError(`It is damaged: ${how}. Restore it from a backup of the database.`);
}
