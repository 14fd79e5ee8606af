import type { PaymentEvent, RequestEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import { digestOf } from '../../src/payments/words/order-digest.js';
import type { PaymentEventType } from '../../src/payments/words/payment.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import { MINUTE_MS } from '../../src/payments/words/time.js';
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
import { growthViolations, refundViolations } from './refund-count.js';
import { KEYS_OF, orderIn, type Setting, START } from './setting.js';
import type { Book, Machine, Mark, OwnTransaction, Provider, Situation, Told } from './situation.js';

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
        wasReset: false,
        asked: [],
        requests: 0,
        decisionsToSend: terms.ambiguousPolicy === 'resend' ? 2 : 1,
      };
      const provider = wasSentBefore ? withEarlier(untouched, START) : untouched;
      const nothing = { signals: [], told: { all: [], isDecided: false } };
      return this.#feed(
        { now: START, payment, todo: NOTHING, provider, book: EMPTY_BOOK, left: allowance, ...nothing },
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
      case 'resetCheck': {
        const { kind } = move.answer;
        if (before.todo.kind !== 'checkReset') return before;
        if (kind === 'lost') return this.#workerLost(before);
        return this.#feed(before, { kind: 'resetChecked', mayBeReset: kind === 'reset' });
      }
      case 'delivered': {
        if (before.delivering === undefined) return before;
        const { delivering, ...rest } = before;
        return this.#feed(rest, { kind: 'delivered', ...delivering, outcome: outcomeOf(move.outcome) });
      }
      case 'time': {
        const later = { ...before, now: move.to };
        const isDue = before.todo.kind === 'wait' && before.todo.until !== undefined && before.todo.until <= move.to;
        return isDue ? this.#feed(later, { kind: 'time' }) : later;
      }
      case 'notification':
        return this.#notification(before, move);
      case 'request': {
        const request = before.book.requests + 1;
        const event: RequestEvent =
          move.request === 'resendNotification'
            ? { kind: move.request, request, number: move.number ?? 1 }
            : { kind: move.request, request, ...mayHaveBeenSent(before, move) };
        return this.#request(before, event, 'requests');
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
        const rejected = { request, by: move.by, why: 'looked', ...mayHaveBeenSent(before, move) };
        return this.#request(before, { kind: 'rejectPayout', ...rejected }, 'decisions');
      }
      case 'decide':
        return this.#request(before, decideEvent(move, before.book.requests + 1), 'decisions');
      case 'reject': {
        const rejection = { review: move.review, by: move.by, why: 'looked' };
        const request = before.book.requests + 1;
        return this.#request(before, { kind: 'reject', request, rejection }, 'decisions');
      }
      case 'handOver': {
        const over = this.#feed(before, { kind: 'handOver' });
        if (over.book.open.length > 0) this.#violate('replies', 'the run ends, and a request waits for its reply');
        return deducted(before, this.#feed(over, { kind: 'begin' }), 'handOvers', false);
      }
      case 'workerLost':
        return move.forgets ? this.#updateLost(before) : this.#workerLost(before);
      case 'reset':
        return this.#reset(before, move.to);
      case 'mark': {
        const { payment, todo, delivering, book } = before;
        return { ...before, mark: { payment, todo, delivering, book, signals: [] } };
      }
      case 'answersAgain':
        return { ...before, provider: { ...before.provider, silent: 'no' } };
    }
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
    const signals = [...before.signals, event];
    const after = this.#feed({ ...before, provider, signals }, event);
    return deducted(before, after, 'notifications', after.provider === before.provider);
  }

  #post(before: Situation, move: PostMove): Situation {
    const { during } = move;
    const situation = during === undefined ? before : this.#duringPost(before, during);
    const isLate = this.#isLate(situation);
    return this.#answerPost(situation, isLate ? withheld(move) : move, isLate);
  }

  /** Reports whether the activity is told not to send the request, which is one for money. */
  #isLate({ payment, now }: Situation): boolean {
    return this.#setting.kind !== 'link' && this.#machine.sentIf(payment, now) === 'late';
  }

  #answerPost(situation: Situation, move: PostMove, isLate: boolean): Situation {
    const { outcome } = move;
    const leaves = !isLate && mayHaveLeft(situation, move);
    const isDuplicate = outcome === 'rejected' && isRepeated(situation, this.#setting);
    if (!isDuplicate && (leaves || outcome === 'rejected' || outcome === 'throttled')) {
      this.#violations.push(...sendViolations(situation, leaves));
    }
    const answered = answerPost(situation, move, this.#setting);
    if (outcome !== 'reset') return this.#take(answered);
    return this.#reset(answered.situation, situation.mark === undefined ? 'start' : 'next', 0);
  }

  /** A message while the request is in flight: it never keeps the payment from sending. */
  #duringPost(before: Situation, message: NonNullable<PostMove['during']>): Situation {
    const request = before.book.requests + 1;
    const event: RequestEvent =
      message.kind === 'decide' ? decideEvent(message, request) : { kind: message.request, request };
    const after = this.#request(before, event, message.kind === 'decide' ? 'decisions' : 'requests');
    if (after.todo.kind !== 'send' || after.payment.phase.kind !== 'sending') {
      this.#violate('inFlight', `while the request is in flight, the payment became ${after.payment.phase.kind}`);
    }
    return { ...after, todo: before.todo };
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
    return event === undefined ? this.#workerLost(situation) : this.#feed(situation, event);
  }

  #request(before: Situation, event: RequestEvent, of: 'requests' | 'decisions'): Situation {
    const objection = this.#machine.objectionTo(before.payment, event, before.now);
    const after = this.#feed(before, event);
    if (objection !== undefined && after.payment !== before.payment && !isSame(before, after)) {
      this.#violate('decisions', 'what is refused beforehand is accepted afterwards');
    }
    return deducted(before, after, of, objection !== undefined);
  }

  /** A new worker continues from what Temporal has on record. */
  #workerLost(before: Situation): Situation {
    const { recorded } = before;
    if (recorded === undefined) return before;
    const { payment, delivering, event, todo, book, decisionsToSend } = recorded;
    // What only the lost worker was shown, the payment was not.
    const transactions = transactionsListedIn(book, before.provider);
    const provider = { ...before.provider, transactions, decisionsToSend };
    return this.#feed({ ...before, payment, delivering, todo, book, provider }, event);
  }

  /** A new worker, and a Temporal that has lost the update of the workflow task. The caller receives a failure. */
  #updateLost(before: Situation): Situation {
    const { recorded } = before;
    if (recorded === undefined) return before;
    const { payment, delivering, todo, book, decisionsToSend } = recorded;
    const transactions = transactionsListedIn(book, before.provider);
    const provider = { ...before.provider, transactions, decisionsToSend };
    const requests = before.book.requests;
    const undone = { ...before, payment, delivering, todo, provider, book: { ...book, requests } };
    // What was to be done then may be another thing by now.
    const isWaiting = todo.kind === 'wait' && (todo.until === undefined || todo.until > before.now);
    const settled = { ...undone, recorded: undefined };
    return isWaiting || todo.kind === 'end' ? settled : this.#feed(settled, { kind: 'time' });
  }

  #reset(before: Situation, to: 'start' | 'mark' | 'next', afterMs: number = MINUTE_MS): Situation {
    const now = before.now + afterMs;
    const { requests, insisted } = before.book;
    const { payment, todo, delivering, book, event, signals } = this.#resetTo(before, to, now);
    // What an earlier run was shown or notified of since then is forgotten with it.
    const transactions = transactionsListedIn(book, before.provider).map((one) => ({
      ...one,
      isNotified: false,
    }));
    const anew: Situation = {
      now,
      payment,
      todo,
      delivering,
      provider: { ...before.provider, wasReset: true, transactions },
      book: { ...book, requests, insisted, toAsk: book.toAsk && { ...book.toAsk, since: now } },
      left: { ...before.left, resets: before.left.resets - 1 },
      signals: before.signals,
      told: before.told,
    };
    const events = event === undefined ? signals : [event, ...signals];
    return events.reduce((situation, one) => this.#feed(situation, one), anew);
  }

  #resetTo({ mark, signals: since }: Situation, to: 'start' | 'mark' | 'next', now: number): Mark {
    if (to === 'start' || mark === undefined) {
      const payment = this.#machine.openPayment(orderIn(this.#setting), this.#setting.terms, now);
      return {
        payment,
        todo: NOTHING,
        delivering: undefined,
        book: EMPTY_BOOK,
        event: { kind: 'begin' },
        signals: since,
      };
    }
    if (to === 'next') return mark;
    const isDue = mark.todo.kind === 'wait' && mark.todo.until !== undefined && mark.todo.until <= now;
    const signals =
      mark.event?.kind === 'hint' || mark.event?.kind === 'hintWithoutTransaction'
        ? [mark.event, ...mark.signals]
        : mark.signals;
    return { ...mark, event: isDue ? { kind: 'time' } : undefined, signals };
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
    this.#violations.push(...growthViolations(before.payment, step.payment, now, this.#machine));
    const { book, decisionsToSend, violations } = record(before, event, step, now);
    this.#violations.push(...violations);
    const { payment, todo } = step;
    const isRecorded =
      todo.kind === 'wait' || todo.kind === 'end' || (todo.kind === 'send' && payment.order.kind !== 'link');
    const situation: Situation = {
      now,
      payment,
      todo,
      delivering: before.delivering,
      provider:
        decisionsToSend === 0
          ? before.provider
          : // It takes the place of the policy's own.
            { ...before.provider, decisionsToSend: before.provider.requests + decisionsToSend },
      book,
      left: before.left,
      recorded: isRecorded ? undefined : this.#recordedAfter(before, event),
      mark: before.mark && marked(before.mark, event),
      signals: before.signals,
      told: event.kind === 'delivered' ? this.#tell(before, event.number) : before.told,
    };
    if (todo.kind === 'deliver') {
      const told = this.#setting.tellsEarly ? this.#tell(situation, todo.number) : situation.told;
      const delivering = { number: todo.number, at: todo.at };
      const after = this.#feed({ ...situation, told, delivering }, { kind: 'time' });
      return this.#setting.tellsEarly ? { ...after, recorded: this.#recordedAfter(before, event) } : after;
    }
    return isRecorded ? { ...situation, provider: given(situation.provider, situation) } : situation;
  }

  /** A try to notify the merchant: the merchant may have received it, whatever its result. */
  #tell({ payment, told, provider }: Situation, number: number): Told {
    const type = payment.notifications.find((one) => one.number === number)?.type;
    const name = `${number}${type}`;
    if (type === undefined || told.all.includes(name)) return told;
    const isFinal =
      told.last === 'payment.succeeded' || told.last === 'payment.failed' || told.last === 'payment.expired';
    const isSame = type === told.last || (provider.wasReset && isUnpaid(type) && isUnpaid(told.last));
    const isTurned = provider.transactions.some(({ hasTurned, isLater }) => hasTurned || isLater);
    const isDecided = told.isDecided || payment.resolved !== undefined;
    const isFailedAttempt = type === 'payment.attempt_failed';
    const isDecidedAnew = provider.wasReset && (isTurned || isDecided || isFailedAttempt);
    if (isFinal && !isSame && type !== 'payment.review' && !isDecidedAnew)
      this.#violate('toldFinal', `the merchant was told ${told.last}, and is told ${type} now`);
    return { all: [...told.all, name], last: type, isDecided };
  }

  #recordedAfter(before: Situation, event: PaymentEvent): Situation['recorded'] {
    const isLocal =
      event.kind === 'status' ||
      event.kind === 'listed' ||
      event.kind === 'expired' ||
      event.kind === 'resetChecked' ||
      (event.kind === 'sent' && this.#setting.kind === 'link');
    if (isLocal) return before.recorded && { ...before.recorded, isFresh: false };
    return {
      payment: before.payment,
      delivering: before.delivering,
      event,
      book: before.book,
      isFresh: true,
      todo: before.todo,
      decisionsToSend: before.provider.decisionsToSend,
    };
  }
}

/** Lists the provider's transactions; the list counts as having shown only those that the book has. */
function transactionsListedIn({ shown }: Book, { transactions }: Provider): OwnTransaction[] {
  return transactions.map((one) => ({
    ...one,
    isListed: one.isListed && shown.some(({ transId }) => transId === one.transId),
  }));
}

/** Notes the first thing after the moment that was marked: its workflow task is about that. */
function marked(mark: Mark, event: PaymentEvent): Mark {
  if (mark.event === undefined) return { ...mark, event };
  return event.kind === 'hint' || event.kind === 'hintWithoutTransaction'
    ? { ...mark, signals: [...mark.signals, event] }
    : mark;
}

/**
 * Reports whether a notification says that nothing was paid. After a reset, a link that was never given out may turn
 * out EXPIRED instead of FAILED.
 */
function isUnpaid(type: PaymentEventType | undefined): boolean {
  return type === 'payment.failed' || type === 'payment.expired';
}

function outcomeOf(outcome: 'delivered' | 'failed') {
  return outcome === 'delivered'
    ? ({ kind: 'delivered' } as const)
    : ({ kind: 'failed', reason: 'nobody there' } as const);
}

/** Tells whether a held payout may have been sent before, as the workflow asks before it is stopped. */
function mayHaveBeenSent({ payment, provider, now }: Situation, { isUnsure }: { readonly isUnsure?: true }) {
  if (payment.phase.kind !== 'held') return {};
  const isShown = provider.transactions.some(({ listedFrom }) => listedFrom <= now);
  return { mayHaveBeenSent: isUnsure === true || provider.wasReset || provider.silent === 'all' || isShown };
}

/** A request whose time is over: what would have reached the provider is withheld instead. */
function withheld(move: PostMove): PostMove {
  const isSent = move.taken > 0 || move.outcome === 'rejected' || move.outcome === 'throttled';
  return isSent && move.outcome !== 'reset' ? { ...move, outcome: 'withheld', taken: 0 } : { ...move, taken: 0 };
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
  of: 'notifications' | 'requests' | 'decisions' | 'handOvers',
  mayBeNothing: boolean,
): Situation {
  if (mayBeNothing && isSame(before, after)) return { ...before, recorded: before.recorded };
  return { ...after, left: { ...after.left, [of]: after.left[of] - 1 } };
}

function isSame({ payment, todo }: Situation, { payment: other, todo: otherTodo }: Situation): boolean {
  if (todo.kind !== otherTodo.kind) return false;
  return (
    payment.phase === other.phase &&
    payment.claims.open === other.claims.open &&
    payment.claims.isNamed === other.claims.isNamed &&
    payment.sends.mayBeDouble === other.sends.mayBeDouble &&
    payment.notifications === other.notifications &&
    payment.pendingRequests.length === other.pendingRequests.length &&
    payment.facts === other.facts &&
    payment.release === other.release
  );
}
