import { readFileSync } from 'node:fs';
import { status as grpc } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporal } from '@temporalio/proto';
import { PaymentWorld } from '../support/payment-world.js';

const { operatorservice, workflowservice } = temporal.api;

/** The calls of Temporal's API that do something, by the row of the operators' guide that says what. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  Cancel: ['RequestCancelWorkflowExecution'],
  'Terminate, Delete, Reset to any event': [
    'TerminateWorkflowExecution',
    'DeleteWorkflowExecution',
    'ResetWorkflowExecution',
  ],
  "Start, signal or update by hand, under a payment's id": [
    'StartWorkflowExecution',
    'SignalWorkflowExecution',
    'UpdateWorkflowExecution',
    'SignalWithStartWorkflowExecution',
    'ExecuteMultiOperation',
  ],
  'Update options of a workflow (version)': ['UpdateWorkflowExecutionOptions'],
  'Rate limit of a task queue (`task-queue config set`)': ['UpdateTaskQueueConfig'],
  'Reset, `fail` or `complete` of an activity that moves money': [
    'UpdateActivityOptions',
    'ResetActivity',
    'RespondActivityTaskCompletedById',
    'RespondActivityTaskFailedById',
    'RespondActivityTaskCanceledById',
    'RecordActivityTaskHeartbeatById',
  ],
  'Pause an activity': ['PauseActivity', 'UnpauseActivity'],
  'Batch jobs (`--query`), `batch terminate`': ['StartBatchOperation', 'StopBatchOperation'],
  "A worker of somebody else's on the payments' queue": [
    'PollWorkflowTaskQueue',
    'PollActivityTaskQueue',
    'RespondWorkflowTaskCompleted',
    'RespondWorkflowTaskFailed',
    'RespondActivityTaskCompleted',
    'RespondActivityTaskFailed',
    'RespondActivityTaskCanceled',
    'RespondQueryTaskCompleted',
    'RecordActivityTaskHeartbeat',
  ],
  'Reset of a sticky queue, shutdown of a worker, Nexus endpoints, any action that only reads': [
    'QueryWorkflow',
    'ResetStickyTaskQueue',
    'ShutdownWorker',
    'CreateNexusEndpoint',
    'UpdateNexusEndpoint',
    'DeleteNexusEndpoint',
    'PollNexusTaskQueue',
    'RespondNexusTaskCompleted',
    'RespondNexusTaskFailed',
  ],

  'Pause (`toggle`), update, delete or trigger the schedule `daily-statement`': [
    'CreateSchedule',
    'UpdateSchedule',
    'PatchSchedule',
    'DeleteSchedule',
  ],
  'Current or ramping version of a deployment (`worker deployment`)': [
    'SetWorkerDeploymentCurrentVersion',
    'SetWorkerDeploymentRampingVersion',
    'SetWorkerDeploymentManager',
    'UpdateWorkerDeploymentVersionMetadata',
    'DeleteWorkerDeployment',
    'DeleteWorkerDeploymentVersion',
  ],
  'Add or remove a search attribute': ['AddSearchAttributes', 'RemoveSearchAttributes'],
  'Delete the namespace': ['DeleteNamespace'],
  'Register, update or deprecate a namespace, add or remove a cluster': [
    'RegisterNamespace',
    'UpdateNamespace',
    'DeprecateNamespace',
    'AddOrUpdateRemoteCluster',
    'RemoveRemoteCluster',
  ],
};

/** They read, and change nothing. */
const READ =
  /^(Describe|List|Count|Scan|Get)|^Poll(WorkflowExecutionUpdate|WorkflowExecutionTimeSkipping|ActivityExecution|NexusOperationExecution)$/;

/** Calls that the servers Sanaga runs on refuse in any case: they lack them still, or have dropped them. */
const REFUSED = [
  'CreateWorkerDeployment',
  'CreateWorkerDeploymentVersion',
  'CreateWorkflowRule',
  'DeleteActivityExecution',
  'DeleteNexusOperationExecution',
  'DeleteWorkflowRule',
  'FetchWorkerConfig',
  'PauseActivityExecution',
  'PauseWorkflowExecution',
  'RecordWorkerHeartbeat',
  'RequestCancelActivityExecution',
  'RequestCancelNexusOperationExecution',
  'ResetActivityExecution',
  'SetCurrentDeployment',
  'StartActivityExecution',
  'StartNexusOperationExecution',
  'TerminateActivityExecution',
  'TerminateNexusOperationExecution',
  'TriggerWorkflowRule',
  'UnpauseActivityExecution',
  'UnpauseWorkflowExecution',
  'UpdateActivityExecutionOptions',
  'UpdateWorkerBuildIdCompatibility',
  'UpdateWorkerConfig',
  'UpdateWorkerDeploymentVersionComputeConfig',
  'UpdateWorkerVersioningRules',
  'ValidateWorkerDeploymentVersionComputeConfig',
];

/** A service as it is when it runs: its types know it as a class. */
const callsOf = (service: unknown) => Object.keys((service as { readonly methods: object }).methods);
const CALLS = [...callsOf(workflowservice.v1.WorkflowService), ...callsOf(operatorservice.v1.OperatorService)];

describe('every call of Temporal’s API', () => {
  const named = [...Object.values(ROWS).flat(), ...REFUSED];

  it('only reads, is refused, or has a row in the operators’ guide', () => {
    expect(CALLS.filter((call) => !READ.test(call) && !named.includes(call))).toEqual([]);
  });

  it('is accounted for once', () => {
    const twice = named.filter((call, index) => named.indexOf(call) !== index || READ.test(call));
    expect({ twice, unknown: named.filter((call) => !CALLS.includes(call)) }).toEqual({
      twice: [],
      unknown: [],
    });
  });

  it('has its row', () => {
    const guide = readFileSync('docs/operators.md', 'utf8');
    expect(Object.keys(ROWS).filter((row) => !guide.includes(`\n| ${row}`))).toEqual([]);
  });
});

const payout = { amount: 900, phone: '670000800' };

describe('Temporal’s server', () => {
  let world: PaymentWorld;
  beforeAll(async () => {
    world = await PaymentWorld.start({ terms: { ambiguousGraceMs: 3_000, providerTimeoutMs: 1_000 } });
  });
  afterAll(() => world.stop());

  /** A call by its name. */
  function call(name: string, request: object): Promise<unknown> {
    const method = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    const asked = { namespace: 'default', ...request };
    return world.client.withDeadline(
      Date.now() + 5_000,
      () =>
        (world.client.workflowService as unknown as Record<string, (asked: object) => Promise<unknown>>)[method]?.(
          asked,
        ) ?? Promise.reject(new Error(`there is no ${name}`)),
    );
  }

  it.each(REFUSED)('refuses %s', async (name) => {
    const { code } = await call(name, {}).then(
      () => ({ code: grpc.OK }),
      (error: { readonly code: number }) => error,
    );
    expect([grpc.UNIMPLEMENTED, grpc.PERMISSION_DENIED]).toContain(code);
  });

  /** Begins a payout and has it settled once it was sent. @returns how often it was */
  async function comesToItsEnd(): Promise<number> {
    const { id } = (await world.post('/v1/payouts', payout)).body;
    await world.until(id, ({ transId }) => transId !== undefined);
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    return world.transactionsOf(id).length;
  }

  it.each(['PollWorkflowTaskQueue', 'PollActivityTaskQueue'])(
    'gives up what a strange program has taken by %s, and it is sent once',
    async (name) => {
      const poll = { taskQueue: { name: 'payments' }, identity: 'nobody' };
      const taken = Promise.all(Array.from({ length: 30 }, () => call(name, poll).catch(() => undefined)));
      expect(await comesToItsEnd()).toBe(1);
      await taken;
    },
  );

  it('has payments go on when a sticky queue is reset, a worker shut down by API, and a Nexus endpoint made of their queue', async () => {
    const { id } = (await world.post('/v1/payouts', payout)).body;
    await call('ResetStickyTaskQueue', { execution: { workflowId: id } });
    await call('ShutdownWorker', { stickyTaskQueue: 'payments', identity: 'nobody', reason: 'tried' }).catch(
      () => undefined,
    );
    const target = { worker: { namespace: 'default', taskQueue: 'payments' } };
    const { endpoint } = await world.env.connection.operatorService.createNexusEndpoint({
      spec: { name: 'of-payments', target },
    });
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    expect(await comesToItsEnd()).toBe(1);
    const { id: made, version } = endpoint ?? {};
    await world.env.connection.operatorService.deleteNexusEndpoint({ id: made, version } as never);
  });
});
