import { DefaultLogger, type RuntimeOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { parsePaymentId } from '../payments/words/payment-id.js';
import { DecryptionError } from '../temporal/encryption.js';

/*
 * The log lines of Temporal's SDK in our own log: those of the worker, of activities and workflows, and of the SDK's
 * core, which by itself writes to the console.
 */

/**
 * The options of Temporal's runtime that lead its log to ours. The SDK holds each line back for 100 ms, to sort them by
 * time.
 */
export function loggingRuntime(logger: Logger): RuntimeOptions {
  return {
    logger: temporalLogger(logger),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  };
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The SDK's warning about a queue that is only for activities, such as that of statements. It means nothing. */
const NO_WORKFLOWS = 'No workflows registered';

/** Fields that can quote what is encrypted: tasks with their arguments, and all that is known of a workflow. */
const UNSHOWN = ['task', 'taskEncoded', 'workflowInfo'] as const;

/**
 * Writes the SDK's log lines to our logger. A payment's id is called `paymentId` and an error `err`, as in the API's
 * log: pino writes an error under another name without its message.
 */
function temporalLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('INFO', ({ level, message, meta = {} }) => {
    if (message.startsWith(NO_WORKFLOWS)) return;
    const { error, failure, workflowId = workflowOf(error), ...rest } = meta;
    for (const name of UNSHOWN) delete rest[name];
    const paymentId = parsePaymentId(workflowId);
    const line = {
      ...(paymentId === undefined ? { workflowId } : { paymentId }),
      ...rest,
      ...(error !== undefined && { err: error }),
      ...(isOfCore(failure) && { failure }),
    };
    logger[LEVELS[level]](line, message);
  });
}

/** The SDK knows a workflow only by its run until it could decrypt the workflow's first task. */
function workflowOf(error: unknown): string | undefined {
  return error instanceof DecryptionError ? error.workflowId : undefined;
}

/**
 * Reports whether the core itself made this failure of a workflow task, for example when a workflow doesn't replay. The
 * core quotes other failures, too, which can hold a payer's data; the worker logs those by itself, as errors.
 */
function isOfCore(failure: unknown): boolean {
  return typeof failure === 'string' && failure.includes('encoded_attributes: None');
}
