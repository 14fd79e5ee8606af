import type { Book } from '../../src/book/book.js';
import { fence, LEAVES_WITHIN_MS } from '../../src/book/fence.js';
import { newNumber } from '../../src/book/rows.js';
import { type Attempt, keepOutcome, keepUnsent } from '../../src/book/sends.js';
import { type Done, type Turn, takeTurn } from '../../src/book/turn.js';
import type { InitiationOutcome } from '../../src/payments/words/outcome.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import type { Chances, WalkingProvider } from './walking-provider.js';

/** XAF that a merchant's payouts of a day may come to: less than a walk orders. */
export const MAX_PER_DAY = 60_000;

/** What is around a run. */
export interface Around extends Chances {
  readonly book: Book;
  readonly provider: WalkingProvider;
  readonly runs: WalkingRun[];
}

/** What a run does next. Between any two of these, it may be lost or frozen, and anything may happen. */
type Stage = 'turn' | 'ask' | 'look' | 'fence' | 'send' | 'keep';

/** A run of a payment's workflow, with its activities: as `Hand`, in smaller steps, and without luck. */
export class WalkingRun {
  isOver = false;
  #stage: Stage = 'turn';
  #begins = true;
  #turn: Turn | undefined;
  #done: Done | undefined;
  #attempt: Attempt;
  #fencedAt = 0;
  #outcome: InitiationOutcome | undefined;

  constructor(
    private readonly walk: Around,
    readonly id: PaymentId,
  ) {
    this.#attempt = { id, token: -1, attempt: -1, hand: newNumber() };
  }

  /** Goes on until it waits, for some time at most. */
  async goOn(): Promise<void> {
    for (let steps = 0; steps < 8 && !this.isOver; steps++) {
      await this.step();
      if (this.#stage === 'turn' && this.#turn?.todo.kind === 'wait' && this.#done === undefined) return;
    }
  }

  async step(): Promise<void> {
    switch (this.#stage) {
      case 'turn':
        return await this.#takeTurn();
      case 'ask':
        return this.#ask();
      case 'look':
        return await this.#look();
      case 'fence':
        return await this.#fence();
      case 'send':
        return this.#send();
      case 'keep':
        return await this.#keep();
    }
  }

  async #takeTurn(): Promise<void> {
    const { walk, id } = this;
    const taking = { done: this.#done, told: this.#turn, ...(this.#begins && { begins: true as const }) };
    const turn = await takeTurn(walk.book, id, taking, walk.now);
    // The answer may be lost: it is taken again.
    if (walk.chance(0.05)) return;
    if (turn === undefined) {
      this.isOver = true;
      return;
    }
    const { todo, token = -1, attempt, version, after } = turn;
    walk.say(`${id} takes turn ${version}: ${after.phase.kind}, ${todo.kind}`);
    [this.#turn, this.#done, this.#begins] = [turn, undefined, false];
    if (todo.kind === 'end') this.isOver = true;
    else if (todo.kind === 'send') {
      this.#attempt = { ...this.#attempt, token, attempt };
      this.#stage = 'look';
    } else if (todo.kind !== 'wait') this.#stage = 'ask';
  }

  #ask(): void {
    const { todo, token = -1 } = this.#turn ?? {};
    const { id, walk } = this;
    const at = walk.now;
    const isSilent = walk.chance(0.15);
    const silence = { kind: 'unavailable', reason: 'no answer' } as const;
    this.#stage = 'turn';
    if (todo?.kind === 'lookUp') {
      const answer = { kind: 'listed', transactions: walk.provider.list(id) } as const;
      this.#done = { token, kind: 'listed', answer: isSilent ? silence : answer, at };
    } else if (todo?.kind === 'askStatus') {
      const transaction = walk.provider.find(id, todo.transId);
      const answer = transaction
        ? ({ kind: 'found', transaction } as const)
        : ({ kind: 'unknown', message: 'no such transaction', statusCode: 404 } as const);
      this.#done = { token, kind: 'status', answer: isSilent ? silence : answer, at };
    } else throw new Error(`nobody answers ${todo?.kind}`);
  }

  async #look(): Promise<void> {
    const { walk, id } = this;
    if (walk.chance(0.08)) this.#double();
    if (walk.chance(0.1)) return await this.#unsent({ kind: 'notSent', isUnread: true, reason: 'no list' });
    const shown = walk.provider.list(id);
    if (shown.length > 0) return await this.#unsent({ kind: 'ambiguous', reason: 'the list shows it', shown });
    this.#stage = 'fence';
  }

  /** Temporal hands the attempt to another worker, too: it isn't known to, but nothing rests on that. */
  #double(): void {
    const twin = new WalkingRun(this.walk, this.id);
    twin.#begins = false;
    twin.#stage = 'look';
    twin.#turn = this.#turn;
    twin.#attempt = { ...this.#attempt, hand: twin.#attempt.hand };
    this.walk.runs.push(twin);
  }

  async #fence(): Promise<void> {
    const { walk, id } = this;
    const fenced = await fence(walk.book, this.#attempt, { maxPerDay: MAX_PER_DAY }, walk.now);
    walk.say(`${id} fences attempt ${this.#attempt.attempt}: ${fenced.kind}`);
    if (walk.chance(0.05)) return await this.#unsent({ kind: 'notSent', reason: 'the book is away' });
    switch (fenced.kind) {
      case 'fenced':
        this.#fencedAt = walk.now;
        this.#stage = 'send';
        return;
      case 'stale':
        return this.#sent();
      case 'withheld':
        return await this.#unsent({ kind: 'withheld', failureCode: 'not_refundable', reason: fenced.why });
      case 'perhapsSent':
        return await this.#unsent({ kind: 'ambiguous', reason: fenced.why });
      case 'uncertain':
        return await this.#unsent({ kind: 'notSent', isUnread: true, reason: fenced.why });
      case 'doubtful':
        return await this.#unsent({ kind: 'notSent', reason: fenced.why });
    }
  }

  #send(): void {
    const { walk, id } = this;
    const isLate = walk.now > this.#fencedAt + LEAVES_WITHIN_MS;
    this.#outcome = isLate
      ? { kind: 'notSent', reason: 'it stood still' }
      : walk.provider.request(id, this.#turn?.after.order.amount ?? 0);
    walk.say(`${id} is sent: ${this.#outcome.kind}`);
    this.#stage = 'keep';
  }

  async #keep(): Promise<void> {
    const { walk } = this;
    if (this.#outcome !== undefined && walk.chance(0.9)) await keepOutcome(walk.book, this.#attempt, this.#outcome);
    this.#sent();
  }

  async #unsent(outcome: InitiationOutcome): Promise<void> {
    const { walk } = this;
    if (walk.chance(0.9)) await keepUnsent(walk.book, this.#attempt, outcome, walk.now);
    this.#sent();
  }

  #sent(): void {
    this.#done = { token: this.#attempt.token, kind: 'sent' };
    this.#stage = 'turn';
  }
}
