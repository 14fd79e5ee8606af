import type { Entry } from '../../sandbox/entry.js';
import type { Ledger } from '../../sandbox/ledger.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/payments/words/time.js';
import type { SimulationContext } from '../people/context.js';
import type { ObservedPayment } from '../people/observed-payment.js';
import { seededRandom } from '../plan/seeded-random.js';
import { entriesOf } from '../world/provider-books.js';

/** Number of payments, out of a thousand sent to a phone, that the provider's own gateway forwards twice. */
const DOUBLED = 12;

/**
 * The provider's gateway: at times it repeats a request by itself, and a payment gets a transaction that was not asked
 * for.
 */
export class Gateway {
  /** The ids of the transactions that it has made. */
  readonly #strays = new Set<string>();

  constructor(
    private readonly context: SimulationContext,
    private readonly ledger: Ledger,
  ) {}

  isStray(transId: string): boolean {
    return this.#strays.has(transId);
  }

  /** Plans whether a payment's request is repeated, when it has been taken. */
  plan(record: ObservedPayment, arrival: number): void {
    const { id, way } = record.planned;
    const random = seededRandom(this.context.seed, 'gateway', id);
    if (way === 'link' || record.planned.isSilent || !random.chance('doubled', DOUBLED / 1_000)) return;
    const after = random.pick('after', [
      [2, 2 * SECOND_MS],
      [2, random.between('minutes', 1, 59) * MINUTE_MS],
      [1, random.between('hours', 1, 30) * HOUR_MS],
    ]);
    this.context.timeline.exactly(arrival + after, () => {
      const [entry] = entriesOf(this.ledger, id);
      if (entry === undefined || entry.method === 'link') return;
      const status = random.chance('paid', 0.7) ? 'SUCCESSFUL' : 'FAILED';
      const outcome = {
        kind: 'settles',
        status,
        after: random.between('settled', 1, 90) * SECOND_MS,
      } as const;
      this.#strays.add(this.ledger.openPending({ ...draftOf(entry), method: entry.method }, outcome).transId);
      this.context.actions.add('provider:doubled');
    });
  }
}

function draftOf(entry: Entry) {
  const { service, serviceName, amount, medium, externalId, userId, webhook } = entry;
  return { service, serviceName, amount, medium, externalId, userId, webhook };
}
