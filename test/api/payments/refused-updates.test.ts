import { describe, expect, it } from '@jest/globals';
import { Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { refusalOf, waitFor } from '../../../src/api/payments/temporal-calls.js';

/** Its connection is made with the first call, and these updates make none. */
const client = new Client();

const failing = (cause: Error | undefined) =>
  waitFor(client, new AbortController().signal, 1_000, async () => {
    throw new WorkflowUpdateFailedError('Workflow Update failed', cause);
  });

describe('an update that fails', () => {
  it.each([
    ['its workflow was asked to cancel', new CancelledFailure('Workflow cancelled')],
    ['something in it ran out of time', new TimeoutFailure('too late', undefined, 'START_TO_CLOSE')],
    ['nobody says why', undefined],
  ])('because %s is trouble, and may be tried again', async (_, cause) => {
    await expect(failing(cause)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  });

  it('because the payment refuses it is an answer', async () => {
    const refused = failing(ApplicationFailure.nonRetryable('it is final', 'NotUnderReview'));
    await expect(refused).rejects.toBeInstanceOf(WorkflowUpdateFailedError);
    expect(refusalOf(await refused.catch((error: unknown) => error))).toBe('NotUnderReview');
  });
});
