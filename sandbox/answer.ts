import type { z } from 'zod';
import type { Entry } from './entry.js';

/** What an endpoint has to say, before anything (a fault) gets in its way. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The transaction it is about, when it is about one. */
  readonly entry?: Entry | undefined;
}

/** A request that the provider refuses: becomes a 4XX (503 when the sandbox is full) with `{message}`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export const refusalAnswer = ({ status, message, headers }: Refusal): Answer => ({
  status,
  body: { message },
  headers,
});

/** The same for every transaction that the asking service doesn't have, whether or not another has it. */
export const unknownTransaction = (): Refusal => new Refusal(404, 'transId: no such transaction');

/**
 * Reads a request's body by its schema.
 * @throws Refusal 400, its message naming the first field that is wrong
 */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal(400, 'The body must be a JSON object, sent with Content-Type: application/json');
  }
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') ?? '';
  const message = issue?.message ?? 'invalid';
  throw new Refusal(400, field && !message.startsWith(field) ? `${field}: ${message}` : message);
}
