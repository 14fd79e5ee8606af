import { describe, expect, it, jest } from '@jest/globals';
import { hintSignal } from '../../src/workflows/messages.js';
import { KEYS } from '../support/api-under-test.js';
import { link, useStack } from '../support/payment-stack.js';

const key = KEYS.shop;
const stack = useStack();

/** Signals that make a history long before any worker has taken the payment's next task. */
const SIGNALS = 300;

/** The events that a request to the API reads of a history; the answer's status. */
async function eventsReadBy(path: string) {
  const service = stack.api.client.workflowService;
  const read = jest.spyOn(service, 'getWorkflowExecutionHistory');
  try {
    const { status } = await stack.api.ask('GET', path, { key });
    const pages = await Promise.all(read.mock.results.map(({ value }) => value as unknown));
    const events = pages.flatMap((page) => (page as { history: { events: unknown[] } }).history.events);
    return { status, events: events.length };
  } finally {
    read.mockRestore();
  }
}

async function flood(id: string): Promise<void> {
  const handle = stack.api.client.workflow.getHandle(id);
  for (let sent = 0; sent < SIGNALS; sent++) await handle.signal(hintSignal, { status: 'SUCCESSFUL' });
}

describe('a payment with a long history that no worker works on', () => {
  it('is known to have been taken by the first events of its history', async () => {
    const { id } = await stack.asked();
    await stack.withoutWorker(async () => {
      await flood(id);
      const { status, events } = await eventsReadBy(`/v1/payments/${id}`);
      expect(status).toBe(503);
      expect(events).toBeGreaterThan(0);
      expect(events).toBeLessThan(100);
    });
  });

  it('is read from its first event when somebody has stopped it before any worker took it', async () => {
    await stack.withoutWorker(async () => {
      const { body } = await stack.post('/v1/collections', link);
      await flood(body.id);
      await stack.api.client.workflow.getHandle(body.id).terminate();
      const { status, events } = await eventsReadBy(`/v1/payments/${body.id}`);
      expect(status).toBe(200);
      // Temporal sends no less than it has stored at once: with the start, that its first task is due.
      expect(events).toBeLessThanOrEqual(2);
    });
  });
});
