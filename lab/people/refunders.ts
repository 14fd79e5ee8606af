import type { PlannedPayment } from '../plan/planned-payment.js';
import type { PeopleContext } from './context.js';
import { askForPayment } from './merchant.js';
import type { ReceivedNotification } from './merchant-endpoint.js';
import type { ObservedPayment } from './observed-payment.js';

/** The clerks who refund a merchant's collections, once it is notified that they were paid. */
export class Refunders {
  readonly #taken = new Set<string>();

  /**
   * @param plan plans the refunds of a collection; their arrivals are ms from now
   * @param add adds a refund to the payments of the run, before it is asked for
   */
  constructor(
    private readonly context: PeopleContext,
    private readonly plan: (collection: PlannedPayment) => readonly PlannedPayment[],
    private readonly add: (refund: PlannedPayment) => ObservedPayment,
  ) {}

  /** Has a collection refunded as planned, the first time that its merchant is notified that it was paid. */
  take({ planned }: ObservedPayment, { content: { type } }: ReceivedNotification): void {
    if (type !== 'payment.succeeded' || this.#taken.has(planned.id)) return;
    this.#taken.add(planned.id);
    const { context } = this;
    for (const one of this.plan(planned)) {
      const refund = this.add(one);
      context.actions.add('refunder: plans');
      context.timeline.at(context.now() + one.arrivesAt, () => askForPayment(refund, context));
    }
  }
}
