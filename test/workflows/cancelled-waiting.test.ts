import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Act, actOf, byRequest } from '../../lab/explore/workflow-commands.js';
import { activityJob, cancelJob, type Job, startJob, updateJob, WorkflowVm } from '../../lab/explore/workflow-vm.js';
import { initiationUpdate, outcomeUpdate } from '../../src/workflows/messages.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { payoutOrder, START, terms } from '../support/orders.js';

let vm: WorkflowVm;
beforeAll(async () => {
  vm = await WorkflowVm.create(await readFile(workflowBundle().codePath, 'utf8'));
});

const input = { v: 1, order: payoutOrder, terms, fingerprint: 'a fingerprint', requestId: 'a request' } as const;

describe('those who wait for a payment', () => {
  it('are answered all the same when somebody presses Cancel while they wait', async () => {
    const run = await vm.run('payOut', START, { workflowId: payoutOrder.id });
    const replies = async (...jobs: Job[]): Promise<Act[]> => {
      const commands = await run.activate(jobs, { now: START });
      return commands
        .flatMap(actOf)
        .filter(([name]) => name === 'reply')
        .sort(byRequest);
    };
    const begun = await run.activate([startJob('payOut', input, START)], { now: START });
    const seqs = begun.flatMap(({ scheduleActivity }) => scheduleActivity?.seq ?? []);
    expect(seqs).toHaveLength(1);

    const initiation = updateJob('1', initiationUpdate.name, [input]);
    expect(await replies(initiation, updateJob('2', outcomeUpdate.name, []))).toEqual([]);
    expect(await replies(cancelJob())).toEqual([]);
    const refused = { kind: 'rejected', message: 'Insufficient balance', statusCode: 400 };
    expect(await replies(activityJob(seqs[0] ?? -1, false, refused))).toEqual([
      ['reply', 1, 'done'],
      ['reply', 2, 'done'],
    ]);
    await run.dispose();
  });
});
