import { describe, expect, it } from '@jest/globals';
import { DefaultLogger, Worker } from '@temporalio/worker';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { testEncryption } from '../support/test-encryption.js';
import { savedHistories } from './saved-histories.js';

/** One for each way through the workflows. */
const SCENARIOS = [
  'link-paid',
  'link-expired',
  'link-made-by-a-worker',
  'direct-failed',
  'payout-approved',
  'payout-worker-lost',
  'payout-book-away',
  'payout-continued',
  'statement-of-the-night',
  'statement-on-demand',
  'statement-so-far',
  'statement-without-answers',
];

describe('the saved histories', () => {
  it('are replayed by the workflows as they are today', async () => {
    const histories = await savedHistories();
    expect(histories.map(({ scenario }) => scenario).toSorted()).toEqual(SCENARIOS.toSorted());
    const replay = {
      workflowBundle: workflowBundle(),
      dataConverter: dataConverterOf(testEncryption),
      logger: new DefaultLogger('ERROR'),
    };
    const scenarios = new Map(histories.map(({ workflowId, scenario }) => [workflowId, scenario]));
    const failed: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories(replay, histories)) {
      if (error !== undefined) failed.push(`${scenarios.get(workflowId)}: ${error.message}`);
    }
    expect(failed).toEqual([]);
  });
});
