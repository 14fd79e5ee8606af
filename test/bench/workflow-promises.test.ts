import { readFile } from 'node:fs/promises';
import { promiseHooks } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  activityJob,
  type Command,
  type Job,
  signalJob,
  startJob,
  type WorkflowRun,
  WorkflowVm,
} from '../../lab/explore/workflow-vm.js';
import { workflowBundle } from '../support/bundle-workflows.js';
import { linkOrder, START, terms, transId } from '../support/orders.js';

const fingerprint = 'a fingerprint';
const [id, link] = [transId('T1'), 'https://pay.example/T1'];
const requested = {
  outcome: { kind: 'accepted', transId: id, link } as const,
  sentAt: START,
  answeredAt: START,
};
const input = { v: 1, order: linkOrder, terms, fingerprint, requestId: 'a request', requested } as const;
const transaction = { transId: id, status: 'SUCCESSFUL', amount: linkOrder.amount, externalId: linkOrder.id };

/** A paid link: what its workflow is told, each time. Activities are numbered as the workflow asks for them. */
const PAID_LINK: readonly (readonly Job[])[] = [
  [startJob('collectByLink', input, START), signalJob('hint', { transId: id, status: 'SUCCESSFUL' })],
  [activityJob(1, true, { kind: 'found', transaction })],
  [activityJob(2, true, { kind: 'delivered' })],
];

/**
 * Reports whether a promise was made in a workflow's VM: not by Node, by this suite, or by remains of an earlier one.
 */
function isOfWorkflow(promise: Promise<unknown>): boolean {
  const globals = promise.constructor.constructor('return globalThis')();
  return '__TEMPORAL_ACTIVATOR__' in globals;
}

describe("a paid link's workflow", () => {
  let run: WorkflowRun;
  beforeAll(async () => {
    const vm = await WorkflowVm.create(await readFile(workflowBundle().codePath, 'utf8'));
    run = await vm.run('collectByLink', START, { workflowId: linkOrder.id });
  });
  afterAll(() => run.dispose());

  it('makes 49 promises, each of which costs what WORKER_CALL_STACKS traces', async () => {
    let promises = 0;
    const stop = promiseHooks.onInit((promise: Promise<unknown>) => {
      if (isOfWorkflow(promise)) promises++;
    });
    let last: readonly Command[] = [];
    try {
      for (const jobs of PAID_LINK) last = await run.activate(jobs, { now: START });
    } finally {
      stop();
    }
    expect(last).toMatchObject([{ completeWorkflowExecution: {} }]);
    expect(promises).toBe(49);
  });
});
