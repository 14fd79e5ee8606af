import type { PlannedPayment } from '../plan/planned-payment.js';
import { type ObservedPayment, observedOf } from './observed-payment.js';

/** All payments of a run: those that are planned, and refunds as they are asked for. */
export class AllPayments {
  readonly records: ObservedPayment[];
  readonly #byId: Map<string, ObservedPayment>;

  constructor(planned: readonly PlannedPayment[]) {
    this.records = planned.map(observedOf);
    this.#byId = new Map(this.records.map((record) => [record.planned.id, record]));
  }

  /** Returns the payment of an id, if it is one of the run's. */
  of(id: string): ObservedPayment | undefined {
    return this.#byId.get(id);
  }

  add(planned: PlannedPayment): ObservedPayment {
    const record = observedOf(planned);
    this.records.push(record);
    this.#byId.set(planned.id, record);
    return record;
  }
}
