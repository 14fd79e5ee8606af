import type { PaymentEvent } from '../../src/payments/machine/events.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import { encodePayment } from './encoding.js';
import { REPORTED_FOR_MS, type Violation } from './invariants.js';
import { Model } from './model.js';
import type { DecideMove, Move } from './move.js';
import { reachable } from './provider-moves.js';
import type { Setting } from './setting.js';
import { type Machine, type OwnTransaction, type Situation, transactionOf } from './situation.js';
import { Visited } from './visited.js';

/** More steps than any silent future takes: a day of unanswered questions takes some forty. */
const MAX_STEPS = 300;

/**
 * Liveness: whether a payment can end without any luck. From a state, its silent future is explored: the provider never
 * answers again, and no message comes. It must end, or reach a review that a decision can end: an honest answer of the
 * provider must be enough, and without one, force.
 */
export class Liveness {
  readonly #machine: Machine;
  readonly #setting: Setting;
  readonly #model: Model;
  readonly #good = new Visited();
  readonly #decidable = new Visited();

  constructor(machine: Machine, setting: Setting) {
    this.#machine = machine;
    this.#setting = setting;
    this.#model = new Model(machine, setting);
  }

  violationsFrom(situation: Situation): Violation[] {
    return [...this.#silence(situation, 'ambiguous'), ...this.#credentials(situation)];
  }

  /** A payment must not wait for valid credentials for ever, either. */
  #credentials(situation: Situation): Violation[] {
    const { kind } = situation.payment.phase;
    return kind === 'held' || kind === 'sending' || kind === 'waiting' ? this.#silence(situation, 'unauthorized') : [];
  }

  /** Uses the machine alone: when nobody answers, what happens depends on the payment only. */
  #silence(from: Situation, post: 'ambiguous' | 'unauthorized'): Violation[] {
    const { terms } = this.#setting;
    let { payment, todo, now } = from;
    let open = from.book.open.length;
    const passed = new Set<string>();
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      if (todo.kind === 'end') return open === 0 ? [] : [stuck('it ends, and a request waits for its reply')];
      const quietUntil = payment.quietUntil ?? 0;
      const isReview = payment.phase.kind === 'review' && todo.kind === 'wait';
      if (isReview && todo.kind === 'wait' && quietUntil < (todo.until ?? Number.POSITIVE_INFINITY)) {
        now = Math.max(now, quietUntil);
        return this.#undecidable({
          ...from,
          payment,
          todo,
          now,
          provider: { ...from.provider, silent: 'all' },
        });
      }
      if (todo.kind === 'wait' && todo.until === undefined) {
        return [stuck(`it waits for ever as ${payment.phase.kind}`)];
      }
      const state = `${post}${open}${encodePayment(payment, now)}`;
      if (passed.has(state)) return [stuck(`it goes round in circles as ${payment.phase.kind}`)];
      passed.add(state);
      if (!this.#good.add(state)) return [];
      if (todo.kind === 'askStatus' || todo.kind === 'lookUp' || todo.kind === 'expire') now += terms.providerTimeoutMs;
      else if (todo.kind === 'wait') now = Math.max(now, todo.until ?? now);
      const step = this.#machine.step(payment, silentEvent(todo, post), now);
      open -= step.replies.length;
      ({ payment, todo } = step);
    }
    return [stuck(`after ${MAX_STEPS} silent steps it is still ${payment.phase.kind}`)];
  }

  #undecidable(situation: Situation): Violation[] {
    const truth = situation.provider.transactions.map(({ status, isGiven }) => `${status}${isGiven}`).join();
    if (!this.#decidable.add(`${truth}${encodePayment(situation.payment, situation.now)}`)) return [];
    const review = situation.payment.reviews;
    const by = 'ops';
    const fail: DecideMove = { kind: 'decide', action: 'fail', review, force: true, by };
    const matches = situation.provider.transactions.map(
      ({ transId }): DecideMove => ({ kind: 'decide', action: 'match', transId, review, force: true, by }),
    );
    // What the provider has shown as SUCCESSFUL can't be failed; but it can be matched on that word.
    if (![fail, ...matches].some((decision) => this.#isDecided(situation, decision)))
      return [stuck('no forced `fail` or `match` ends the review while nobody answers')];
    const answered: Situation = { ...situation, provider: { ...situation.provider, silent: 'no' } };
    const decisions = [fail, { ...fail, action: 'resend' as const }, ...matches];
    const refused = this.#refusedOnTheTruth(answered, fail, matches);
    if (refused !== undefined) return [refused];
    const isUnpaid = situation.provider.transactions.every(
      ({ status }) => status !== 'SUCCESSFUL' && status !== 'PENDING',
    );
    // What a notification calls paid may yet be confirmed, for a while.
    const isReported = situation.book.reportedPaid.length > 0;
    const later = { ...answered, now: answered.now + (isReported ? 2 * REPORTED_FOR_MS : 0) };
    if (this.#setting.kind === 'link' && isUnpaid && !this.#isDecided(later, fail)) {
      return [stuck('`fail` does not end a link that nobody has paid')];
    }
    return decisions.some((decision) => this.#isDecided(answered, decision))
      ? []
      : [stuck('no decision ends the review, though the provider answers honestly')];
  }

  /**
   * Finds an agreeing decision that is refused. The payment's view of its transactions may be out of date by the time
   * of a decision: by then, those that have not moved money have ended. A decision that agrees with that must be
   * accepted.
   */
  #refusedOnTheTruth(situation: Situation, fail: DecideMove, matches: readonly DecideMove[]): Violation | undefined {
    const { provider } = situation;
    const over = this.#setting.kind === 'link' ? 'EXPIRED' : 'FAILED';
    const transactions = provider.transactions.map(
      (one): OwnTransaction => (one.status === 'SUCCESSFUL' ? one : { ...one, status: over, before: one.status }),
    );
    const settled: Situation = { ...situation, provider: { ...provider, transactions } };
    const isPaid = transactions.some(({ status }) => status === 'SUCCESSFUL');
    // Beside what was paid once, and is taken back, nothing else is taken for the payment.
    const hasTurned = transactions.some((one) => one.hasTurned);
    const agreeing = isPaid
      ? matches.filter((_, index) => transactions[index]?.status === 'SUCCESSFUL')
      : [fail, ...matches.filter((_, index) => !hasTurned || transactions[index]?.hasTurned)];
    const refused = agreeing.find((decision) => !this.#isDecided(settled, decision));
    if (refused === undefined) return undefined;
    return stuck(
      `\`${refused.action}\` is refused, though every transaction that has moved no money has come to its end since`,
    );
  }

  #isDecided(before: Situation, decision: DecideMove): boolean {
    let situation = before;
    const requests = situation.book.open.length;
    situation = this.#model.apply(situation, decision).situation;
    // Where it takes two people, there is a second one.
    if (situation.payment.phase.kind === 'review' && this.#setting.terms.secondPersonAbove !== undefined) {
      const review = situation.payment.reviews;
      situation = this.#model.apply(situation, { ...decision, review, by: 'second' }).situation;
    }
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      if (situation.payment.phase.kind !== 'deciding') break;
      const move = before.provider.silent === 'all' ? silentMove(situation, 'ambiguous') : this.#honestMove(situation);
      if (move === undefined) return false;
      situation = this.#model.apply(situation, move).situation;
    }
    return (
      situation.payment.phase.kind !== 'review' &&
      situation.payment.phase.kind !== 'deciding' &&
      situation.book.open.length <= requests
    );
  }

  #honestMove(situation: Situation): Move | undefined {
    const { todo, provider, now } = situation;
    switch (todo.kind) {
      case 'askStatus': {
        const own = transactionOf(provider, todo.transId);
        const [status] = own === undefined ? [] : reachable(own, this.#setting, now);
        return status === undefined
          ? { kind: 'status', answer: { kind: 'unknown' } }
          : { kind: 'status', truth: status, answer: { kind: 'found', status, isBare: false } };
      }
      case 'lookUp':
        return this.#setting.refusesUnknown && !provider.transactions.some((one) => one.listedFrom <= now)
          ? { kind: 'list', answer: { kind: 'refused' } }
          : { kind: 'list', answer: { kind: 'listed', without: [], isBare: false } };
      case 'expire':
        return { kind: 'expire', truth: 'EXPIRED', answer: { kind: 'expired' } };
      default:
        return silentMove(situation, 'ambiguous');
    }
  }
}

/** Returns the next move when nobody says anything. */
function silentMove({ todo }: Situation, post: 'ambiguous' | 'unauthorized'): Move | undefined {
  const unavailable = { kind: 'unavailable' } as const;
  switch (todo.kind) {
    case 'send':
      return { kind: 'post', outcome: post, taken: 0, isLate: false, isWrong: false };
    case 'askStatus':
      return { kind: 'status', answer: unavailable };
    case 'lookUp':
      return { kind: 'list', answer: unavailable };
    case 'expire':
      return { kind: 'expire', answer: unavailable };
    case 'wait':
      return todo.until === undefined ? undefined : { kind: 'time', to: todo.until };
    default:
      return undefined;
  }
}

/** Returns the next event when nobody says anything. */
function silentEvent(todo: Todo, post: 'ambiguous' | 'unauthorized'): PaymentEvent {
  const answer = { kind: 'unavailable', reason: 'no answer' } as const;
  switch (todo.kind) {
    case 'send':
      return post === 'ambiguous'
        ? { kind: 'sent', outcome: { kind: 'ambiguous', reason: 'no answer' } }
        : { kind: 'sent', outcome: { kind: 'unauthorized', message: 'credentials', statusCode: 401 } };
    case 'askStatus':
      return { kind: 'status', transId: todo.transId, isClaim: todo.isClaim, answer };
    case 'lookUp':
      return { kind: 'listed', answer };
    case 'expire':
      return { kind: 'expired', transId: todo.transId, answer };
    default:
      return { kind: 'time' };
  }
}

function stuck(what: string): Violation {
  return { invariant: 'wayOut', what };
}
