import express, { type Request, type Response } from 'express';
import { parseExactly, repeatedFields, shorten, TooDeepError } from '../text/exact-json.js';
import { type FieldError, httpProblem, invalidRequest, type Problem } from './problem.js';

/** The largest body that is accepted, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Errors that one response lists; a hostile request could cause thousands. */
export const MAX_ERRORS = 20;

/** The error of a field or a parameter that is given twice. */
export const REPEATED = 'must not be given more than once';

const UNUSABLE = "has a name that can't be used: choose another";

const BROKEN = 'has half of a character: a text was cut between the two parts of it';

const rawParser = express.raw({ type: () => true, limit: MAX_BODY_BYTES });

/**
 * Reads the request's body, decoded.
 *
 * @throws {Problem} `body_too_large`; `unsupported_media_type` for an unknown content encoding;
 * `invalid_request` when the body is incomplete.
 */
async function readBody(request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    rawParser(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(toProblem(error))));
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/**
 * Reads the request's body as it came, without undoing its Content-Encoding.
 *
 * @throws {Problem} `body_too_large`; `invalid_request` when the body is incomplete.
 */
export async function readBytes(request: Request, response: Response): Promise<Buffer> {
  delete request.headers['content-encoding'];
  return await readBody(request, response);
}

/** The parser's errors may hold the body itself, so only their `type` is used. */
function toProblem(error: unknown): Problem {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      // The rest of the body isn't worth reading, so the connection ends with the response.
      return httpProblem('body_too_large', `A body may have at most ${MAX_BODY_BYTES} bytes.`, {
        headers: { Connection: 'close' },
      });
    case 'encoding.unsupported':
      return httpProblem('unsupported_media_type', 'This Content-Encoding is not supported.');
    case undefined:
      // zlib's errors, for a body that isn't compressed as its Content-Encoding says, have no type.
      return httpProblem('invalid_request', "The body can't be decoded.");
    default:
      return httpProblem('invalid_request', 'The body is incomplete, or its length is not its Content-Length.');
  }
}

/**
 * Reads the request's body as JSON. Refuses a repeated field: programs differ on which of the two counts, so an amount
 * checked on the way could differ from the one that is paid.
 *
 * @throws {Problem} as {@link readBody}, and `unsupported_media_type`, `malformed_json`, `invalid_request`.
 */
export async function readJson(request: Request, response: Response): Promise<unknown> {
  const isJson = request.is('application/json');
  if (isJson === false && request.headers['content-length'] !== '0') {
    throw httpProblem('unsupported_media_type', 'Send a JSON object with "Content-Type: application/json".');
  }
  return toJson(await readBody(request, response));
}

/**
 * Parses a body as JSON. Refuses repeated and unusable fields, and halves of characters, which many programs can't read
 * in an answer. @throws {Problem} as {@link readJson}.
 */
export function toJson(body: Buffer): unknown {
  if (body.length === 0) throw httpProblem('malformed_json', 'The body is empty: send a JSON object.');
  const text = decodeUtf8(body);
  const parsed = parse(text);
  refuse(repeatedFields(text).map((field) => ({ field, message: REPEATED })));
  refuse(unusableFields(parsed).slice(0, MAX_ERRORS));
  return parsed;
}

/**
 * @throws {Problem} `malformed_json`, without what was sent: it may be personal; `invalid_request` when it is nested
 *   too deeply.
 */
function parse(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    if (error instanceof TooDeepError) throw invalidRequest([{ field: 'body', message: error.message }]);
    throw httpProblem('malformed_json', `The body is not valid JSON${whereBroken(error)}.`);
  }
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidRequest(errors);
}

function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw httpProblem('malformed_json', 'The body is not valid UTF-8.');
  }
}

/** Returns the position of the error in the JSON, if JSON.parse names one: the rest of its message repeats the body. */
function whereBroken(error: unknown): string {
  const message = error instanceof SyntaxError ? error.message : '';
  if (message.endsWith('end of JSON input')) return ': it ends too early';
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  return line === undefined ? '' : `: see line ${line}, column ${column}`;
}

/**
 * Lists the unusable fields by their paths: those named `__proto__`, which the schemas would drop silently, and those
 * with half of a character in their name or their text.
 *
 * @param value of few levels: as {@link parseExactly} takes it
 */
function unusableFields(value: unknown, path = ''): FieldError[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [{ field: path || 'body', message: BROKEN }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => {
    const field = path === '' ? shorten(name) : `${path}.${shorten(name)}`;
    if (name === '__proto__') return [{ field, message: UNUSABLE }];
    return name.isWellFormed() ? unusableFields(below, field) : [{ field, message: BROKEN }];
  });
}
