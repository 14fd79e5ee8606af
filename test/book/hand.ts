import type { Book } from '../../src/book/book.js';
import { fence, type LimitsNow } from '../../src/book/fence.js';
import { newNumber } from '../../src/book/rows.js';
import { keepOutcome, keepUnsent } from '../../src/book/sends.js';
import { type Done, type Turn, takeTurn } from '../../src/book/turn.js';
import type { InitiationOutcome } from '../../src/payments/words/outcome.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import type { ProviderStatus, Transaction } from '../../src/payments/words/transaction.js';

/** The provider, as far as these suites need it: it takes requests, and lists what it took. */
export class World {
  now = Date.UTC(2026, 10, 28, 9);
  readonly taken = new Map<PaymentId, Transaction[]>();
  status: ProviderStatus = 'PENDING';
  /** Those of single transactions. */
  readonly statuses = new Map<TransId, ProviderStatus>();

  take(id: PaymentId, amount: number): TransId {
    const transactions = this.taken.get(id) ?? [];
    const transId = `T${transactions.length + 1}-${id}` as TransId;
    const transaction = { transId, status: this.status, amount, externalId: id, userId: id } as Transaction;
    this.taken.set(id, [...transactions, transaction]);
    return transId;
  }

  list(id: PaymentId): readonly Transaction[] {
    return (this.taken.get(id) ?? []).map((one) => ({
      ...one,
      status: this.statuses.get(one.transId) ?? this.status,
    }));
  }

  requests(id: PaymentId): number {
    return this.taken.get(id)?.length ?? 0;
  }
}

/** One run of a payment's workflow, with its activities. Whoever drives it says how far it gets. */
export class Hand {
  turn: Turn | undefined;
  done: Done | undefined;
  readonly number = newNumber();
  #begins = true;

  constructor(
    readonly book: Book,
    readonly world: World,
    readonly id: PaymentId,
  ) {}

  async takeTurn(): Promise<Turn> {
    const taking = { done: this.done, told: this.turn, ...(this.#begins && { begins: true as const }) };
    const turn = await takeTurn(this.book, this.id, taking, this.world.now);
    if (turn === undefined) throw new Error(`there is no payment ${this.id}`);
    this.turn = turn;
    this.done = undefined;
    this.#begins = false;
    return turn;
  }

  get attempt() {
    const { token = -1, attempt = -1 } = this.turn ?? {};
    return { id: this.id, token, attempt, hand: this.number };
  }

  fence(limits: LimitsNow = {}) {
    return fence(this.book, this.attempt, limits, this.world.now);
  }

  /** Does what the last turn has asked for, and remembers the answer for the next. */
  async perform(): Promise<void> {
    const { todo, token = -1 } = this.turn ?? {};
    const at = this.world.now;
    switch (todo?.kind) {
      case 'send':
        this.done = await this.#send(token);
        return;
      case 'lookUp':
        this.done = { token, kind: 'listed', answer: { kind: 'listed', transactions: this.world.list(this.id) }, at };
        return;
      case 'askStatus': {
        const transaction = this.world.list(this.id).find(({ transId }) => transId === todo.transId);
        const answer =
          transaction === undefined
            ? ({ kind: 'unknown', message: 'unknown', statusCode: 404 } as const)
            : ({ kind: 'found', transaction } as const);
        this.done = { token, kind: 'status', answer, at };
        return;
      }
      default:
        return;
    }
  }

  async #send(token: number): Promise<Done> {
    const shown = this.world.list(this.id);
    if (shown.length > 0) {
      await this.keepUnsent({ kind: 'ambiguous', reason: 'the list shows it', shown });
      return { token, kind: 'sent' };
    }
    const fenced = await this.fence();
    if (fenced.kind === 'fenced') await this.post();
    else {
      const reason = 'why' in fenced ? fenced.why : fenced.kind;
      if (fenced.kind === 'perhapsSent') await this.keepUnsent({ kind: 'ambiguous', reason });
      else await this.keepUnsent({ kind: 'notSent', reason, ...(fenced.kind === 'uncertain' && { isUnread: true }) });
    }
    return { token, kind: 'sent' };
  }

  keepUnsent(outcome: InitiationOutcome): Promise<void> {
    return keepUnsent(this.book, this.attempt, outcome, this.world.now);
  }

  /** The request leaves, is taken, and its outcome is kept. */
  async post(amount = 5_000): Promise<void> {
    const transId = this.world.take(this.id, amount);
    await keepOutcome(this.book, this.attempt, { kind: 'accepted', transId });
  }

  /** Goes on until the payment waits, or has ended. */
  async run(): Promise<Turn> {
    for (let steps = 0; steps < 50; steps++) {
      const { todo } = await this.takeTurn();
      if (todo.kind === 'wait' || todo.kind === 'end') return this.turn as Turn;
      await this.perform();
    }
    throw new Error(`${this.id} comes to no end`);
  }
}
