import {
  allHandlersFinished,
  condition,
  log,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { withNotification } from '../payments/notification.js';
import type { InitiationOutcome } from '../payments/outcome.js';
import { type Change, openPayment, type PaymentState } from '../payments/payment-state.js';
import { toPayment } from '../payments/to-payment.js';
import { paymentSearchAttributes } from '../temporal/search-attributes.js';
import { describePayment } from './describe-payment.js';
import {
  type EndedPayment,
  type PaymentInput,
  type PaymentResult,
  type PaymentWorkflowType,
  paymentQuery,
} from './messages.js';
import { type World, worldOf } from './world.js';

/** Events of history after which a run hands over to a new one; the rest of a run takes far fewer than the 2,000 that it may have. */
const HISTORY_LIMIT = 1_500;

/**
 * One run of a payment's workflow: its state, and the one way to change it. What the operator sees in the Web UI
 * and what the merchant is told follow from the state, here and nowhere else.
 */
export class PaymentRun {
  state: PaymentState;
  readonly world: World;
  /** A request that begins the payment is on its way. */
  isSending = false;
  /** Answered and unanswered looks of this run, for those who wait for the next one. */
  looks = 0;
  /** Attempts of this run to end the link, with the look that follows. */
  closings = 0;
  /** Set by whatever should wake a waiting payment. */
  private awake = false;
  private handingOver = false;

  constructor(private readonly input: PaymentInput) {
    this.state = input.carried ?? openPayment(input.order, input.terms, Date.now());
    this.world = worldOf(input.terms);
    setHandler(paymentQuery, () => this.result());
    this.describe();
  }

  get fingerprint(): string {
    return this.input.fingerprint;
  }

  get requestId(): string {
    return this.input.requestId;
  }

  result(): PaymentResult {
    return { payment: toPayment(this.state), rejection: this.state.rejection };
  }

  /** Takes a change over: into search attributes and details where it shows, and into the notifications to deliver. */
  apply({ state, event }: Change): void {
    const before = this.state;
    this.state =
      event === undefined
        ? state
        : { ...state, notifications: withNotification(state.notifications, event, Date.now()) };
    if (state.status !== before.status || state.transId !== before.transId) {
      log.info('payment changed', { from: before.status, to: state.status });
      upsertSearchAttributes([
        ...(state.status === before.status
          ? []
          : [{ key: paymentSearchAttributes.status, value: state.status }]),
        ...(state.transId === undefined || state.transId === before.transId
          ? []
          : [{ key: paymentSearchAttributes.transId, value: state.transId }]),
      ]);
    }
    this.describe();
    // Whoever sleeps is woken for news alone. A timer that is cancelled for nothing costs events; and where a query is
    // answered just as a local activity ends, the SDK may record the cancellation where a replay can't find it.
    if (isNews(before, state)) this.wake();
  }

  /** Runs the one request that may begin the payment; nothing is decided about other transactions meanwhile. */
  async sending(send: () => Promise<InitiationOutcome>): Promise<InitiationOutcome> {
    this.isSending = true;
    try {
      return await send();
    } finally {
      this.isSending = false;
    }
  }

  /** Wakes the payment from {@link sleepUntil}. */
  wake(): void {
    this.awake = true;
  }

  /** Waits until a time (ms since the epoch) or until woken; true when woken. */
  async sleepUntil(time: number, summary: string): Promise<boolean> {
    this.awake = false;
    const pause = time - Date.now();
    return pause > 0 && (await condition(() => this.awake, pause, { summary }));
  }

  /** Nobody who waits for the end will see it in this run. */
  get ending(): boolean {
    return this.state.final || this.handingOver;
  }

  /** The history has grown so much that a new run should take over. */
  get long(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return historyLength >= HISTORY_LIMIT || continueAsNewSuggested;
  }

  /**
   * Begins a new run with the same state when the history has grown. Handlers finish first; a signal that comes in
   * meanwhile makes the server refuse the hand-over, and it is tried again with the signal's effect in the state.
   */
  async handOverWhenLong(): Promise<void> {
    if (!this.long) return;
    this.handingOver = true;
    await condition(allHandlersFinished);
    const continueWith = makeContinueAsNewFunc<(input: PaymentInput) => Promise<EndedPayment>>({
      workflowType: workflowInfo().workflowType as PaymentWorkflowType,
    });
    await continueWith({ ...this.input, carried: this.state });
  }

  private describe(): void {
    setCurrentDetails(describePayment(this.state));
  }
}

function isNews(before: PaymentState, after: PaymentState): boolean {
  return (
    before.status !== after.status ||
    before.transId !== after.transId ||
    before.final !== after.final ||
    before.held !== after.held
  );
}
