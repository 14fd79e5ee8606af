import { describe, expect, it } from '@jest/globals';
import { DefaultLogger, Worker } from '@temporalio/worker';
import { stopTracingPromises } from '../../lab/explore/workflow-vm.js';
import { dataConverterOf } from '../../src/temporal/encryption.js';
import { paymentSinks } from '../../src/worker/payment-worker.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { testEncryption } from '../support/test-encryption.js';
import { savedHistories } from './saved-histories.js';

describe('the saved histories', () => {
  it('are replayed by the workflows as they are today', async () => {
    const histories = await savedHistories();
    expect(histories.length).toBeGreaterThan(20);
    expect(histories.map(({ scenario }) => scenario)).toEqual(
      expect.arrayContaining([
        'payout-approved',
        'payouts-of-a-day',
        'refunds-of-a-collection',
        'statement-of-the-night',
        'statement-on-demand',
        'statement-without-answers',
        'unmatched-notifications',
      ]),
    );
    const failed: string[] = [];
    const reported: string[] = [];
    const report = (name: string) => () => void reported.push(name);
    const replay = {
      workflowBundle: workflowBundle(),
      dataConverter: dataConverterOf(testEncryption),
      logger: new DefaultLogger('ERROR'),
      sinks: paymentSinks({
        changed: report('changed'),
        becameAmbiguous: report('becameAmbiguous'),
        waitsForBudget: report('waitsForBudget'),
        gaveUpNotification: report('gaveUpNotification'),
      }),
    };
    try {
      const scenarios = new Map(histories.map(({ workflowId, scenario }) => [workflowId, scenario]));
      for await (const { workflowId, error } of Worker.runReplayHistories(replay, histories)) {
        if (error !== undefined) failed.push(`${scenarios.get(workflowId)}: ${error.message}`);
      }
    } finally {
      stopTracingPromises();
    }
    expect(failed).toEqual([]);
    // The metrics count nothing twice that is only replayed.
    expect(reported).toEqual([]);
  });
});
