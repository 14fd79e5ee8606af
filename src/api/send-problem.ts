import type { ErrorRequestHandler } from 'express';
import { ApiError, invalidRequest, PROBLEMS } from './problem.js';
import { recordOf } from './request-record.js';

/** A problem document of RFC 9457, with our own members `code` and `requestId`. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly requestId: string;
}

/** The only place where an error becomes an answer. What isn't an {@link ApiError} is logged, and never shown. */
export const sendProblem: ErrorRequestHandler = (thrown: unknown, request, response, next) => {
  const record = recordOf(request);
  const error = toApiError(thrown);
  const { status } = PROBLEMS[error.code];
  record.code = error.code;
  if (status >= 500) record.error = error.cause ?? error;
  // Too late for another answer; Express then cuts the connection, so that nobody takes half an answer for a whole.
  if (response.headersSent) return next(thrown);

  response
    .status(status)
    .set(error.headers)
    .type('application/problem+json')
    .send(JSON.stringify(document(error, record.id)));
};

function document({ code, message, extras }: ApiError, requestId: string): ProblemDocument {
  const { status, title } = PROBLEMS[code];
  return { type: `urn:sanaga:problem:${code}`, title, status, detail: message, code, requestId, ...extras };
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  // Express throws these itself when a percent-encoded path can't be read.
  if (thrown instanceof URIError)
    return invalidRequest([{ field: 'path', message: 'is not correctly encoded' }]);
  return new ApiError('internal_error', 'The request could not be dealt with. We have a record of it.', {
    cause: thrown,
  });
}
