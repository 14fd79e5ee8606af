import {
  ApiError,
  ConnectionError,
  InvalidRequestError,
  OutcomeUnknownError,
  SanagaError,
  UnexpectedResponseError,
  WaitTimeoutError,
} from '../client/index.js';
import { ConfigError } from '../src/settings/config-error.js';
import { visibleJson } from '../src/text/visible-text.js';
import { Interrupted, stopSignal } from '../stack/processes/stop-signal.js';
import { optionOf } from './option-names.js';

import { note } from './terminal.js';

/** Exit codes. docs/command-line.md explains them. */
export const EXIT = {
  ok: 0,
  /** The payment failed, or the request was refused. */
  failed: 1,
  /** The command line, or the request that it makes, isn't valid. */
  usage: 2,
  /** Nobody knows yet: Sanaga is unavailable, the outcome is still to come, or the output couldn't be written. */
  unknown: 3,
  /** A setting is wrong: EX_CONFIG of sysexits.h. */
  config: 78,
} as const;

/** The command line can't be carried out; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs a command that gives its exit code, and ends the process with it. */
export async function untilDone(
  command: (stop: AbortSignal) => Promise<number>,
  { json = false }: { readonly json?: boolean | undefined } = {},
): Promise<void> {
  const say = (error: unknown) => note(json ? jsonOf(error) : describe(error));
  const code = await command(stopSignal()).catch((error: unknown) => {
    say(error);
    return exitCodeOf(error);
  });
  // Whatever is still running, such as a build that was begun, ends with this process.
  process.stdout.write('', (error?: NodeJS.ErrnoException | null) => {
    // A reader who has gone needed no more.
    const isUnwritten = error && error.code !== 'EPIPE';
    if (isUnwritten) say(error);
    process.exit(isUnwritten ? EXIT.unknown : code);
  });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof OutcomeUnknownError && error.cause instanceof Interrupted) return EXIT.unknown;
  if (error instanceof ConfigError) return EXIT.config;
  if (error instanceof UsageError || error instanceof InvalidRequestError) return EXIT.usage;
  if (error instanceof ApiError && error.status < 500 && error.status !== 429) return EXIT.failed;
  return error instanceof SanagaError ? EXIT.unknown : EXIT.failed;
}

/** Formats the error, with the ids that find it in the logs. */
function describe(error: unknown): string {
  if (error instanceof ApiError) {
    const request = error.requestId === undefined ? '' : `, request ${error.requestId}`;
    const refused = error.errors.map(({ field, message }) => `\n  ${optionOf(field)} ${message}`).join('');
    const about = error.paymentId === undefined ? '' : `\nThe payment is ${error.paymentId}.`;
    const text = refused === '' ? error.message : `the request is not valid:${refused}`;
    return `sanaga: ${text}${about}\n(${error.status} ${error.code}${request})`;
  }
  if (error instanceof OutcomeUnknownError && error.idempotencyKey !== undefined) {
    const why = error.cause instanceof Error ? ` (${error.cause.message})` : '';
    return (
      `sanaga: it isn't known whether the payment was created.${why}\n` +
      `Run the same command again with --idempotency-key ${error.idempotencyKey}: that never pays twice.`
    );
  }
  const isOurs =
    error instanceof ConnectionError ||
    error instanceof UnexpectedResponseError ||
    error instanceof WaitTimeoutError ||
    error instanceof UsageError ||
    error instanceof OutcomeUnknownError;
  const text = error instanceof Error ? error.message : String(error);
  return isOurs ? `sanaga: ${text}` : text;
}

/** Formats the error as a line of JSON, for programs. */
function jsonOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  const api = error instanceof ApiError ? error : undefined;
  const unknown = error instanceof OutcomeUnknownError ? error : undefined;
  return visibleJson({
    error: name,
    message,
    code: api?.code,
    status: api?.status,
    requestId: api?.requestId,
    errors: api?.errors.length === 0 ? undefined : api?.errors,
    paymentId: api?.paymentId ?? unknown?.paymentId,
    idempotencyKey: unknown?.idempotencyKey,
  });
}
