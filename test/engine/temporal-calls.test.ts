import { describe, expect, it } from '@jest/globals';
import { Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { Unavailable } from '../../src/engine/errors.js';
import { sendWithStart } from '../../src/engine/temporal-calls.js';

/** It connects with its first call, and these tests make none. */
const client = new Client();

const REFUSALS = {
  started: new WorkflowExecutionAlreadyStartedError('Workflow already started', 'col_1', 'payOut'),
  completed: new WorkflowNotFoundError('Completed workflow', 'col_1', undefined),
};

/** A message that the server refuses so many times, because its workflow begins or ends in that moment. */
function overtaken(times: number, refusal: Error = REFUSALS.started) {
  let sent = 0;
  return {
    sent: () => sent,
    async message() {
      sent++;
      if (sent <= times) throw refusal;
      return 'taken';
    },
  };
}

describe('a message to a workflow that begins or ends in that moment', () => {
  it.each(Object.entries(REFUSALS))('is sent again: it is %s', async (_, refusal) => {
    const { message, sent } = overtaken(2, refusal);
    expect(await sendWithStart(client, message)).toBe('taken');
    expect(sent()).toBe(3);
  });

  it('is given up when it goes on: the keeper rings later', async () => {
    const { message, sent } = overtaken(100);
    await expect(sendWithStart(client, message)).rejects.toBeInstanceOf(Unavailable);
    expect(sent()).toBe(4);
  });
});
