import { describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { DecryptionError } from '../../src/temporal/encryption.js';
import { loggingRuntime } from '../../src/worker/log.js';

const PAYMENT = 'pay_0123456789abcdef0123456789abcdef';

/** Returns our log's version of a line of the SDK's. */
function logged(meta: Record<string, unknown>, level: 'info' | 'error' = 'error') {
  const lines: string[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line) => lines.push(line) });
  loggingRuntime(logger).logger?.[level]('it happened', meta);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

describe("a line of Temporal's SDK in the worker's log", () => {
  it('has the message and the stack of its error', () => {
    const { err, error, level } = logged({ error: new Error('the reason') });
    expect(err).toMatchObject({ type: 'Error', message: 'the reason' });
    expect(err.stack).toContain('log.test');
    expect(error).toBeUndefined();
    expect(level).toBe(50);
  });

  it("has the message of its error's cause", () => {
    const cause = new DecryptionError('the key is missing');
    expect(logged({ error: ApplicationFailure.fromError(cause) }).err.message).toContain('the key is missing');
  });

  it("names the payment, and other workflows by their workflow's id", () => {
    expect(logged({ workflowId: PAYMENT, runId: 'run' }, 'info')).toEqual({
      level: 30,
      paymentId: PAYMENT,
      runId: 'run',
      msg: 'it happened',
    });
    expect(logged({ workflowId: 'unmatched-notifications' })).toMatchObject({
      workflowId: 'unmatched-notifications',
    });
  });

  it("names the payment that couldn't be decrypted, of which the SDK says the run alone", () => {
    const error = new DecryptionError('the key is missing', PAYMENT);
    expect(logged({ runId: 'run', error })).toMatchObject({ paymentId: PAYMENT, runId: 'run' });
  });

  it('has no task and no memo, which may be in plain text', () => {
    const meta = { task: '{"phone":"677000000"}', taskEncoded: 'Njc3', workflowInfo: { memo: '677000000' } };
    expect(logged({ ...meta, activityType: 'payOut' })).toEqual({
      level: 50,
      activityType: 'payOut',
      msg: 'it happened',
    });
  });

  it('says nothing of a queue that is for activities alone', () => {
    const lines: string[] = [];
    const { logger } = loggingRuntime(pino({}, { write: (line) => lines.push(line) }));
    logger?.warn('No workflows registered, not polling for workflow tasks');
    expect(lines).toEqual([]);
  });

  it("has the core's own failure of a task, and none that the core quotes", () => {
    const own = 'Failure { message: "[TMPRL1100] Nondeterminism error", encoded_attributes: None, cause: None }';
    expect(logged({ failure: own })).toMatchObject({ failure: own });
    const quoted = 'Failure { message: "Encoded failure", encoded_attributes: Some([eyJtZXNz]), cause: None }';
    expect(logged({ failure: quoted })).not.toHaveProperty('failure');
  });
});
