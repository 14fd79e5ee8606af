import type { History } from '@temporalio/common/lib/proto-utils.js';
import { temporal } from '@temporalio/proto';
import { DefaultLogger } from '@temporalio/worker';
import { CLOCK, PaymentWorld, type WorldOptions } from '../support/payment-world.js';
import { billableActions, eventName } from './cloud-bill.js';

/** Costs of one payment, from its request until its workflow has ended. */
export interface PaymentCost {
  readonly events: number;
  /** Workflow tasks that the worker has completed. */
  readonly workflowTasks: number;
  /** Actions that Temporal Cloud would bill. */
  readonly actions: number;
  /** Bytes of the history on the wire, with processes' names of one length. */
  readonly historyBytes: number;
  /** Writes of the history service, each under its shard's lock. */
  readonly stateTransitions: number;
  /** Requests to the provider's API. */
  readonly providerCalls: number;
  /** Calls of the API to Temporal, repeated ones included. */
  readonly apiCalls: number;
  /** Calls of the worker to Temporal, without its polls: how many of these there are depends on how busy it is. */
  readonly workerCalls: number;
  /** Notifications sent to the merchant, repeated ones included. */
  readonly notifications: number;
}

/** Calls that a worker makes now and then, whatever becomes of payments. */
const HOUSEKEEPING = new Set(['DescribeNamespace', 'GetSystemInfo', 'RecordWorkerHeartbeat']);

/**
 * A {@link PaymentWorld} in which everything that a payment costs is counted. One payment may be under way at a time.
 */
export class CostMeter {
  private constructor(
    readonly world: PaymentWorld,
    private readonly metricsAddress: string,
    private readonly apiCalls: string[],
    private readonly providerCalls: string[],
  ) {}

  /** @param metricsAddress where the runtime of the test file shows its metrics */
  static async start(metricsAddress: string, options: WorldOptions): Promise<CostMeter> {
    const apiCalls: string[] = [];
    const providerCalls: string[] = [];
    const world = await PaymentWorld.start({
      ...options,
      runtime: {
        logger: new DefaultLogger('ERROR'),
        telemetryOptions: { metrics: { prometheus: { bindAddress: metricsAddress } } },
      },
      onApiCall: (rpc) => apiCalls.push(rpc),
      onProviderRequest(path) {
        // The payer's page is the provider's, and no call of ours.
        if (!path.startsWith('/pay/')) providerCalls.push(path);
      },
    });
    return new CostMeter(world, metricsAddress, apiCalls, providerCalls);
  }

  /**
   * @param make makes a payment, sees it to its outcome, and resolves with its id
   * @param afterwards what still happens when its workflow has ended
   */
  async measure(
    make: (world: PaymentWorld) => Promise<string>,
    afterwards: (world: PaymentWorld, id: string) => Promise<void> = async () => undefined,
  ): Promise<PaymentCost> {
    const { world, apiCalls, providerCalls } = this;
    const callsBefore = await this.workerCalls();
    const notificationsBefore = world.notifications.length;
    apiCalls.length = 0;
    providerCalls.length = 0;

    const id = await make(world);
    await world.ended(id);
    await afterwards(world, id);

    const handle = world.client.workflow.getHandle(id);
    const history = withTimersFired(await handle.fetchHistory());
    const names = history.events?.map(({ eventType }) => eventName(eventType)) ?? [];
    const { raw } = await handle.describe();
    const queries = apiCalls.filter((rpc) => rpc === 'QueryWorkflow').length;
    return {
      events: names.length,
      workflowTasks: names.filter((name) => name === 'WORKFLOW_TASK_COMPLETED').length,
      actions: billableActions(history) + queries,
      historyBytes: bytesOf(history),
      stateTransitions: Number(raw.workflowExecutionInfo?.stateTransitionCount ?? 0),
      providerCalls: providerCalls.length,
      apiCalls: apiCalls.length,
      workerCalls: (await this.workerCalls()) - callsBefore,
      notifications: world.notifications.length - notificationsBefore,
    };
  }

  private async workerCalls(): Promise<number> {
    const requests = await readCounter(this.metricsAddress, 'temporal_request');
    return requests
      .filter(({ labels }) => !HOUSEKEEPING.has(labelOf(labels, 'operation')))
      .reduce((sum, { value }) => sum + value, 0);
  }
}

/**
 * The actions that a Temporal server has counted by its own meter since it started, those of its own workflows left
 * out. It shows them some seconds late.
 */
export async function meteredActions(metricsAddress: string): Promise<number> {
  const actions = await readCounter(metricsAddress, 'action');
  return actions
    .filter(({ labels }) => labelOf(labels, 'namespace') === 'default')
    .reduce((sum, { value }) => sum + value, 0);
}

/** The series of a counter. */
async function readCounter(address: string, name: string) {
  const lines = (await (await fetch(`http://${address}/metrics`)).text()).split('\n');
  return lines
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => {
      const end = line.lastIndexOf(' ');
      return { labels: line.slice(0, end), value: Number(line.slice(end + 1)) };
    });
}

const labelOf = (labels: string, name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(labels)?.[1] ?? '';

const { History: Encoder } = temporal.api.history.v1;
const { EVENT_TYPE_TIMER_FIRED } = temporal.api.enums.v1.EventType;

/**
 * A history as it would be had the timers of workflows fired: they follow the real time, and where the clock is set
 * ahead, a bell is rung that ends the wait, and the timer is cancelled.
 */
function withTimersFired({ events }: History): History {
  const fired: temporal.api.history.v1.IHistoryEvent[] = [];
  let bell: number | undefined;
  for (const event of events ?? []) {
    const { timerId = null, startedEventId = null } = event.timerCanceledEventAttributes ?? {};
    if (timerId !== null && bell !== undefined) {
      const { eventId = null, eventTime = null, taskId = null } = fired[bell] ?? {};
      const eventType = EVENT_TYPE_TIMER_FIRED;
      fired[bell] = { eventId, eventTime, taskId, eventType, timerFiredEventAttributes: { timerId, startedEventId } };
      bell = undefined;
    } else {
      if (event.workflowExecutionSignaledEventAttributes?.identity === CLOCK) bell = fired.length;
      fired.push(event);
    }
  }
  return { events: fired };
}

/** A process's name is its id and its host's: it says nothing about the payment. */
const IDENTITY = '12345@a-machine';

function bytesOf(history: History): number {
  const copy = Encoder.fromObject(Encoder.toObject(Encoder.create(history)));
  nameAlike(copy);
  return Encoder.encode(copy).finish().length;
}

function nameAlike(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'identity' && typeof member === 'string' && member !== '') {
      Object.assign(value, { identity: IDENTITY });
    } else nameAlike(member);
  }
}
