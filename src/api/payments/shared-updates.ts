import { randomUUID } from 'node:crypto';
import type { PaymentId } from '../../payments/payment-id.js';
import { tooManyRequests } from '../problem.js';

/**
 * Different updates that merchants may have in flight for one payment. Temporal takes ten for a workflow, and an
 * operator's decision must always find room among them.
 */
export const MAX_UPDATES = 4;

interface Shared {
  readonly updateId: string;
  /** Requests that wait for it. */
  waiting: number;
}

/**
 * The updates that this process has in flight on merchants' behalf. Requests for the same thing at the same time share
 * one update of the workflow, each with a wait of its own.
 */
export class SharedUpdates {
  readonly #inFlight = new Map<PaymentId, Map<string, Shared>>();

  /**
   * Sends an update, or joins the one of this name that is in flight for the payment.
   *
   * @param name what is asked for; requests of one name must mean the same
   * @param send sends an update with this id: Temporal takes it once, and answers everybody
   * @throws {ApiError} `too_many_requests` when the payment has {@link MAX_UPDATES} others in flight.
   */
  async send<T>(id: PaymentId, name: string, send: (updateId: string) => Promise<T>): Promise<T> {
    const updates = this.#inFlight.get(id) ?? new Map<string, Shared>();
    const joined = updates.get(name);
    if (joined === undefined && updates.size >= MAX_UPDATES) throw tooManyRequests();
    const update = joined ?? { updateId: `${name}.${randomUUID()}`, waiting: 0 };
    update.waiting++;
    updates.set(name, update);
    this.#inFlight.set(id, updates);
    const leave = () => {
      if (updates.get(name) === update) updates.delete(name);
      if (updates.size === 0) this.#inFlight.delete(id);
    };
    try {
      const answer = await send(update.updateId);
      // Who comes from now on asks for something newer than this answer.
      leave();
      return answer;
    } finally {
      update.waiting--;
      if (update.waiting === 0) leave();
    }
  }
}
