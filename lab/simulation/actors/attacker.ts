import got, { RequestError } from 'got';
import type { PaymentRecord } from '../payment-record.js';
import { diceOf } from '../plan/dice.js';
import type { Cast } from './cast.js';

/** Real ms that the API may take. */
const LIMIT_MS = 10_000;

/** Somebody who knows the address for the provider's notifications, and lies to it. */
export class Attacker {
  constructor(
    private readonly cast: Cast,
    private readonly webhookUrl: string,
    private readonly records: readonly PaymentRecord[],
  ) {}

  /** Plans as many forged notifications as are wanted between two times (ms since the epoch). */
  begin(count: number, from: number, to: number): void {
    for (let nth = 0; nth < count; nth++) {
      const dice = diceOf(this.cast.seed, 'attack', nth);
      this.cast.timeline.at(dice.between('when', from, to), () => this.#attack(nth));
    }
  }

  async #attack(nth: number): Promise<void> {
    const { cast, records } = this;
    const dice = diceOf(cast.seed, 'attack', nth);
    const record = records[dice.between('whom', 0, records.length - 1)];
    if (record === undefined) return;
    const [entry] = cast.transactionsOf(record);
    const isKnown = dice.chance('known', 0.8);
    const body = JSON.stringify({
      transId: entry !== undefined && dice.chance('transId', 0.7) ? entry.transId : 'INVENTED',
      externalId: isKnown ? record.planned.id : `col_${'0'.repeat(32)}`,
      status: dice.pick('status', [
        [3, 'SUCCESSFUL'],
        [2, 'FAILED'],
        [1, 'EXPIRED'],
      ]),
      amount: record.planned.body.amount,
      transType: 'Collection',
    });
    const times = dice.chance('flood', 0.1) ? 20 : 1;
    cast.tally.add(isKnown ? 'forged' : 'forgedUnknown', times);
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
