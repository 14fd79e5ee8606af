import { recordStep } from '../views/timeline.js';
import { EMPTY_TIMELINE, type Timeline } from '../views/timeline-entry.js';
import type { PaymentOrder, PaymentTerms } from '../words/order.js';
import type { InitiationOutcome } from '../words/outcome.js';
import { openPayment, type PaymentState } from '../words/payment-state.js';
import type { PaymentEvent } from './events.js';
import { step } from './machine.js';

/**
 * A request for a link that was sent before the payment's workflow began. Times in ms since the epoch, by the sender's
 * clock.
 */
export interface LinkRequest {
  readonly outcome: InitiationOutcome;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** A payment, and what has happened to it. */
export interface Beginning {
  readonly payment: PaymentState;
  readonly timeline: Timeline;
}

/** By how much the sender's clock may differ from Temporal's, in ms. One that differs more is not gone by. */
const MAX_SKEW_MS = 10_000;

/**
 * Opens a payment as its workflow begins with it: nothing was sent yet, or a link was asked for before.
 *
 * @param startedAt when the workflow was started, in ms since the epoch, by Temporal's clock
 */
export function beginPayment(
  order: PaymentOrder,
  terms: PaymentTerms,
  startedAt: number,
  request?: LinkRequest,
): Beginning {
  if (request === undefined) return { payment: openPayment(order, terms, startedAt), timeline: EMPTY_TIMELINE };
  const { outcome, sentAt, answeredAt } = request;
  const skew = startedAt - answeredAt;
  const shift = Math.abs(skew) > MAX_SKEW_MS ? skew : 0;
  const opened = { payment: openPayment(order, terms, sentAt + shift), timeline: EMPTY_TIMELINE };
  const begun = take(opened, { kind: 'begin' }, sentAt + shift);
  return take(begun, { kind: 'sent', outcome }, answeredAt + shift);
}

function take({ payment: before, timeline }: Beginning, event: PaymentEvent, now: number): Beginning {
  const { payment, replies } = step(before, event, now);
  return { payment, timeline: recordStep(timeline, { before, event, after: payment, replies }, now) };
}
