import type { InitiationOutcome } from '../../src/payments/words/outcome.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import type { ProviderStatus, Transaction } from '../../src/payments/words/transaction.js';
import { MINUTE } from '../support/orders.js';

/** What a walk gives to what walks in it. */
export interface Chances {
  /** ms since the epoch */
  readonly now: number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  say(text: string): void;
}

interface Taken {
  readonly transId: TransId;
  readonly amount: number;
  readonly takenAt: number;
  /** Its list shows it from then on. */
  readonly listedAt: number;
  status: ProviderStatus;
}

/** How far its list lags behind at most, in ms. */
const LAG_MS = MINUTE / 2;

/** The provider of a walk: it takes requests, answers or not, and lists what it took, some of it late. */
export class WalkingProvider {
  readonly #taken = new Map<PaymentId, Taken[]>();

  constructor(private readonly walk: Chances) {}

  all(id: PaymentId): readonly Taken[] {
    return this.#taken.get(id) ?? [];
  }

  payments(): readonly PaymentId[] {
    return [...this.#taken.keys()];
  }

  list(id: PaymentId): readonly Transaction[] {
    const shown = this.all(id).filter(({ listedAt }) => listedAt <= this.walk.now);
    return shown.map(({ transId, status, amount }) => ({ transId, status, amount, externalId: id, userId: id }));
  }

  find(id: PaymentId, transId: TransId): Transaction | undefined {
    const found = this.all(id).find((one) => one.transId === transId);
    return found && { transId, status: found.status, amount: found.amount, externalId: id, userId: id };
  }

  /** Transactions come to an end by and by. */
  age(): void {
    const open = [...this.#taken.values()].flat().filter(({ status }) => status === 'PENDING');
    for (const one of open) {
      if (this.walk.now < one.takenAt + 2 * MINUTE || !this.walk.chance(0.3)) continue;
      one.status = this.walk.chance(0.7) ? 'SUCCESSFUL' : 'FAILED';
    }
  }

  /** A request for money comes, or is lost on its way; and so with the answer. */
  request(id: PaymentId, amount: number): InitiationOutcome {
    const unanswered: InitiationOutcome = { kind: 'ambiguous', reason: 'no answer' };
    const throttled: InitiationOutcome = { kind: 'throttled', reason: 'too many requests' };
    const fates: readonly (() => InitiationOutcome)[] = [
      ...Array.from({ length: 12 }, () => () => ({ kind: 'accepted' as const, transId: this.#take(id, amount) })),
      ...Array.from({ length: 3 }, () => () => {
        this.#take(id, amount);
        return unanswered;
      }),
      () => unanswered,
      () => unanswered,
      () => throttled,
      () => {
        this.#take(id, amount);
        return throttled;
      },
      () => ({ kind: 'unauthorized', message: 'no', statusCode: 401 }),
      () => ({ kind: 'notSent', reason: 'connection refused' }),
      () => ({ kind: 'rejected', message: 'no', statusCode: 400 }),
    ];
    return this.walk.pick(fates)();
  }

  #take(id: PaymentId, amount: number): TransId {
    const { now } = this.walk;
    const taken = this.#taken.get(id) ?? [];
    const transId = `T${taken.length + 1}-${id}` as TransId;
    const listedAt = this.walk.chance(0.5) ? now : now + LAG_MS * this.walk.pick([0.2, 0.5, 1]);
    this.#taken.set(id, [...taken, { transId, amount, takenAt: now, listedAt, status: 'PENDING' }]);
    this.walk.say(`${id} is taken as ${transId}`);
    return transId;
  }
}
