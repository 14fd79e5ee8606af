import { expect } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { workflowBundle } from './bundle-workflows.js';
import type { PaymentWorld } from './payment-world.js';
import { testEncryption } from './test-encryption.js';

/** Fails when a history isn't what its workflow comes to again. */
export async function expectReplayable(world: PaymentWorld, ids: readonly string[]): Promise<void> {
  const histories = ids.map(async (workflowId) => ({
    workflowId,
    history: await world.client.workflow.getHandle(workflowId).fetchHistory(),
  }));
  const replay = {
    workflowBundle: workflowBundle(),
    dataConverter: dataConverterOf(testEncryption),
  };
  let replayed = 0;
  for await (const { workflowId, error } of Worker.runReplayHistories(replay, await Promise.all(histories))) {
    expect({ workflowId, error }).toEqual({ workflowId, error: undefined });
    replayed += 1;
  }
  expect(replayed).toBe(ids.length);
}
