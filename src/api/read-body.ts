import express, { type Request, type Response } from 'express';
import { ApiError, invalidRequest } from './problem.js';
import { repeatedFields } from './repeated-fields.js';

/** The largest body taken, in bytes: 64 KiB. */
export const BODY_LIMIT = 64 * 1024;

const rawParser = express.raw({ type: () => true, limit: BODY_LIMIT });

/**
 * The request's body as it came.
 *
 * @throws {ApiError} `body_too_large`, `unsupported_media_type` for an unknown content encoding, `invalid_request`
 * when the caller broke off.
 */
export async function readBody(request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    rawParser(request, response, (error?: unknown) =>
      error === undefined ? resolve() : reject(toApiError(error)),
    );
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/**
 * The request's body as JSON. A field that is given twice is refused: readers differ on which of the two counts, so
 * somebody between the merchant and us may have checked the other amount.
 *
 * @throws {ApiError} as {@link readBody}, and `unsupported_media_type`, `malformed_json`, `invalid_request`.
 */
export async function readJson(request: Request, response: Response): Promise<unknown> {
  if (!request.is('application/json')) {
    throw new ApiError(
      'unsupported_media_type',
      'Send a JSON object, with "Content-Type: application/json".',
    );
  }
  const body = await readBody(request, response);
  const parsed = parseJson(body);
  const repeated = repeatedFields(body.toString());
  if (repeated.length > 0) {
    throw invalidRequest(repeated.map((field) => ({ field, message: 'may be given once' })));
  }
  return parsed;
}

/** @throws {ApiError} `malformed_json`. What was sent is not repeated: it may be personal. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new ApiError('malformed_json', 'The body can’t be read as JSON in UTF-8.');
  }
}

/** The parser's errors carry their kind as `type`, and sometimes the body itself, so no more than the kind is kept. */
function toApiError(error: unknown): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      // What is left of the body is not worth reading, so the connection ends with the answer.
      return new ApiError('body_too_large', `A body may have ${BODY_LIMIT} bytes at most.`, {
        headers: { Connection: 'close' },
      });
    case 'encoding.unsupported':
      return new ApiError('unsupported_media_type', 'This Content-Encoding is not known.');
    case undefined:
      // Inflating a body that isn't deflated fails with an error of zlib, which has no type.
      return new ApiError('invalid_request', 'The body can’t be decoded.');
    default:
      return new ApiError('invalid_request', 'The body broke off or does not have its stated length.');
  }
}
