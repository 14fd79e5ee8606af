import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultRequest } from '../../sandbox/faults/fault-rule.js';
import type { Counts } from '../counts.js';
import type { Timeline } from '../people/context.js';
import type { MerchantEndpoint } from '../people/merchant-endpoint.js';
import type { Crash, ServerFault, ServerFaultPlan } from '../plan/server-faults.js';
import type { SimulatedWorld } from '../world/simulated-world.js';

/** Requests that move money. */
const MONEY = /^\/(direct-pay|payout)$/;

/** Injects the planned faults of servers and workers. */
export class FaultInjector {
  readonly #crashes: ReadonlyMap<number, Crash>;
  readonly #faults: readonly ServerFault[];
  #moneyRequests = 0;
  #restarting: Promise<void> = Promise.resolve();
  #world: SimulatedWorld | undefined;

  constructor(
    plan: ServerFaultPlan,
    private readonly crashCounts: Counts,
    private readonly faultCounts: Counts,
    private readonly merchant: MerchantEndpoint,
  ) {
    this.#crashes = new Map(plan.crashes.map((crash) => [crash.request, crash]));
    this.#faults = plan.faults;
  }

  /** Plans every fault from now on. */
  start(world: SimulatedWorld, timeline: Timeline): void {
    this.#world = world;
    const start = world.clock.now();
    for (const fault of this.#faults) {
      timeline.at(start + fault.at, () => this.#make(fault, world, timeline));
    }
  }

  /** Resolves when another worker has replaced the last one that was stopped or killed. */
  async settled(): Promise<void> {
    await this.#restarting;
  }

  /** Called with every request to the provider before the provider gets it; `false` stops the request. */
  readonly onProviderRequest = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!MONEY.test(request.url ?? '')) return true;
    const crash = this.#crashes.get(++this.#moneyRequests);
    if (crash === undefined || this.#world === undefined) return true;
    void this.#kill(this.#world, `workerKilled:${crash.moment}`);
    if (crash.moment === 'afterCommit') return true;
    response.destroy();
    return false;
  };

  async #make(fault: ServerFault, world: SimulatedWorld, timeline: Timeline): Promise<void> {
    const { kind, forMs } = fault;
    const strike = (rule: FaultRequest) => {
      this.faultCounts.add(kind);
      world.sandbox.faults.add({ ...rule, forMs });
    };
    switch (kind) {
      case 'providerFails':
        return strike({ fault: 'errorBeforeCommit', status: 503 });
      case 'providerHangs':
        return strike({ fault: 'timeoutBeforeCommit' });
      case 'credentialsRevoked':
        return strike({ fault: 'wrongCredentials' });
      case 'providerAway':
        this.faultCounts.add(kind);
        await world.provider.leave();
        return timeline.at(world.clock.now() + forMs, () => world.provider.comeBack());
      case 'merchantAway':
        this.faultCounts.add(kind);
        this.merchant.away = true;
        return timeline.at(world.clock.now() + forMs, () => {
          this.merchant.away = false;
        });
      case 'workerRestarted':
        this.crashCounts.add(kind);
        return await this.#follow(world, async () => {
          await world.worker.stop();
          return true;
        });
      case 'workerKilled':
        return await this.#kill(world, kind);
      case 'apiCut':
        this.crashCounts.add(kind);
        return world.api.cut();
      case 'providerCut':
        this.crashCounts.add(kind);
        return world.provider.cut();
      case 'bookCut':
        this.crashCounts.add(kind);
        return await world.book.cut();
      case 'bookKilled':
        this.crashCounts.add(kind);
        return await world.book.restart();
    }
  }

  /** Starts another worker in place of one that ended by itself, as an operator would. */
  readonly onWorkerFailure = (code: number | null): void => {
    const world = this.#world;
    this.crashCounts.add('workerFailed');
    process.stderr.write(`a worker ended by itself, with code ${code}\n`);
    this.#restarting = this.#restarting.then(() => world?.worker.replace());
  };

  /** Sends the signal before it returns, and resolves when another worker has taken over. */
  #kill(world: SimulatedWorld, kind: string): Promise<void> {
    const killing = world.worker.kill();
    return this.#follow(world, async () => {
      const isDead = await killing;
      if (isDead) this.crashCounts.add(kind);
      return isDead;
    });
  }

  #follow(world: SimulatedWorld, end: () => Promise<boolean>): Promise<void> {
    this.#restarting = this.#restarting.then(async () => {
      if (await end()) await world.worker.start();
    });
    return this.#restarting;
  }
}
