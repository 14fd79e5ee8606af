import type { Todo } from '../payments/machine/plan.js';
import type { Reply } from '../payments/machine/replies.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import type { Kept } from './content.js';
import type { Notified } from './notifications.js';

/** What a payment has to do next. */
export interface Turn {
  readonly todo: Todo;
  /** For what goes to the provider: an answer has to name it. */
  readonly token?: number | undefined;
  /** The number of the attempt, where something is to be sent. */
  readonly attempt: number;
  /** The next turn of the run is told it: a lower one then shows that the book went back. */
  readonly version: number;
  /** Time of the turn, in ms since the epoch. */
  readonly at: number;
  /** The payment before and after the turn: one object where nothing has changed. */
  readonly before: PaymentState;
  readonly after: PaymentState;
}

/** A payment in the course of a turn. */
export interface Course {
  readonly kept: Kept;
  readonly attempt: number;
  readonly changedAt: number;
  readonly replies: readonly Reply[];
  readonly notified: readonly Notified[];
}
