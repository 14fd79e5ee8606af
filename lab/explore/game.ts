import type { Step } from '../../src/payments/machine.js';
import type { ListAnswer, StatusAnswer } from '../../src/payments/outcome.js';
import type { TransId } from '../../src/payments/payment-id.js';
import type { ProviderStatus, Transaction } from '../../src/payments/transaction.js';
import type { AnswerEvent, PaymentEvent, RequestEvent } from '../../src/payments/transitions.js';
import { EMPTY_BOOK, given, record } from './book.js';
import { questionViolations, sendViolations, type Violation, violationsOf } from './invariants.js';
import type { DecideMove, ExpiryMove, ListMove, Move, PostMove, StatusMove } from './moves.js';
import { AMOUNT, orderOf, type Setting, WRONG_AMOUNT } from './setting.js';
import {
  type Machine,
  type OwnTransaction,
  type Provider,
  type Situation,
  transactionOf,
  withTransaction,
} from './situation.js';

/** When every story begins, in ms since the epoch. */
export const BEGINNING = Date.UTC(2026, 0, 1);

/** What a move has come to, and which rules it has broken. */
export interface Played {
  readonly situation: Situation;
  readonly violations: readonly Violation[];
}

/** Hears of each event that the machine is fed, and of what came of it. */
export type Listener = (event: PaymentEvent, now: number, step: Step) => void;

/** One world, with one machine in it. */
export class Game {
  readonly #machine: Machine;
  readonly #setting: Setting;
  readonly #listener: Listener | undefined;
  #violations: Violation[] = [];

  constructor(machine: Machine, setting: Setting, listener?: Listener) {
    this.#machine = machine;
    this.#setting = setting;
    this.#listener = listener;
  }

  /** The beginning of every story: a payment was ordered. */
  begin(): Played {
    return this.#played(() => {
      const { method, terms, allowance } = this.#setting;
      const payment = this.#machine.openPayment(orderOf(method), terms, BEGINNING);
      const provider: Provider = {
        transactions: [],
        silent: 'no',
        wasReset: false,
        asked: [],
        requests: 0,
        decisionsToSend: terms.ambiguousPolicy === 'resend' ? 2 : 1,
      };
      const todo = { kind: 'wait', summary: '' } as const;
      return this.#feed(
        { now: BEGINNING, payment, todo, provider, book: EMPTY_BOOK, left: allowance },
        { kind: 'begin' },
      );
    });
  }

  /** The story with one more move. */
  play(before: Situation, move: Move): Played {
    return this.#played(() => {
      const left = { ...before.left, troubles: before.left.troubles - (move.troubles ?? 0) };
      return this.#apply({ ...before, left }, move);
    });
  }

  #played(make: () => Situation): Played {
    this.#violations = [];
    const situation = make();
    return { situation, violations: [...this.#violations, ...violationsOf(situation)] };
  }

  #apply(before: Situation, move: Move): Situation {
    switch (move.kind) {
      case 'post':
        return this.#post(before, move);
      case 'status':
        return this.#status(before, move);
      case 'list':
        return this.#list(before, move);
      case 'expire':
        return this.#expire(before, move);
      case 'deliver':
        return this.#deliver(before, move.outcome);
      case 'redelivered': {
        if (before.delivering === undefined) return before;
        const { delivering, ...rest } = before;
        return this.#feed(rest, { kind: 'redelivered', ...delivering, outcome: outcomeOf(move.outcome) });
      }
      case 'time': {
        const later = { ...before, now: move.to };
        const isDue =
          before.todo.kind === 'wait' && before.todo.until !== undefined && before.todo.until <= move.to;
        return isDue ? this.#feed(later, { kind: 'time' }) : later;
      }
      case 'notification': {
        const { transId, status, truth } = move;
        const provider =
          truth === undefined
            ? before.provider
            : { ...changed(before.provider, transId, truth, before.book.final) };
        const after = this.#feed({ ...before, provider }, { kind: 'notification', transId, status });
        return spent(before, after, 'notifications', after.provider === before.provider);
      }
      case 'request': {
        const request = before.book.requests + 1;
        const event: RequestEvent =
          move.request === 'resendNotification'
            ? { kind: move.request, request, number: move.number ?? 1 }
            : { kind: move.request, request };
        return this.#request(before, event, 'requests');
      }
      case 'decide':
        return this.#request(before, decideEvent(move, before.book.requests + 1), 'decisions');
      case 'handOver': {
        const over = this.#feed(before, { kind: 'handOver' });
        if (over.book.open.length > 0)
          this.#violate('replies', 'the run ends, and a request waits for its reply');
        return spent(before, this.#feed(over, { kind: 'begin' }), 'handOvers', false);
      }
      case 'workerLost':
        return this.#workerLost(before);
      case 'reset':
        return this.#reset(before);
      case 'answersAgain':
        return { ...before, provider: { ...before.provider, silent: 'no' } };
    }
  }

  #post(before: Situation, move: PostMove): Situation {
    const { outcome, taken, isLate, isWrong, during } = move;
    const isMessage = during === undefined ? before : this.#duringPost(before, during);
    const leaves =
      outcome === 'accepted' || (outcome === 'ambiguous' && !before.provider.wasReset) || taken > 0;
    if (leaves || outcome === 'rejected' || outcome === 'throttled') {
      this.#violations.push(...sendViolations(isMessage, leaves));
    }
    const provider = withMade(isMessage, this.#setting, { taken, isLate, isWrong, leaves });
    const made = provider.transactions.at(-1)?.transId;
    const situation = { ...isMessage, provider };
    const reason = 'no answer';
    switch (outcome) {
      case 'accepted': {
        const transId = made as TransId;
        const link = this.#setting.method === 'link' ? { link: `https://pay.example/${transId}` } : {};
        return this.#feed(situation, { kind: 'sent', outcome: { kind: 'accepted', transId, ...link } });
      }
      case 'rejected':
        return this.#feed(situation, {
          kind: 'sent',
          outcome: { kind: 'rejected', message: 'refused', statusCode: 400 },
        });
      case 'unauthorized':
        return this.#feed(situation, {
          kind: 'sent',
          outcome: { kind: 'unauthorized', message: 'credentials', statusCode: 401 },
        });
      case 'throttled':
        return this.#feed(situation, {
          kind: 'sent',
          outcome: { kind: 'throttled', reason: 'throttled', retryAfterMs: this.#setting.retryAfterMs },
        });
      case 'notSent':
      case 'unchecked':
      case 'ambiguous':
        return this.#feed(situation, { kind: 'sent', outcome: { kind: outcome, reason } });
      case 'lost':
        return this.#workerLost(situation);
    }
  }

  /** A message while the request is in flight: whatever it asks, the payment goes on sending. */
  #duringPost(before: Situation, message: NonNullable<PostMove['during']>): Situation {
    const request = before.book.requests + 1;
    const event: RequestEvent =
      message.kind === 'decide' ? decideEvent(message, request) : { kind: message.request, request };
    const after = this.#request(before, event, message.kind === 'decide' ? 'decisions' : 'requests');
    if (after.todo.kind !== 'send' || after.payment.phase.kind !== 'sending') {
      this.#violate(
        'inFlight',
        `while the request is in flight, the payment became ${after.payment.phase.kind}`,
      );
    }
    return { ...after, todo: before.todo };
  }

  #status(before: Situation, { answer, truth }: StatusMove): Situation {
    const { todo } = before;
    if (todo.kind !== 'askStatus') return before;
    const { transId, isReport } = todo;
    this.#violations.push(...questionViolations(before));
    const asked = [
      ...before.provider.asked.filter(({ at }) => at > before.now - MINUTE_MS),
      { transId, at: before.now },
    ];
    const provider = changed({ ...before.provider, asked }, transId, truth, false);
    const event = (said: StatusAnswer): AnswerEvent => ({ kind: 'status', transId, answer: said, isReport });
    const known = { ...before, provider };
    switch (answer.kind) {
      case 'found': {
        const own = transactionOf(provider, transId);
        if (own === undefined)
          return this.#feed(known, event({ kind: 'unknown', message: 'unknown', statusCode: 404 }));
        return this.#feed(
          known,
          event({
            kind: 'found',
            transaction: this.#shown({ ...own, status: answer.status }, answer.isBare),
          }),
        );
      }
      case 'foreign': {
        const whose = answer.whose === 'others' ? { externalId: 'pay_2', userId: 'pay_2' } : {};
        return this.#feed(
          known,
          event({ kind: 'found', transaction: { transId, status: 'SUCCESSFUL', ...whose } }),
        );
      }
      case 'unknown':
        return this.#feed(known, event({ kind: 'unknown', message: 'unknown', statusCode: 404 }));
      default:
        return this.#noAnswer(known, answer, event);
    }
  }

  #list(before: Situation, { answer, truth }: ListMove): Situation {
    this.#violations.push(...questionViolations(before));
    const provider =
      truth === undefined ? before.provider : changed(before.provider, truth.transId, truth.status, false);
    const event = (said: ListAnswer): AnswerEvent => ({ kind: 'listed', answer: said });
    switch (answer.kind) {
      case 'listed': {
        const shown = provider.transactions.filter(
          ({ transId, listedFrom }) => listedFrom <= before.now && !answer.without.includes(transId),
        );
        const after = {
          ...provider,
          transactions: provider.transactions.map((one) =>
            shown.includes(one) ? { ...one, isListed: true } : one,
          ),
        };
        const transactions = shown.map((one) => this.#shown(one, answer.isBare));
        return this.#feed({ ...before, provider: after }, event({ kind: 'listed', transactions }));
      }
      case 'refused':
        return this.#feed(before, event({ kind: 'refused', message: 'refused', statusCode: 400 }));
      default:
        return this.#noAnswer({ ...before, provider }, answer, event);
    }
  }

  #shown({ transId, status, isWrong }: OwnTransaction, isBare: boolean): Transaction {
    if (isBare) return { transId, status };
    const { id: externalId } = orderOf(this.#setting.method);
    return { transId, status, externalId, userId: externalId, amount: isWrong ? WRONG_AMOUNT : AMOUNT };
  }

  #expire(before: Situation, { answer, truth }: ExpiryMove): Situation {
    const { todo } = before;
    if (todo.kind !== 'expire') return before;
    const { transId } = todo;
    this.#violations.push(...questionViolations(before));
    const provider = changed(before.provider, transId, truth, false);
    const known = { ...before, provider };
    const own = transactionOf(provider, transId);
    const event = (said: Extract<AnswerEvent, { kind: 'expired' }>['answer']): AnswerEvent => ({
      kind: 'expired',
      transId,
      answer: said,
    });
    switch (answer.kind) {
      case 'expired':
        return own === undefined
          ? this.#feed(known, event({ kind: 'refused', message: 'unknown', statusCode: 400 }))
          : this.#feed(known, event({ kind: 'expired', transaction: this.#shown(own, false) }));
      case 'alreadyExpired':
        return this.#feed(known, event({ kind: 'alreadyExpired' }));
      case 'refused':
        return this.#feed(known, event({ kind: 'refused', message: 'refused', statusCode: 400 }));
      default:
        return this.#noAnswer(known, answer, event);
    }
  }

  #noAnswer(
    before: Situation,
    answer: Extract<StatusMove['answer'], { kind: 'unavailable' | 'throttled' | 'unauthorized' | 'lost' }>,
    event: (
      answer: Extract<StatusAnswer, { kind: 'unavailable' | 'throttled' | 'unauthorized' }>,
    ) => AnswerEvent,
  ): Situation {
    switch (answer.kind) {
      case 'unavailable': {
        const silent = answer.silence ?? before.provider.silent;
        const late = {
          ...before,
          now: before.now + this.#setting.terms.providerTimeoutMs,
          provider: { ...before.provider, silent },
        };
        return this.#feed(late, event({ kind: 'unavailable', reason: 'no answer' }));
      }
      case 'throttled':
        return this.#feed(before, event({ kind: 'throttled', retryAfterMs: this.#setting.retryAfterMs }));
      case 'unauthorized':
        return this.#feed(before, event({ kind: 'unauthorized', message: 'credentials', statusCode: 401 }));
      case 'lost':
        return this.#workerLost(before);
    }
  }

  #deliver(before: Situation, outcome: 'delivered' | 'failed' | 'lost'): Situation {
    if (before.todo.kind !== 'deliver') return before;
    if (outcome === 'lost') return this.#workerLost(before);
    const { number, at } = before.todo;
    return this.#feed(before, { kind: 'delivered', number, at, outcome: outcomeOf(outcome) });
  }

  #request(before: Situation, event: RequestEvent, of: 'requests' | 'decisions'): Situation {
    const objection = this.#machine.objectionTo(before.payment, event, before.now);
    const after = this.#feed(before, event);
    if (objection !== undefined && after.payment !== before.payment && !isSame(before, after)) {
      this.#violate('decisions', 'what is refused beforehand is taken afterwards');
    }
    return spent(before, after, of, objection !== undefined);
  }

  /** A new worker goes on from what is on record. */
  #workerLost(before: Situation): Situation {
    const { recorded } = before;
    if (recorded === undefined) return before;
    const { payment, delivering, event, book } = recorded;
    // What was shown to the lost worker alone was not shown to the payment.
    const transactions = before.provider.transactions.map((one) => ({
      ...one,
      isListed: one.isListed && book.shown.some(({ transId }) => transId === one.transId),
    }));
    const provider = { ...before.provider, transactions };
    return this.#feed({ ...before, payment, delivering, book, provider }, event);
  }

  #reset(before: Situation): Situation {
    const { method, terms } = this.#setting;
    const now = before.now + MINUTE_MS;
    const payment = this.#machine.openPayment(orderOf(method), terms, now);
    const { requests, insisted } = before.book;
    // What an earlier run was shown, or told, is forgotten with it.
    const transactions = before.provider.transactions.map((one) => ({
      ...one,
      isListed: false,
      isNotified: false,
    }));
    const anew: Situation = {
      ...before,
      now,
      payment,
      delivering: undefined,
      provider: { ...before.provider, wasReset: true, transactions },
      book: { ...EMPTY_BOOK, requests, insisted },
      left: { ...before.left, resets: before.left.resets - 1 },
    };
    return this.#feed(anew, { kind: 'begin' });
  }

  #violate(invariant: Violation['invariant'], what: string): void {
    this.#violations.push({ invariant, what });
  }

  /** Feeds the machine one event, as the workflow does, and keeps the books. */
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
    const isRecorded =
      todo.kind === 'wait' ||
      todo.kind === 'end' ||
      (todo.kind === 'send' && payment.order.method !== 'link');
    const situation: Situation = {
      now,
      payment,
      todo,
      delivering: before.delivering,
      provider:
        decisionsToSend === 0
          ? before.provider
          : { ...before.provider, decisionsToSend: before.provider.decisionsToSend + decisionsToSend },
      book,
      left: before.left,
      recorded: isRecorded ? undefined : this.#recordedAfter(before, event),
    };
    if (todo.kind === 'redeliver') {
      return this.#feed({ ...situation, delivering: { number: todo.number, at: todo.at } }, { kind: 'time' });
    }
    return isRecorded ? { ...situation, provider: given(situation.provider, situation) } : situation;
  }

  #recordedAfter(before: Situation, event: PaymentEvent): Situation['recorded'] {
    const isLocal =
      event.kind === 'status' ||
      event.kind === 'listed' ||
      event.kind === 'expired' ||
      event.kind === 'delivered' ||
      (event.kind === 'sent' && this.#setting.method === 'link');
    if (isLocal) return before.recorded && { ...before.recorded, isFresh: false };
    return {
      payment: before.payment,
      delivering: before.delivering,
      event,
      book: before.book,
      isFresh: true,
    };
  }
}

const MINUTE_MS = 60_000;

function outcomeOf(outcome: 'delivered' | 'failed') {
  return outcome === 'delivered'
    ? ({ kind: 'delivered' } as const)
    : ({ kind: 'failed', reason: 'nobody there' } as const);
}

function decideEvent({ action, transId, review, force }: DecideMove, request: number): RequestEvent {
  const decision = action === 'match' ? { action, transId: transId as TransId } : { action };
  return { kind: 'decide', request, resolution: { decision, review, by: 'ops', why: 'looked', force } };
}

function withMade(
  { provider, now }: Situation,
  { listLagMs }: Setting,
  {
    taken,
    isLate,
    isWrong,
    leaves,
  }: Pick<PostMove, 'taken' | 'isLate' | 'isWrong'> & { readonly leaves: boolean },
): Provider {
  const first = provider.transactions.length + 1;
  const made = Array.from(
    { length: taken },
    (_, index): OwnTransaction => ({
      transId: `T${first + index}` as TransId,
      status: 'CREATED',
      madeAt: now,
      listedFrom: isLate ? now + listLagMs : now,
      isListed: false,
      isWrong,
      isTwin: taken > 1,
      isGiven: false,
      hasTurned: false,
      isNotified: false,
    }),
  );
  return {
    ...provider,
    requests: provider.requests + (leaves ? 1 : 0),
    transactions: [...provider.transactions, ...made],
  };
}

/** A transaction has moved on. */
function changed(
  provider: Provider,
  transId: TransId,
  status: ProviderStatus | undefined,
  isNotified: boolean,
): Provider {
  const own = transactionOf(provider, transId);
  if (own === undefined || status === undefined) return provider;
  if (own.status === status)
    return isNotified && !own.isNotified ? withTransaction(provider, transId, { isNotified }) : provider;
  const hasTurned = own.hasTurned || own.status === 'EXPIRED' || (own.status === 'FAILED' && !own.isGiven);
  return withTransaction(provider, transId, { status, before: own.status, hasTurned, isNotified });
}

/** Messages that have no effect cost nothing: they lead to the state that they came in. */
function spent(
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
    payment.reports.open === other.reports.open &&
    payment.notifications === other.notifications &&
    payment.waiters.length === other.waiters.length &&
    payment.facts === other.facts
  );
}
