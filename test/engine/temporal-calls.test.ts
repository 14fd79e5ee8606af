import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { Unavailable } from '../../src/engine/errors.js';
import { failureTypeOf, sendWithStart, waitForAnswer } from '../../src/engine/temporal-calls.js';

/** It connects with its first call, and these tests make none. */
const client = new Client();

const failing = (cause: Error | undefined) =>
  waitForAnswer(client, new AbortController().signal, 1_000, async () => {
    throw new WorkflowUpdateFailedError('Workflow Update failed', cause);
  });

describe('an update that fails', () => {
  it.each([
    ['its workflow was asked to cancel', new CancelledFailure('Workflow cancelled')],
    ['something in it ran out of time', new TimeoutFailure('too late', undefined, 'START_TO_CLOSE')],
    ['nobody says why', undefined],
  ])('because %s is trouble, and may be tried again', async (_, cause) => {
    await expect(failing(cause)).rejects.toBeInstanceOf(Unavailable);
  });

  it('because the payment refuses it is an answer', async () => {
    const refused = failing(ApplicationFailure.nonRetryable('it is final', 'NotUnderReview'));
    await expect(refused).rejects.toBeInstanceOf(WorkflowUpdateFailedError);
    expect(failureTypeOf(await refused.catch((error: unknown) => error))).toBe('NotUnderReview');
  });
});

describe('a wait', () => {
  it('is over at its end, even if that is heard from Temporal before the signal is given', async () => {
    const unsignalled = new AbortController().signal;
    const answer = waitForAnswer(client, unsignalled, 20, async () => {
      await pause(30);
      throw new WorkflowUpdateRPCTimeoutOrCancelledError('context deadline exceeded');
    });
    expect(await answer).toBeUndefined();
  });

  it('that is cut short is trouble', async () => {
    const answer = waitForAnswer(client, new AbortController().signal, 60_000, async () => {
      throw new WorkflowUpdateRPCTimeoutOrCancelledError('Call cancelled');
    });
    await expect(answer).rejects.toBeInstanceOf(Unavailable);
  });
});

const started = () => new WorkflowExecutionAlreadyStartedError('Workflow already started', 'col_1', 'payOut');

/** A message that the server refuses so many times, because its workflow begins or ends in that moment. */
function overtaken(times: number) {
  let sent = 0;
  return {
    sent: () => sent,
    async message() {
      sent++;
      if (sent <= times) throw started();
      return 'taken';
    },
  };
}

describe('a message to a workflow that begins or ends in that moment', () => {
  it('is sent again', async () => {
    const { message, sent } = overtaken(2);
    expect(await sendWithStart(client, message)).toBe('taken');
    expect(sent()).toBe(3);
  });

  it('is answered 503 when it goes on, so that the sender tries again', async () => {
    const { message, sent } = overtaken(100);
    await expect(sendWithStart(client, message)).rejects.toBeInstanceOf(Unavailable);
    expect(sent()).toBe(4);
  });
});
