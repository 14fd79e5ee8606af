import type { PaymentEvent, RequestEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import { digestOf } from '../../src/payments/words/order-digest.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import { EMPTY_BOOK, given, record } from './book.js';
import { heldViolations } from './held-book.js';
import { questionViolations, sendViolations, type Violation, violationsOf } from './invariants.js';
import type { DecideMove, Move, PostMove } from './move.js';
import {
  type Answered,
  answerExpiry,
  answerList,
  answerPost,
  answerStatus,
  isRepeated,
  mayHaveLeft,
  withDoubled,
  withEarlier,
  withStatus,
} from './provider.js';
import { refundViolations } from './refund-count.js';
import { KEYS_OF, orderIn, type Setting, START } from './setting.js';
import { type Machine, type Provider, type Situation, withTransaction } from './situation.js';

/** The action of a run that has yet to begin. */
const NOTHING: Todo = { kind: 'wait', summary: '' };

/** The result of a move, with the rules that it has broken. */
export interface Transition {
  readonly situation: Situation;
  readonly violations: readonly Violation[];
}

/** Called with each event that the machine is fed, and the step that the machine takes. */
export type Listener = (event: PaymentEvent, now: number, step: Step) => void;

/** The model that is explored: a payment machine in a setting, with a provider, a worker and people around it. */
export class Model {
  readonly #machine: Machine;
  readonly #setting: Setting;
  readonly #listener: Listener | undefined;
  #violations: Violation[] = [];

  constructor(machine: Machine, setting: Setting, listener?: Listener) {
    this.#machine = machine;
    this.#setting = setting;
    this.#listener = listener;
  }

  /** The start of every story: a payment was ordered. */
  start(): Transition {
    return this.#transition(() => {
      const { terms, allowance, wasSentBefore } = this.#setting;
      const payment = this.#machine.openPayment(orderIn(this.#setting), terms, START);
      const untouched: Provider = {
        transactions: [],
        silent: 'no',
        asked: [],
        requests: 0,
        decisionsToSend: terms.ambiguousPolicy === 'resend' ? 2 : 1,
      };
      const provider = wasSentBefore ? withEarlier(untouched, this.#setting, START) : untouched;
      return this.#feed(
        { now: START, payment, todo: NOTHING, provider, book: EMPTY_BOOK, left: allowance },
        { kind: 'begin' },
      );
    });
  }

  /** The story, continued by one move. */
  apply(before: Situation, move: Move): Transition {
    return this.#transition(() => {
      if (move.troubles === undefined) return this.#apply(before, move);
      const left = { ...before.left, troubles: before.left.troubles - move.troubles };
      return this.#apply({ ...before, left }, move);
    });
  }

  #transition(make: () => Situation): Transition {
    this.#violations = [];
    const situation = make();
    return {
      situation,
      violations: [
        ...this.#violations,
        ...violationsOf(situation),
        ...heldViolations(situation),
        ...refundViolations(situation, this.#machine),
      ],
    };
  }

  #apply(before: Situation, move: Move): Situation {
    switch (move.kind) {
      case 'post':
        return this.#post(before, move);
      case 'status':
      case 'list':
      case 'expire':
        return this.#ask(before, move);
      case 'time': {
        const later = { ...before, now: move.to };
        const isDue = before.todo.kind === 'wait' && before.todo.until !== undefined && before.todo.until <= move.to;
        return isDue ? this.#feed(later, { kind: 'time' }) : later;
      }
      case 'notification':
        return this.#notification(before, move);
      case 'request': {
        const request = before.book.requests + 1;
        const left = move.request === 'expire' ? this.#mayHaveBeenSent(before, move) : {};
        return this.#request(before, { kind: move.request, request, ...left }, 'requests');
      }
      case 'approve': {
        const digest = digestIn(this.#setting, move.isOther);
        return this.#request(
          before,
          { kind: 'approve', request: before.book.requests + 1, by: move.by, keys: KEYS_OF[move.by], digest },
          'decisions',
        );
      }
      case 'rejectPayout': {
        const request = before.book.requests + 1;
        const rejected = { request, by: move.by, why: 'looked', ...this.#mayHaveBeenSent(before, move) };
        return this.#request(before, { kind: 'rejectPayout', ...rejected }, 'decisions');
      }
      case 'decide':
        return this.#request(before, decideEvent(move, before.book.requests + 1), 'decisions');
      case 'reject': {
        const rejection = { review: move.review, by: move.by, why: 'looked' };
        const request = before.book.requests + 1;
        return this.#request(before, { kind: 'reject', request, rejection }, 'decisions');
      }
      case 'lateReport': {
        const provider = withTransaction(before.provider, move.transId, { isDoubted: undefined });
        return this.#feed({ ...before, provider }, { kind: 'hint', transId: move.transId });
      }
      case 'gap':
        return this.#gap(before, move.isInFlight === true);
      case 'answersAgain':
        return { ...before, provider: { ...before.provider, silent: 'no' } };
    }
  }

  /** It is found that the book went back. */
  #gap(before: Situation, isInFlight: boolean): Situation {
    const { now, book, provider } = before;
    const isAfter = isInFlight || provider.transactions.some((one) => one.isGiven && !one.isEarlier);
    const known = { ...before, book: { ...book, gap: isAfter ? 'after' : 'before', isSearched: isAfter } } as const;
    const told = this.#feed(known, { kind: 'gap', at: now });
    return isInFlight ? told : this.#feed(told, { kind: 'time' });
  }

  #notification(before: Situation, move: Extract<Move, { kind: 'notification' }>): Situation {
    const { transId, status, truth, isDoubled } = move;
    const known = isDoubled ? withDoubled(before.provider, before.now) : before.provider;
    const about = transId ?? known.transactions[0]?.transId;
    const provider = truth === undefined ? before.provider : withStatus(known, about, truth, before.book.final);
    const event =
      transId === undefined
        ? ({ kind: 'hintWithoutTransaction', status } as const)
        : ({ kind: 'hint', transId, status } as const);
    const after = this.#feed({ ...before, provider }, event);
    return deducted(before, after, 'notifications', after.provider === before.provider);
  }

  #post(situation: Situation, move: PostMove): Situation {
    const isLate = this.#isLate(situation);
    const made = isLate ? withheld(move) : move;
    const leaves = !isLate && mayHaveLeft(made);
    const isDuplicate = made.outcome === 'rejected' && isRepeated(situation, this.#setting);
    if (!isDuplicate && (leaves || made.outcome === 'rejected' || made.outcome === 'throttled')) {
      this.#violations.push(...sendViolations(situation, leaves));
    }
    return this.#take(answerPost(situation, made, this.#setting));
  }

  /** Reports whether the activity is told not to send the request, which is one for money. */
  #isLate({ payment, now }: Situation): boolean {
    return this.#setting.kind !== 'link' && this.#machine.sentIf(payment, now) === 'late';
  }

  #ask(before: Situation, move: Extract<Move, { kind: 'status' | 'list' | 'expire' }>): Situation {
    const { todo } = before;
    const answered =
      move.kind === 'list'
        ? answerList(before, move, this.#setting)
        : move.kind === 'status' && todo.kind === 'askStatus'
          ? answerStatus(before, todo, move, this.#setting)
          : move.kind === 'expire' && todo.kind === 'expire'
            ? answerExpiry(before, todo.transId, move, this.#setting)
            : undefined;
    if (answered === undefined) return before;
    this.#violations.push(...questionViolations(before));
    return this.#take(answered);
  }

  #take({ situation, event }: Answered): Situation {
    return event === undefined ? this.#feed(situation, { kind: 'begin' }) : this.#feed(situation, event);
  }

  #request(before: Situation, event: RequestEvent, of: 'requests' | 'decisions'): Situation {
    const objection = this.#machine.objectionTo(before.payment, event, before.now);
    const after = this.#feed(before, event);
    if (objection !== undefined && after.payment !== before.payment && !isSame(before, after)) {
      this.#violate('decisions', 'what is refused beforehand is accepted afterwards');
    }
    return deducted(before, after, of, objection !== undefined);
  }

  /** Tells whether something of the payment may have left, by its fences; a book that has gone back can't tell. */
  #mayHaveBeenSent({ provider }: Situation, { isUnsure }: { readonly isUnsure?: true }) {
    return { mayHaveBeenSent: isUnsure === true || provider.requests > 0 || this.#setting.wasSentBefore === true };
  }

  #violate(invariant: Violation['invariant'], what: string): void {
    this.#violations.push({ invariant, what });
  }

  /** Feeds the machine one event, as the workflow does, and updates the book. */
  #feed(before: Situation, event: PaymentEvent): Situation {
    const { now } = before;
    let step: Step;
    try {
      step = this.#machine.step(before.payment, event, now);
    } catch (error) {
      this.#violate('asked', error instanceof Error ? error.message : String(error));
      return before;
    }
    this.#listener?.(event, now, step);
    const { book, decisionsToSend, violations } = record(before, event, step, now);
    this.#violations.push(...violations);
    const { payment, todo } = step;
    const provider =
      decisionsToSend === 0
        ? before.provider
        : // It takes the place of the policy's own.
          { ...before.provider, decisionsToSend: before.provider.requests + decisionsToSend };
    const situation: Situation = { now, payment, todo, provider, book, left: before.left };
    return { ...situation, provider: given(provider, situation) };
  }
}

/** A request whose time is over: what would have reached the provider is withheld instead. */
function withheld(move: PostMove): PostMove {
  const isSent = move.taken > 0 || move.outcome === 'rejected' || move.outcome === 'throttled';
  return isSent ? { ...move, outcome: 'withheld', taken: 0 } : { ...move, taken: 0 };
}

/** Returns the digest of the setting's payout, or of another that differs in its name alone. */
function digestIn(setting: Setting, isOther: true | undefined): string {
  const order = orderIn(setting);
  if (order.kind !== 'payout') return '';
  return digestOf(isOther ? { ...order, name: 'another' } : order);
}

function decideEvent({ action, transId, review, force, by }: DecideMove, request: number): RequestEvent {
  const decision = action === 'match' ? { action, transId: transId as TransId } : { action };
  return { kind: 'decide', request, resolution: { decision, review, by, why: 'looked', force } };
}

/** Deducts a message from the story's allowance, unless it had no effect: then the situation is the one before. */
function deducted(
  before: Situation,
  after: Situation,
  of: 'notifications' | 'requests' | 'decisions',
  mayBeNothing: boolean,
): Situation {
  if (mayBeNothing && isSame(before, after)) return before;
  return { ...after, left: { ...after.left, [of]: after.left[of] - 1 } };
}

function isSame({ payment, todo }: Situation, { payment: other, todo: otherTodo }: Situation): boolean {
  if (todo.kind !== otherTodo.kind) return false;
  return (
    payment.phase === other.phase &&
    payment.claims.open === other.claims.open &&
    payment.claims.isNamed === other.claims.isNamed &&
    payment.sends.mayBeDouble === other.sends.mayBeDouble &&
    payment.notified === other.notified &&
    payment.pendingRequests.length === other.pendingRequests.length &&
    payment.facts === other.facts &&
    payment.release === other.release
  );
}
