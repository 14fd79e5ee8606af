import type { UpdateDefinition } from '@temporalio/common';
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  makeContinueAsNewFunc,
  patched,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { MerchantNotification } from '../activities/merchant.js';
import type { PaymentEvent, RequestEvent } from '../payments/machine/events.js';
import { step } from '../payments/machine/machine.js';
import { notificationId } from '../payments/machine/notification.js';
import { type Todo, waitsForBudget } from '../payments/machine/plan.js';
import type { Refusal, Reply } from '../payments/machine/replies.js';
import { objectionTo } from '../payments/machine/requests.js';
import { heldSince, type SentIf, sentIf } from '../payments/machine/sending.js';
import { recordStep } from '../payments/views/timeline.js';
import { EMPTY_TIMELINE, type Timeline } from '../payments/views/timeline-entry.js';
import { forMerchant, toPayment } from '../payments/views/to-payment.js';
import type { InitiationOutcome } from '../payments/words/outcome.js';
import { isFinalPayment, type PaymentState, rejectionOf, transIdOf } from '../payments/words/payment-state.js';
import { isoTime } from '../payments/words/time.js';
import { type ActivityCalls, activityCalls } from './activity-calls.js';
import { type Argument, isHistoryLong, onQuery, onSignal, onUpdate } from './handlers.js';
import {
  approveUpdate,
  type EndedPayment,
  expireUpdate,
  FINGERPRINT_MISMATCH,
  hintSignal,
  initiationUpdate,
  lookUpdate,
  outcomeUpdate,
  type PaymentInput,
  type PaymentResult,
  type PaymentWorkflow,
  type PaymentWorkflowType,
  paymentQuery,
  REOPENING,
  type RefusalDetails,
  recheckUpdate,
  refreshUpdate,
  rejectPayoutUpdate,
  rejectUpdate,
  resendNotificationUpdate,
  resolveUpdate,
  startState,
} from './messages.js';
import { countAmbiguous, countBudgetWait } from './metrics.js';
import { ProviderLooks } from './provider-looks.js';
import {
  approve,
  hint,
  initiationRequest,
  nothing,
  notificationToResend,
  payoutRejection,
  type Reader,
  recheckRequest,
  rejection,
  request,
  resolution,
} from './schemas.js';
import { merchantOf, showAgain, showBeginning, showChange, showGivenUp } from './show-payment.js';

/** Characters of the words beside a timer: with the encryption they stay below the 400 bytes that Temporal takes. */
const MAX_SUMMARY_LENGTH = 100;

/**
 * Runs a payment from its present state to its end: every notification was delivered or given up, and nothing is left
 * to ask the provider.
 *
 * A request to cancel the workflow has no effect, because a request for money can't be taken back. A link is ended with
 * the API's expire.
 */
export function runPayment(input: PaymentInput, send: Send): Promise<EndedPayment> {
  return CancellationScope.nonCancellable(() => new Interpreter(input, send).run());
}

/** Sends a payment to the provider, as its kind is sent. */
type Send = (provider: ActivityCalls, when: SentIf, heldSince?: number) => Promise<InitiationOutcome>;

/** A request without its number, which the interpreter adds. */
type Request = RequestEvent extends infer Event ? (Event extends RequestEvent ? Omit<Event, 'request'> : never) : never;

/**
 * Runs the payment machine. Messages go into one inbox. One loop takes them out, one at a time, and does the one thing
 * that the machine asks for next. It takes no message while that is under way, so nothing can interleave with it.
 */
class Interpreter {
  private payment: PaymentState;
  /** Kept beside the state: no decision depends on it. */
  private timeline: Timeline;
  /** The first worker may have taken the order long after it was made. */
  private readonly orderedAt: number;
  private readonly provider: ActivityCalls;
  private readonly inbox: PaymentEvent[] = [];
  private readonly replies = new Map<number, Reply>();
  private readonly looks: ProviderLooks;
  private requests = 0;
  private isHandingOver = false;
  private timer: { readonly until: number; readonly scope: CancellationScope; isOver: boolean } | undefined;
  /** Whether this workflow task has a command: something to do was begun since the last wait. */
  private hasCommand = false;
  private leavesCommands = false;

  constructor(
    private readonly input: PaymentInput,
    private readonly send: Send,
  ) {
    // A payment whose link was made before may begin long after its start, when there is something to do.
    const startedAt = input.requested === undefined ? Date.now() : workflowInfo().startTime.getTime();
    const { state, timeline = EMPTY_TIMELINE } = startState(input, startedAt);
    this.payment = state;
    this.orderedAt = isFirstRun() ? workflowInfo().startTime.getTime() : state.createdAt;
    this.timeline = timeline;
    this.provider = activityCalls(input.terms);
    this.looks = new ProviderLooks(this.provider);
    this.setHandlers();
  }

  async run(): Promise<EndedPayment> {
    if (isFirstRun()) showBeginning(this.input, this.payment);
    let todo = this.take({ kind: 'begin' });
    for (;;) {
      const message = this.inbox.shift();
      if (message !== undefined) {
        todo = this.take(await this.withMayHaveBeenSent(message));
      } else if (this.looks.areWaiting && (todo.kind === 'wait' || todo.kind === 'end')) {
        this.payment = await this.looks.answer(this.payment);
        todo = this.take({ kind: 'time' });
      } else if (todo.kind === 'wait') {
        await (isHistoryLong() && this.payment.delivering === undefined ? this.handOver() : this.wait(todo));
        if (this.inbox.length === 0) todo = this.take({ kind: 'time' });
      } else if (todo.kind === 'end') {
        // Yield once even if nothing is to do: the message that reopened the payment arrives in that turn.
        await this.waitFor(() => this.isCalled || allHandlersFinished());
        if (!this.isCalled) return this.ended();
      } else {
        todo = this.take(await this.perform(todo));
      }
    }
  }

  /** Asks, before a withdrawal, whether the payment may have been sent: this run may not know it. */
  private async withMayHaveBeenSent(message: PaymentEvent): Promise<PaymentEvent> {
    const { phase, order } = this.payment;
    const isWithdrawal =
      (message.kind === 'expire' && (phase.kind === 'waiting' || phase.kind === 'held')) ||
      (message.kind === 'rejectPayout' && phase.kind === 'held');
    return isWithdrawal ? { ...message, mayHaveBeenSent: await this.provider.mayHaveBeenSent(order) } : message;
  }

  /** Lets the machine take an event, and shows the change to operators and lists. */
  private take(event: PaymentEvent): Exclude<Todo, { kind: 'deliver' }> {
    const before = this.payment;
    const now = Date.now();
    const { payment, todo, replies } = step(before, event, now);
    this.payment = payment;
    this.timeline = recordStep(this.timeline, { before, event, after: payment, replies }, now);
    for (const reply of replies) this.replies.set(reply.request, reply);
    if (event.kind === 'status') this.looks.see(event.transId, event.answer);
    showChange(before, payment);
    if (event.kind === 'delivered') showGivenUp(payment, event.number);
    if (todo.kind !== 'deliver') return todo;
    // Started at once: a message that waits in the inbox must not come first.
    void this.deliver(todo);
    return this.take({ kind: 'time' });
  }

  /** Does what the machine asks for, and returns the answer as an event. */
  private async perform(todo: Exclude<Todo, { kind: 'wait' | 'end' | 'deliver' }>): Promise<PaymentEvent> {
    const { order } = this.payment;
    // A payout or a request on the phone is sent in one task, and answered in another.
    this.hasCommand = todo.kind !== 'send';
    switch (todo.kind) {
      case 'send': {
        const outcome = await this.send(
          this.provider,
          sentIf(this.payment, Date.now(), this.orderedAt),
          heldSince(this.payment),
        );
        if (outcome.kind === 'ambiguous') countAmbiguous(this.payment);
        return { kind: 'sent', outcome };
      }
      case 'lookUp':
        return { kind: 'listed', answer: await this.provider.lookUp(order) };
      case 'askStatus': {
        const { transId, isClaim } = todo;
        return { kind: 'status', transId, isClaim, answer: await this.provider.askStatus(order, transId) };
      }
      case 'expire': {
        const { transId, isUnissued } = todo;
        const answer = isUnissued
          ? this.provider.expireUnissued(order, transId)
          : this.provider.expireLink(order, transId);
        return { kind: 'expired', transId, answer: await answer };
      }
      case 'checkReset':
        return { kind: 'resetChecked', mayBeReset: await this.provider.mayHaveBeenReset() };
    }
  }

  /**
   * Notifies the merchant, concurrently with everything else. What it says stands in history before a worker is handed
   * it: Temporal hands an activity out only once it has committed the workflow task that asks for it.
   */
  private async deliver({ number, at, tries }: Extract<Todo, { kind: 'deliver' }>): Promise<void> {
    this.hasCommand = true;
    const outcome = await this.provider.notify(merchantNotification(this.payment, number), tries);
    if (outcome.kind === 'failed')
      log.warn('the merchant has not taken a notification', { number, reason: outcome.reason });
    this.inbox.push({ kind: 'delivered', number, at, outcome });
  }

  /**
   * Waits for the time or for a message, whichever comes first. Cancelling a timer costs an event, so a timer for the
   * same time is kept, and one that is no longer needed is left alone until the next is set.
   *
   * No task in which it waits is left without a command. When another follows one at once, the SDK takes that for a
   * heartbeat: a worker that begins with the history hands over the news of both together, and a replay one after the
   * other, if the second has an update. Commands may come in another order then, and the workflow stands still
   * (docs/decisions/0017).
   */
  private async wait({ until, summary }: Extract<Todo, { kind: 'wait' }>): Promise<void> {
    const pause = until === undefined ? undefined : until - Date.now();
    if (pause !== undefined && pause <= 0) return;
    if (this.timer?.until !== until || this.timer?.isOver) this.setTimer(until, summary);
    if (!this.hasCommand) this.leaveCommand();
    const mayHandOver = this.payment.delivering === undefined;
    await this.waitFor(() => this.isCalled || this.timer?.isOver === true || (mayHandOver && isHistoryLong()));
  }

  /** Leaves the workflow task, unless nothing has to be waited for. */
  private waitFor(isOver: () => boolean): Promise<void> {
    this.hasCommand = false;
    return condition(isOver);
  }

  /** Leaves a command in a task that has none. The first is that of patched() itself. */
  private leaveCommand(): void {
    const isNew = patched('no-empty-task');
    if (this.leavesCommands) showAgain(this.payment);
    this.leavesCommands = isNew;
  }

  private setTimer(until: number | undefined, summary: string): void {
    if (this.timer?.isOver === false) {
      this.timer.scope.cancel();
      this.hasCommand = true;
    }
    this.timer = undefined;
    if (until === undefined) return;
    this.hasCommand = true;
    if (waitsForBudget(this.payment, Date.now())) countBudgetWait(this.payment);
    const timer = { until, scope: new CancellationScope(), isOver: false };
    this.timer = timer;
    timer.scope
      .run(() => sleep(until - Date.now(), { summary: summary.slice(0, MAX_SUMMARY_LENGTH) }))
      .then(
        () => {
          timer.isOver = true;
        },
        () => undefined,
      );
  }

  /**
   * Continues as new with the same state. Handlers finish first. If a signal arrives in the meantime, the server
   * refuses to continue as new, and it is tried again with the signal's effect in the state.
   */
  private async handOver(): Promise<void> {
    this.isHandingOver = true;
    this.take({ kind: 'handOver' });
    await this.waitFor(() => this.isCalled || allHandlersFinished());
    if (this.isCalled) return;
    const carryOn = makeContinueAsNewFunc<PaymentWorkflow>({
      workflowType: workflowInfo().workflowType as PaymentWorkflowType,
    });
    await carryOn({ ...this.input, carried: this.payment, timeline: this.timeline });
  }

  private result(): PaymentResult {
    return {
      payment: toPayment(this.payment),
      rejection: rejectionOf(this.payment),
    };
  }

  private ended(): EndedPayment {
    return { v: 1, ...this.result(), state: this.payment, timeline: this.timeline };
  }

  /** Each handler posts to the inbox, or waits for the payment to change; none calls the provider itself. */
  private setHandlers(): void {
    onQuery(paymentQuery, () => this.ended());
    onSignal(hintSignal, hint, ({ transId, status }) => {
      this.inbox.push(
        transId === undefined ? { kind: 'hintWithoutTransaction', status } : { kind: 'hint', transId, status },
      );
    });
    onUpdate(
      initiationUpdate,
      initiationRequest,
      () =>
        shielded(async () => {
          const isHeld = () => this.payment.phase.kind === 'held';
          await condition(() => this.isSettled || isHeld() || transIdOf(this.payment) !== undefined);
          return { ...this.result(), requestId: this.input.requestId };
        }),
      ({ fingerprint }) => {
        if (fingerprint === this.input.fingerprint) return;
        throw refusal({ type: FINGERPRINT_MISMATCH, words: 'the payment was started with another body' });
      },
    );
    onUpdate(outcomeUpdate, nothing, () =>
      shielded(async () => {
        await condition(() => this.isSettled);
        return this.result();
      }),
    );
    onUpdate(lookUpdate, nothing, () => shielded(() => this.looks.look()));
    this.handleRequest(expireUpdate, request, ({ by }) => ({ kind: 'expire', by }));
    this.handleRequest(approveUpdate, approve, ({ by, keys, digest, at }) => ({
      kind: 'approve',
      by,
      keys,
      digest,
      at,
    }));
    this.handleRequest(rejectPayoutUpdate, payoutRejection, ({ by, why }) => ({ kind: 'rejectPayout', by, why }));
    this.handleRequest(refreshUpdate, request, ({ by }) => ({ kind: 'refresh', by }));
    this.handleRequest(recheckUpdate, recheckRequest, ({ by }) => ({ kind: 'recheck', by }));
    this.handleRequest(resolveUpdate, resolution, (decided) => ({ kind: 'decide', resolution: decided }));
    this.handleRequest(rejectUpdate, rejection, (rejected) => ({ kind: 'reject', rejection: rejected }));
    this.handleRequest(resendNotificationUpdate, notificationToResend, ({ number, by }) => ({
      kind: 'resendNotification',
      number,
      by,
    }));
  }

  /** Whether a message waits, or somebody who looks. */
  private get isCalled(): boolean {
    return this.inbox.length > 0 || this.looks.areWaiting;
  }

  /** Whether requests that wait for the outcome can be answered: nothing more of it is to come in this run. */
  private get isSettled(): boolean {
    return this.isHandingOver || isFinalPayment(this.payment);
  }

  /** Refuses a request that is clearly wrong before it is recorded; any other waits for the machine's reply. */
  private handleRequest<Args extends [] | [unknown]>(
    update: UpdateDefinition<PaymentResult, Args>,
    read: Reader<Argument<Args>>,
    requestOf: (value: Argument<Args>) => Request,
  ): void {
    onUpdate(
      update,
      read,
      (value) =>
        shielded(async () => {
          const number = ++this.requests;
          this.inbox.push({ ...requestOf(value), request: number });
          await condition(() => this.replies.has(number));
          const reply = this.replies.get(number);
          this.replies.delete(number);
          if (reply?.kind === 'refused') throw refusal(reply);
          return this.result();
        }),
      (value) => {
        const objection = objectionTo(this.payment, { ...requestOf(value), request: 0 }, Date.now());
        if (objection !== undefined) throw refusal(objection);
      },
    );
  }
}

/** Reports whether the payment was created with this run: it goes on with no other's work. */
function isFirstRun(): boolean {
  const { continuedFromExecutionRunId, workflowType } = workflowInfo();
  return continuedFromExecutionRunId === undefined && workflowType !== REOPENING;
}

/**
 * Runs a handler in a scope of its own: handlers run in the workflow's root scope, which a request to cancel cancels.
 */
function shielded<T>(handle: () => Promise<T>): Promise<T> {
  return CancellationScope.nonCancellable(handle);
}

/** Makes the failure that refuses a message. Temporal passes it to the API, which turns it into a problem document. */
function refusal({
  type,
  words,
  force,
  transactionAmount,
}: Omit<Refusal, 'type'> & { readonly type: string }): ApplicationFailure {
  const details = force === undefined ? [] : [{ force, transactionAmount } satisfies RefusalDetails];
  return ApplicationFailure.create({ type, message: words, nonRetryable: true, details });
}

/** Makes a notification for the merchant, with the payment as it is now. */
function merchantNotification(state: PaymentState, number: number): MerchantNotification {
  const notification = state.notifications.find((one) => one.number === number);
  if (notification === undefined) throw new Error(`the payment has no notification ${number}`);
  const { type, at, delivery } = notification;
  const payment = forMerchant(toPayment(state));
  const takenBy = delivery.kind === 'due' ? delivery.takenBy : undefined;
  const merchant = merchantOf();
  return {
    id: notificationId(payment.id, notification),
    type,
    timestamp: isoTime(at),
    ...(merchant !== undefined && { merchant }),
    payment,
    ...(takenBy && { takenBy }),
  };
}
