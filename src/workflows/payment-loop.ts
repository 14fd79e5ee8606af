import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, Shown, Step } from '../activities/activities.js';
import type { Done, Told } from '../book/turn.js';
import { paymentSearchAttributes as attributes } from '../temporal/search-attributes.js';
import { readPaymentInput } from './inputs.js';
import { bellSignal, type PaymentInput } from './messages.js';

/** The activity that sends a payment to the provider. */
type Send = 'createLink' | 'requestOnPhone' | 'sendPayout';

/** Time limit of a turn, what it asks the provider, and the turn after that, in ms. It gives up earlier by itself. */
const TURN_MS = 60_000;

/**
 * Time limit for a request that moves money to wait for a worker, in ms. If no worker took it, the next turn closes the
 * attempt: it was not sent, and never will be.
 */
const UNTIL_SENT_MS = 10 * 60_000;

/** Pauses while the book is away, in ms: they double, and differ by a fifth, so that not all come back at once. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** Characters of the words beside a timer: with the encryption they stay below the 400 bytes that Temporal takes. */
const MAX_SUMMARY_LENGTH = 100;

const ONCE = { maximumAttempts: 1 };

/**
 * Runs a payment: takes its turn in the book, does what that says, and so on to its end. A bell says that something was
 * written into the book for it; what that is, the next turn tells.
 *
 * A request to cancel the workflow has no effect, because a request for money can't be taken back. A link is ended with
 * the API's expire.
 */
export function runPayment(given: PaymentInput, send: Send): Promise<void> {
  const { id } = readPaymentInput(given);
  return CancellationScope.nonCancellable(() => new PaymentLoop(id, send).run());
}

class PaymentLoop {
  private isRung = false;
  private shown: Shown | undefined;
  /** The highest version of the state that the book has told: a lower one means that the book went back. */
  private told: Told = { version: 0, at: 0 };

  constructor(
    private readonly id: PaymentInput['id'],
    private readonly send: Send,
  ) {
    setHandler(bellSignal, () => {
      this.isRung = true;
    });
  }

  async run(): Promise<void> {
    let step = await this.take({ begins: true });
    for (;;) {
      const { todo } = step;
      switch (todo.kind) {
        case 'send':
          step = await this.take({ done: await this.sent(step, todo.withinMs) });
          break;
        case 'ask':
          step = await this.take({});
          break;
        case 'wait':
          await this.wait(todo.until && todo.until - step.at, todo.summary);
          step = await this.take({});
          break;
        case 'end':
          if (!this.isRung) return;
          step = await this.take({});
      }
    }
  }

  private take(taking: { readonly begins?: true; readonly done?: Done }): Promise<Step> {
    const { takeTurn } = proxyLocalActivities<Activities>({
      startToCloseTimeout: TURN_MS,
      retry: ONCE,
      summary: 'Take the turn, and ask the provider what it asks',
    });
    return this.untilTheBookAnswers(() => takeTurn(this.id, { ...taking, told: this.told }));
  }

  /**
   * Has a worker send the payment. Temporal hands the activity to one worker at most. Whatever becomes of it, and
   * whatever somebody completes it with by hand, the next turn knows from the attempt's row whether anything may have
   * left.
   */
  private async sent({ token = 0, attempt }: Step, withinMs: number): Promise<Done> {
    const activities = proxyActivities<Activities>({
      startToCloseTimeout: withinMs,
      scheduleToStartTimeout: UNTIL_SENT_MS,
      retry: ONCE,
      summary: 'Send the payment',
    });
    try {
      // Temporal drops the time limits of an activity that somebody pauses: the attempt is given up all the same.
      await CancellationScope.withTimeout(UNTIL_SENT_MS + 2 * withinMs, () =>
        activities[this.send](this.id, { token, attempt }),
      );
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
    }
    return { token, kind: 'sent' };
  }

  /** Sets the timer first, then looks whether the bell was rung meanwhile: no message waits for the timer. */
  private async wait(ms: number | undefined, summary: string): Promise<void> {
    if (workflowInfo().continueAsNewSuggested && !this.isRung) {
      await continueAsNew<(input: PaymentInput) => Promise<void>>({ v: 1, id: this.id });
    }
    const isRung = () => this.isRung;
    if (ms === undefined) return await condition(isRung);
    await condition(isRung, Math.max(1, ms), { summary: summary.slice(0, MAX_SUMMARY_LENGTH) });
  }

  /** Repeats a call while the book is away, or the payment can't be read. A bell may be rung for what it then takes. */
  private async untilTheBookAnswers(call: () => Promise<Step>): Promise<Step> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      this.isRung = false;
      try {
        const step = await call();
        this.show(step);
        return step;
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        if (isUnknown(error)) throw ApplicationFailure.nonRetryable('the book has no such payment', 'NoSuchPayment');
        log.warn('the payment waits, because its turn could not be taken', { error: error.cause?.message });
        await sleep(pauseMs * (1 + Math.random() / 5), { summary: 'The book is away' });
      }
    }
  }

  /** Shows operators what has changed. */
  private show({ shown, version, at }: Step): void {
    if (version >= this.told.version) this.told = { version, at };
    const { status, transId } = shown;
    if (status !== this.shown?.status || transId !== this.shown.transId) {
      upsertSearchAttributes([
        { key: attributes.status, value: status },
        ...(transId === undefined ? [] : [{ key: attributes.transId, value: transId }]),
      ]);
    }
    setCurrentDetails(shown.details);
    this.shown = shown;
  }
}

function isUnknown({ cause }: ActivityFailure): boolean {
  return cause instanceof ApplicationFailure && cause.type === 'NoSuchPayment';
}
