import { describe, expect, it } from '@jest/globals';
import { Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { deliver } from '../../../src/api/payments/temporal-calls.js';

/** Its connection is made with the first call, and the message makes none. */
const client = new Client();
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
    expect(await deliver(client, message)).toBe('taken');
    expect(sent()).toBe(3);
  });

  it('is answered 503 when it goes on, so that the sender tries again', async () => {
    const { message, sent } = overtaken(100);
    await expect(deliver(client, message)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    expect(sent()).toBe(4);
  });
});
