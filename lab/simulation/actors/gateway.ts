import type { Entry } from '../../../sandbox/entry.js';
import type { Ledger } from '../../../sandbox/ledger.js';
import type { PaymentRecord } from '../payment-record.js';
import { diceOf } from '../plan/dice.js';
import { HOUR, MINUTE, SECOND } from '../plan/durations.js';
import type { Cast } from './cast.js';

/** Of a thousand payments that are sent to a phone, how many the provider's own gateway sends on twice. */
const DOUBLED = 12;

/** The provider's gateway: at times it repeats a request by itself, so that a payment has a transaction that nobody asked for. */
export class Gateway {
  /** The transactions that it has made, by their ids. */
  readonly #strays = new Set<string>();

  constructor(
    private readonly cast: Cast,
    private readonly ledger: Ledger,
  ) {}

  isStray(transId: string): boolean {
    return this.#strays.has(transId);
  }

  /** Plans whether a payment's request is repeated, when it has been taken. */
  begin(record: PaymentRecord, arrival: number): void {
    const { id, way } = record.planned;
    const dice = diceOf(this.cast.seed, 'gateway', id);
    if (way === 'link' || record.planned.isSilent || !dice.chance('doubled', DOUBLED / 1_000)) return;
    const after = dice.pick('after', [
      [2, 2 * SECOND],
      [2, dice.between('minutes', 1, 59) * MINUTE],
      [1, dice.between('hours', 1, 30) * HOUR],
    ]);
    this.cast.timeline.exactly(arrival + after, () => {
      const [entry] = this.ledger.ofUser(id);
      if (entry === undefined || entry.method === 'link') return;
      const status = dice.chance('paid', 0.7) ? 'SUCCESSFUL' : 'FAILED';
      const outcome = { kind: 'settles', status, after: dice.between('settled', 1, 90) * SECOND } as const;
      this.#strays.add(this.ledger.openPending({ ...draftOf(entry), method: entry.method }, outcome).transId);
      this.cast.tally.add('provider:doubled');
    });
  }
}

function draftOf(entry: Entry) {
  const { service, serviceName, amount, medium, externalId, userId, webhook } = entry;
  return { service, serviceName, amount, medium, externalId, userId, webhook };
}
