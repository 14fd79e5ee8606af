import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultRequest } from '../../../sandbox/faults/fault-rule.js';
import type { MerchantEndpoint } from '../actors/merchant-endpoint.js';
import type { Crash, Trouble, TroublePlan } from '../plan/plan-trouble.js';
import type { Tally } from '../tally.js';
import type { Timeline } from './timeline.js';
import type { World } from './world.js';

/** Requests that move money. */
const MONEY = /^\/(direct-pay|payout)$/;

/** Brings about what was planned to go wrong with the servers themselves. */
export class Troublemaker {
  readonly #crashes: ReadonlyMap<number, Crash>;
  readonly #troubles: readonly Trouble[];
  #moneyRequests = 0;
  #restarting: Promise<void> = Promise.resolve();
  #world: World | undefined;

  constructor(
    plan: TroublePlan,
    private readonly crashTally: Tally,
    private readonly faultTally: Tally,
    private readonly merchant: MerchantEndpoint,
  ) {
    this.#crashes = new Map(plan.crashes.map((crash) => [crash.request, crash]));
    this.#troubles = plan.troubles;
  }

  /** Plans every trouble from now on. */
  begin(world: World, timeline: Timeline): void {
    this.#world = world;
    const start = world.clock.now();
    for (const trouble of this.#troubles) {
      timeline.at(start + trouble.at, () => this.#make(trouble, world, timeline));
    }
  }

  /** Resolves when the worker that was ended last has been followed by another. */
  async settled(): Promise<void> {
    await this.#restarting;
  }

  /** Sees every request to the provider before the provider does; `false` when it goes no further. */
  readonly onProviderRequest = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!MONEY.test(request.url ?? '')) return true;
    const crash = this.#crashes.get(++this.#moneyRequests);
    if (crash === undefined || this.#world === undefined) return true;
    void this.#kill(this.#world, `workerKilled:${crash.moment}`);
    if (crash.moment === 'afterCommit') return true;
    response.destroy();
    return false;
  };

  async #make(trouble: Trouble, world: World, timeline: Timeline): Promise<void> {
    const { kind, forMs } = trouble;
    const strike = (fault: FaultRequest) => {
      this.faultTally.add(kind);
      world.sandbox.faults.add({ ...fault, forMs });
    };
    switch (kind) {
      case 'providerFails':
        return strike({ fault: 'errorBeforeCommit', status: 503 });
      case 'providerHangs':
        return strike({ fault: 'timeoutBeforeCommit' });
      case 'credentialsRevoked':
        return strike({ fault: 'wrongCredentials' });
      case 'providerAway':
        this.faultTally.add(kind);
        await world.provider.leave();
        return timeline.at(world.clock.now() + forMs, () => world.provider.comeBack());
      case 'merchantAway':
        this.faultTally.add(kind);
        this.merchant.away = true;
        return timeline.at(world.clock.now() + forMs, () => {
          this.merchant.away = false;
        });
      case 'workerRestarted':
        this.crashTally.add(kind);
        return await this.#follow(world, async () => {
          await world.worker.stop();
          return true;
        });
      case 'workerKilled':
        return await this.#kill(world, kind);
      case 'apiCut':
        this.crashTally.add(kind);
        return world.api.cut();
      case 'providerCut':
        this.crashTally.add(kind);
        return world.provider.cut();
    }
  }

  /** The signal goes out before this returns; resolves when another worker has taken over. */
  #kill(world: World, kind: string): Promise<void> {
    const killing = world.worker.kill();
    return this.#follow(world, async () => {
      const isDead = await killing;
      if (isDead) this.crashTally.add(kind);
      return isDead;
    });
  }

  #follow(world: World, end: () => Promise<boolean>): Promise<void> {
    this.#restarting = this.#restarting.then(async () => {
      if (await end()) await world.worker.start();
    });
    return this.#restarting;
  }
}
