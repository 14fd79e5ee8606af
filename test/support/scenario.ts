import type { Actor, PaymentEvent } from '../../src/payments/machine/events.js';
import { type Step, step } from '../../src/payments/machine/machine.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import type { Reply } from '../../src/payments/machine/replies.js';
import { recordStep } from '../../src/payments/views/timeline.js';
import { EMPTY_TIMELINE, type Timeline } from '../../src/payments/views/timeline-entry.js';
import { toPayment } from '../../src/payments/views/to-payment.js';
import type { Force } from '../../src/payments/words/decision.js';
import type { PaymentOrder, PaymentTerms } from '../../src/payments/words/order.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../../src/payments/words/outcome.js';
import type { PaymentEventType, PaymentStatus } from '../../src/payments/words/payment.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import { openPayment, type PaymentState, reviewOf, statusOf } from '../../src/payments/words/payment-state.js';
import type { Phase } from '../../src/payments/words/phase.js';
import type { ProviderStatus, Transaction } from '../../src/payments/words/transaction.js';
import { START, terms, transactionOf, transId } from './orders.js';

/** Details of an operator's decision that a test may leave out. */
interface DecisionOptions {
  readonly force?: Force;
  readonly review?: number;
  /** The name of the operator's key. */
  readonly by?: string;
  /** Identifiers of the operator's keys. */
  readonly keys?: readonly string[] | undefined;
}

/** More than any test needs. */
const EVENTS_MAX = 5_000;

type TodoOf<Kind extends Todo['kind']> = Extract<Todo, { readonly kind: Kind }>;

/**
 * One payment and its world: what it asks for is answered, in the order in which it asks. An answer that it has not
 * asked for fails the test.
 */
export class Scenario {
  payment: PaymentState;
  todo: Todo;
  /** The merchant's notifications, oldest first. */
  readonly notified: PaymentEventType[] = [];
  readonly replies: Reply[] = [];
  timeline: Timeline = EMPTY_TIMELINE;
  private requests = 0;
  private events = 0;

  constructor(
    payment: PaymentState,
    public now: number = START,
  ) {
    this.payment = payment;
    this.todo = this.take({ kind: 'begin' }).todo;
  }

  get status(): PaymentStatus {
    return statusOf(this.payment);
  }

  phase<Kind extends Phase['kind']>(kind: Kind): Extract<Phase, { readonly kind: Kind }> {
    const { phase } = this.payment;
    if (phase.kind !== kind) throw new Error(`the payment is ${phase.kind}, not ${kind}`);
    return phase as Extract<Phase, { readonly kind: Kind }>;
  }

  /** The reply to the latest request. */
  get reply(): Reply | undefined {
    return this.replies.findLast(({ request }) => request === this.requests);
  }

  take(event: PaymentEvent): Step {
    // A payment that never comes to what a test waits for must fail the test, not hang it.
    if (++this.events > EVENTS_MAX) throw new Error(`nothing new after ${EVENTS_MAX} events`);
    const before = this.payment;
    const taken = step(before, event, this.now);
    this.payment = taken.payment;
    const { payment: after, replies } = taken;
    this.timeline = recordStep(this.timeline, { before, event, after, replies }, this.now);
    this.todo = taken.todo;
    if (taken.notified !== undefined) this.notified.push(taken.notified);
    this.replies.push(...taken.replies);
    return taken;
  }

  /** Time passes while an answer is awaited. */
  later(ms: number): this {
    this.now += ms;
    return this;
  }

  /** Lets a wait end early or late: at a time of the test's own. */
  at(time: number): this {
    if (time < this.now) throw new Error(`it is ${this.now} already`);
    this.now = time;
    this.take({ kind: 'time' });
    return this;
  }

  after(ms: number): this {
    return this.at(this.now + ms);
  }

  /** Waits until the payment asks for something of that kind. */
  asks<Kind extends Todo['kind']>(kind: Kind): TodoOf<Kind> {
    for (let steps = 0; this.todo.kind !== kind; steps++) {
      const { todo } = this;
      if (steps > 100) throw new Error(`the payment doesn't ask for ${kind}`);
      if (todo.kind === 'wait' && todo.until !== undefined) this.at(Math.max(todo.until, this.now));
      else throw new Error(`the payment asks for ${JSON.stringify(todo)}, not for ${kind}`);
    }
    return this.todo as TodoOf<Kind>;
  }

  sent(outcome: InitiationOutcome): this {
    this.asks('send');
    this.take({ kind: 'sent', outcome });
    return this;
  }

  listed(...transactions: readonly Transaction[]): this {
    return this.listing({ kind: 'listed', transactions });
  }

  listing(answer: ListAnswer): this {
    this.asks('lookUp');
    this.take({ kind: 'listed', answer });
    return this;
  }

  found(status: ProviderStatus, fields: Partial<Transaction> = {}): this {
    const { transId: asked } = this.asks('askStatus');
    const transaction = transactionOf(this.payment.order, { transId: asked, status, ...fields });
    return this.answered({ kind: 'found', transaction });
  }

  answered(answer: StatusAnswer): this {
    const { transId: asked, isClaim } = this.asks('askStatus');
    this.take({ kind: 'status', transId: asked, isClaim, answer });
    return this;
  }

  expired(answer: ExpiryAnswer = { kind: 'alreadyExpired' }): this {
    const { transId: asked } = this.asks('expire');
    this.take({ kind: 'expired', transId: asked, answer });
    return this;
  }

  /** The provider's notification, which proves nothing. */
  hint(id: string, status: ProviderStatus = 'SUCCESSFUL'): this {
    this.take({ kind: 'hint', transId: transId(id), status });
    return this;
  }

  /** A notification that names the payment, and no transaction. */
  named(status: ProviderStatus = 'SUCCESSFUL'): this {
    this.take({ kind: 'hintWithoutTransaction', status });
    return this;
  }

  request(kind: 'expire' | 'refresh' | 'recheck', by: Actor | undefined = MERCHANT): this {
    this.take({ kind, request: ++this.requests, by });
    return this;
  }

  resend(options?: DecisionOptions): this {
    return this.decide({ action: 'resend' }, options);
  }

  fail(options?: DecisionOptions): this {
    return this.decide({ action: 'fail' }, options);
  }

  match(id: string, options?: DecisionOptions): this {
    return this.decide({ action: 'match', transId: transId(id) }, options);
  }

  reject(by: string, review = reviewOf(this.payment)?.number ?? 0): this {
    const rejection = { review, by, why: 'not what the portal shows' };
    this.take({ kind: 'reject', request: ++this.requests, rejection });
    return this;
  }

  /** A person approves the payout: it, unless the digest is another's. */
  approve(by: string, digest = toPayment(this.payment).held?.digest ?? 'none', keys?: readonly string[]): this {
    this.take({ kind: 'approve', request: ++this.requests, by, keys, digest });
    return this;
  }

  rejectPayout(by: string, mayHaveBeenSent = false): this {
    const why = 'the wrong amount.';
    this.take({ kind: 'rejectPayout', request: ++this.requests, by, why, mayHaveBeenSent });
    return this;
  }

  cancel(mayHaveBeenSent = false): this {
    this.take({ kind: 'expire', request: ++this.requests, by: MERCHANT, mayHaveBeenSent });
    return this;
  }

  private decide(
    decision: { action: 'resend' | 'fail' } | { action: 'match'; transId: TransId },
    { force = false, review = reviewOf(this.payment)?.number ?? 0, by = 'ops', keys }: DecisionOptions = {},
  ): this {
    const resolution = { decision, review, by, keys, why: 'seen in the portal', force };
    this.take({ kind: 'decide', request: ++this.requests, resolution });
    return this;
  }
}

/** Actors of requests. */
export const MERCHANT: Actor = { role: 'merchant', name: 'shop' };
export const OPERATOR: Actor = { role: 'operator', name: 'ada' };

/** A payment of which nothing was sent yet. */
export function opened(order: PaymentOrder, given: Partial<PaymentTerms> = {}): Scenario {
  return new Scenario(openPayment(order, { ...terms, ...given }, START));
}

/** A payment that the provider has taken as T1 at {@link START}. */
export function taken(order: PaymentOrder, given: Partial<PaymentTerms> = {}): Scenario {
  const link = order.kind === 'link' ? 'http://pay.example/1' : undefined;
  return opened(order, given).sent({ kind: 'accepted', transId: transId('T1'), link });
}

/** A payment whose request got no answer at {@link START}. */
export function ambiguous(order: PaymentOrder, given: Partial<PaymentTerms> = {}): Scenario {
  return opened(order, given).sent({ kind: 'ambiguous', reason: 'no answer within 15 s' });
}

/** A payment that the provider didn't show for its whole grace period: it is under review. */
export function absent(order: PaymentOrder, given: Partial<PaymentTerms> = {}): Scenario {
  const payment = ambiguous(order, given);
  while (payment.status === 'CREATED') payment.listed();
  return payment;
}

/** A payment that has ended as SUCCESSFUL. */
export function paid(order: PaymentOrder, given: Partial<PaymentTerms> = {}): Scenario {
  return taken(order, given).hint('T1').found('SUCCESSFUL');
}

/** Two transactions were found for it: its review is held. */
export function backoff(order: PaymentOrder, given: Partial<PaymentTerms> = {}): Scenario {
  const own = transactionOf(order, { status: 'SUCCESSFUL' });
  return ambiguous(order, given).listed(own, { ...own, transId: transId('T2') });
}

export const SILENT = { kind: 'unavailable', reason: 'the provider answered 502' } as const;
export const UNKNOWN = { kind: 'unknown', message: 'no such transaction', statusCode: 404 } as const;
export const UNAUTHORIZED = { kind: 'unauthorized', message: 'no', statusCode: 401 } as const;
export const throttled = (retryAfterMs?: number) => ({ kind: 'throttled', retryAfterMs }) as const;
export const NOT_SENT = { kind: 'notSent', reason: 'connection refused' } as const;
export const UNREAD = { kind: 'notSent', isUnread: true, reason: 'the list could not be read' } as const;
export const THROTTLED_SEND = { kind: 'throttled', reason: 'too many requests' } as const;
