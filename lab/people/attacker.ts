import got, { RequestError } from 'got';
import { seededRandom } from '../plan/seeded-random.js';
import type { SimulationContext } from './context.js';
import type { ObservedPayment } from './observed-payment.js';

/** The API's time limit, in real ms. */
const LIMIT_MS = 10_000;

/** Somebody who knows the URL for the provider's notifications, and posts forged ones. */
export class Attacker {
  constructor(
    private readonly context: SimulationContext,
    private readonly webhookUrl: string,
    private readonly records: readonly ObservedPayment[],
  ) {}

  /** Plans `count` forged notifications between two times (ms since the epoch). */
  plan(count: number, from: number, to: number): void {
    for (let nth = 0; nth < count; nth++) {
      const random = seededRandom(this.context.seed, 'attack', nth);
      this.context.timeline.at(random.between('when', from, to), () => this.#attack(nth));
    }
  }

  async #attack(nth: number): Promise<void> {
    const { context, records } = this;
    const random = seededRandom(context.seed, 'attack', nth);
    const record = records[random.between('whom', 0, records.length - 1)];
    if (record === undefined) return;
    const [entry] = context.transactionsOf(record);
    const isKnown = random.chance('known', 0.8);
    const body = JSON.stringify({
      transId: entry !== undefined && random.chance('transId', 0.7) ? entry.transId : 'INVENTED',
      externalId: isKnown ? record.planned.id : `col_${'0'.repeat(32)}`,
      status: random.pick('status', [
        [3, 'SUCCESSFUL'],
        [2, 'FAILED'],
        [1, 'EXPIRED'],
      ]),
      amount: record.planned.body.amount,
      transType: 'Collection',
    });
    const times = random.chance('flood', 0.1) ? 20 : 1;
    context.actions.add(isKnown ? 'forged' : 'forgedUnknown', times);
    await Promise.all(Array.from({ length: times }, () => this.#post(body)));
  }

  async #post(body: string): Promise<void> {
    try {
      await got.post(this.webhookUrl, {
        body,
        headers: { 'content-type': 'application/json' },
        throwHttpErrors: false,
        retry: { limit: 0 },
        timeout: { request: LIMIT_MS },
      });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
    }
  }
}
