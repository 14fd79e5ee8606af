import type { Client } from '@temporalio/client';

/** From its final status to its end, a workflow has little left to do. */
const ENDS_WITHIN_MS = 5_000;

/**
 * The number of events in the history of a payment's workflow, once it has ended.
 *
 * @throws Error when it doesn't end within 5 s, or has failed.
 */
export async function countEvents(client: Client, id: string): Promise<number> {
  const handle = client.workflow.getHandle(id);
  return await client.withDeadline(Date.now() + ENDS_WITHIN_MS, async () => {
    await handle.result();
    const { events } = await handle.fetchHistory();
    return events?.length ?? 0;
  });
}
