import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { MerchantNotification } from '../activities/merchant.js';
import { objectionTo, step } from '../payments/machine.js';
import { type DeliveryOutcome, notificationId } from '../payments/notification.js';
import type { ExpiryAnswer, InitiationOutcome, ListAnswer, StatusAnswer } from '../payments/outcome.js';
import type { TransId } from '../payments/payment-id.js';
import {
  isFinalPayment,
  openPayment,
  type PaymentState,
  statusOf,
  transIdOf,
} from '../payments/payment-state.js';
import { toPayment } from '../payments/to-payment.js';
import type { PaymentEvent, Reply, RequestEvent, Todo } from '../payments/transitions.js';
import { paymentSearchAttributes } from '../temporal/search-attributes.js';
import { type ActivityCalls, activityCalls } from './activity-calls.js';
import { describePayment } from './describe-payment.js';
import {
  type EndedPayment,
  expireUpdate,
  FINGERPRINT_MISMATCH,
  hintSignal,
  initiationUpdate,
  notificationsQuery,
  outcomeUpdate,
  type PaymentInput,
  type PaymentResult,
  type PaymentWorkflowType,
  paymentQuery,
  recheckUpdate,
  refreshUpdate,
  resendNotificationUpdate,
  resolveUpdate,
} from './messages.js';

/** Events of history after which a new run takes over; the rest of a run takes far fewer than the 2,000 that it may have. */
const HISTORY_LIMIT = 1_500;

/** The steps of a kind of payment. */
export interface PaymentSteps {
  readonly send: () => Promise<InitiationOutcome>;
  readonly lookUp: () => Promise<ListAnswer>;
  readonly askStatus: (transId: TransId) => Promise<StatusAnswer>;
  readonly expire: (transId: TransId) => Promise<ExpiryAnswer>;
}

/**
 * Runs a payment from where it stands to its end: what the merchant and the operators are told has been told, and
 * nothing is left to ask.
 *
 * A request to cancel the workflow changes nothing: money that was asked for can't be unasked. A link is ended with
 * the API's expire.
 */
export function runPayment(
  input: PaymentInput,
  stepsOf: (provider: ActivityCalls) => PaymentSteps,
): Promise<EndedPayment> {
  return CancellationScope.nonCancellable(() => new Interpreter(input, stepsOf).run());
}

/** Without a number, which the interpreter gives. */
type Request = RequestEvent extends infer Event
  ? Event extends RequestEvent
    ? Omit<Event, 'request'>
    : never
  : never;

/**
 * The interpreter of the payment machine. Messages go into one inbox; one loop takes them out, one at a time, and does
 * the one thing that the machine wants done next. Nothing is taken out while that is under way, so that nothing can
 * interleave with it.
 */
class Interpreter {
  private payment: PaymentState;
  private readonly calls: ActivityCalls;
  private readonly steps: PaymentSteps;
  private readonly inbox: PaymentEvent[] = [];
  private readonly replies = new Map<number, Reply>();
  private requests = 0;
  private isHandingOver = false;
  private timer: { readonly until: number; readonly scope: CancellationScope; isOver: boolean } | undefined;

  constructor(
    private readonly input: PaymentInput,
    stepsOf: (provider: ActivityCalls) => PaymentSteps,
  ) {
    this.payment = input.carried ?? openPayment(input.order, input.terms, Date.now());
    this.calls = activityCalls(input.terms);
    this.steps = stepsOf(this.calls);
    this.hear();
  }

  async run(): Promise<EndedPayment> {
    let todo = this.take({ kind: 'begin' });
    for (;;) {
      const message = this.inbox.shift();
      if (message !== undefined) {
        todo = this.take(await this.checked(message));
      } else if (todo.kind === 'wait') {
        await (this.isLong && this.payment.delivering === undefined ? this.handOver() : this.wait(todo));
        if (this.inbox.length === 0) todo = this.take({ kind: 'time' });
      } else if (todo.kind === 'end') {
        // Even what has nothing to do takes a turn: the message that opened it again is heard in it.
        await condition(() => this.inbox.length > 0 || allHandlersFinished());
        if (this.inbox.length === 0) return { ...this.result(), state: this.payment };
      } else {
        todo = this.take(await this.ask(todo));
      }
    }
  }

  /** A withdrawal goes by what this run knows, which forgets what was sent when somebody has reset the workflow. */
  private async checked(message: PaymentEvent): Promise<PaymentEvent> {
    const isWithdrawal = message.kind === 'expire' && this.payment.phase.kind === 'waiting';
    return isWithdrawal ? { ...message, mayHaveBeenSent: await this.calls.mayHaveBeenReset() } : message;
  }

  /** Lets the machine take an event, and makes visible what came of it. */
  private take(event: PaymentEvent): Exclude<Todo, { kind: 'redeliver' }> {
    const before = this.payment;
    const { payment, todo, replies } = step(before, event, Date.now());
    this.payment = payment;
    for (const reply of replies) this.replies.set(reply.request, reply);
    this.show(before);
    if (event.kind === 'delivered' || event.kind === 'redelivered') this.reportGivenUp(event.number);
    if (todo.kind !== 'redeliver') return todo;
    // Under way at once: a message that waits in the inbox must not come between.
    void this.redeliver(todo);
    return this.take({ kind: 'time' });
  }

  /** Does what is to be done, and brings its answer back. */
  private async ask(todo: Exclude<Todo, { kind: 'wait' | 'end' | 'redeliver' }>): Promise<PaymentEvent> {
    switch (todo.kind) {
      case 'send':
        return { kind: 'sent', outcome: await this.steps.send() };
      case 'lookUp':
        return { kind: 'listed', answer: await this.steps.lookUp() };
      case 'askStatus': {
        const { transId, isReport } = todo;
        return { kind: 'status', transId, isReport, answer: await this.steps.askStatus(transId) };
      }
      case 'expire': {
        const { transId } = todo;
        return { kind: 'expired', transId, answer: await this.steps.expire(transId) };
      }
      case 'deliver': {
        const { number, at } = todo;
        const outcome = await this.calls.notify(this.compose(number));
        return { kind: 'delivered', number, at, outcome: this.reported(number, outcome) };
      }
    }
  }

  /** Tries a notification again, beside everything else. */
  private async redeliver({ number, at, tries }: Extract<Todo, { kind: 'redeliver' }>): Promise<void> {
    const outcome = await this.calls.notifyAgain(this.compose(number), tries);
    this.inbox.push({ kind: 'redelivered', number, at, outcome: this.reported(number, outcome) });
  }

  private reported(number: number, outcome: DeliveryOutcome): DeliveryOutcome {
    if (outcome.kind === 'failed') {
      log.warn('the merchant has not taken a notification', { number, reason: outcome.reason });
    }
    return outcome;
  }

  /** Operators are told of a merchant who will not hear of something unless it is sent again by hand. */
  private reportGivenUp(number: number): void {
    const delivery = this.payment.notifications.find((one) => one.number === number)?.delivery;
    if (delivery?.kind !== 'abandoned') return;
    log.error('a notification was given up: the merchant has not taken it for three days', {
      number,
      reason: delivery.lastError,
    });
  }

  /** The notification, with the payment as it stands at this moment. */
  private compose(number: number): MerchantNotification {
    const notification = this.payment.notifications.find((one) => one.number === number);
    if (notification === undefined) throw new Error(`the payment has no notification ${number}`);
    const { type, at } = notification;
    const payment = toPayment(this.payment);
    return {
      id: notificationId(payment.id, notification),
      type,
      timestamp: new Date(at).toISOString(),
      payment,
    };
  }

  /**
   * Waits for the time or for a message, whichever comes first. A timer that another wait needs as well goes on, and one
   * that nothing needs any more is left alone until the next is set: each that is cancelled costs an event.
   */
  private async wait({ until, summary }: Extract<Todo, { kind: 'wait' }>): Promise<void> {
    const pause = until === undefined ? undefined : until - Date.now();
    if (pause !== undefined && pause <= 0) return;
    if (this.timer?.until !== until || this.timer?.isOver) this.setTimer(until, summary);
    const mayHandOver = this.payment.delivering === undefined;
    await condition(
      () => this.inbox.length > 0 || this.timer?.isOver === true || (mayHandOver && this.isLong),
    );
  }

  private setTimer(until: number | undefined, summary: string): void {
    if (this.timer?.isOver === false) this.timer.scope.cancel();
    this.timer = undefined;
    if (until === undefined) return;
    const timer = { until, scope: new CancellationScope(), isOver: false };
    this.timer = timer;
    timer.scope
      .run(() => sleep(until - Date.now(), { summary }))
      .then(
        () => {
          timer.isOver = true;
        },
        () => undefined,
      );
  }

  /** The history has grown so much that a new run should take over. */
  private get isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return historyLength >= HISTORY_LIMIT || continueAsNewSuggested;
  }

  /**
   * Begins a new run with the same state. Handlers finish first; a signal that comes in meanwhile makes the server refuse
   * the hand-over, and it is tried again with the signal's effect in the state.
   */
  private async handOver(): Promise<void> {
    this.isHandingOver = true;
    this.take({ kind: 'handOver' });
    await condition(() => this.inbox.length > 0 || allHandlersFinished());
    if (this.inbox.length > 0) return;
    const carryOn = makeContinueAsNewFunc<(input: PaymentInput) => Promise<EndedPayment>>({
      workflowType: workflowInfo().workflowType as PaymentWorkflowType,
    });
    await carryOn({ ...this.input, carried: this.payment });
  }

  private result(): PaymentResult {
    const { phase } = this.payment;
    return {
      payment: toPayment(this.payment),
      rejection: phase.kind === 'ended' ? phase.rejection : undefined,
    };
  }

  /** What operators and lists see of the payment. */
  private show(before: PaymentState): void {
    const [status, transId] = [statusOf(this.payment), transIdOf(this.payment)];
    const isNewStatus = status !== statusOf(before);
    const isNewTransaction = transId !== undefined && transId !== transIdOf(before);
    if (isNewStatus || isNewTransaction) {
      upsertSearchAttributes([
        ...(isNewStatus ? [{ key: paymentSearchAttributes.status, value: status }] : []),
        ...(isNewTransaction ? [{ key: paymentSearchAttributes.transId, value: transId }] : []),
      ]);
      this.report(statusOf(before), status);
    }
    setCurrentDetails(describePayment(this.payment));
  }

  private report(from: string, to: string): void {
    const { reason, review } = toPayment(this.payment);
    if (review !== undefined) {
      log.warn('a person has to decide the payment', { from, to, review: review.number, reason });
    } else {
      log.info(from === to ? 'the provider has taken the payment' : 'payment changed', { from, to });
    }
  }

  /** Every message is a post to the inbox, or waits for what comes of the payment; none calls the provider itself. */
  private hear(): void {
    setHandler(paymentQuery, () => this.result());
    setHandler(notificationsQuery, () => this.payment.notifications);
    setHandler(hintSignal, ({ transId, status }) => {
      this.inbox.push({ kind: 'notification', transId, status });
    });
    setHandler(
      initiationUpdate,
      () =>
        shielded(async () => {
          await condition(() => this.isSettled || transIdOf(this.payment) !== undefined);
          return { ...this.result(), requestId: this.input.requestId };
        }),
      {
        validator: ({ fingerprint }) => {
          if (fingerprint === this.input.fingerprint) return;
          throw refusal(FINGERPRINT_MISMATCH, 'the payment was started with another body');
        },
      },
    );
    setHandler(outcomeUpdate, () =>
      shielded(async () => {
        await condition(() => this.isSettled);
        return this.result();
      }),
    );
    this.hearRequest(expireUpdate, () => ({ kind: 'expire' }));
    this.hearRequest(refreshUpdate, () => ({ kind: 'refresh' }));
    this.hearRequest(recheckUpdate, () => ({ kind: 'recheck' }));
    this.hearRequest(resolveUpdate, (resolution) => ({ kind: 'decide', resolution }));
    this.hearRequest(resendNotificationUpdate, (number) => ({ kind: 'resendNotification', number }));
  }

  /** Nobody who waits for the outcome will see more of it in this run. */
  private get isSettled(): boolean {
    return this.isHandingOver || isFinalPayment(this.payment);
  }

  /** What can be seen to be wrong is refused before it is written down; the rest waits for the machine's reply. */
  private hearRequest<Args extends unknown[]>(
    update: ReturnType<typeof import('@temporalio/workflow').defineUpdate<PaymentResult, Args>>,
    requestOf: (...args: Args) => Request,
  ): void {
    setHandler(
      update,
      (...args: Args) =>
        shielded(async () => {
          const request = ++this.requests;
          this.inbox.push({ ...requestOf(...args), request });
          await condition(() => this.replies.has(request));
          const reply = this.replies.get(request);
          this.replies.delete(request);
          if (reply?.kind === 'refused') throw refusal(reply.type, reply.words);
          return this.result();
        }),
      {
        validator: (...args: Args) => {
          const objection = objectionTo(this.payment, { ...requestOf(...args), request: 0 }, Date.now());
          if (objection !== undefined) throw refusal(objection.type, objection.words);
        },
      },
    );
  }
}

/** Handlers run in the workflow's root scope, which a request to cancel would cancel. */
function shielded<T>(handle: () => Promise<T>): Promise<T> {
  return CancellationScope.nonCancellable(handle);
}

/** What a message to a payment is refused with. Temporal shows the type to the caller, who makes a problem document of it. */
function refusal(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
