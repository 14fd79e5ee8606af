import type { PaymentEvent } from '../../src/payments/machine/events.js';
import type { Step } from '../../src/payments/machine/machine.js';
import type { PaymentOrder, PayoutOrder } from '../../src/payments/words/order.js';
import { digestOf } from '../../src/payments/words/order-digest.js';
import { failureCodeOf } from '../../src/payments/words/payment-state.js';
import type { Violation } from './invariants.js';
import type { Book, Situation } from './situation.js';

/*
 * The book of a held payout: who has approved or stopped it, by the model's own rules.
 */

/** Keeps the book of a held payout after one step, and adds the rules that the step breaks. */
export function withHeld(
  before: Book,
  situation: Situation,
  event: PaymentEvent,
  step: Step,
  now: number,
  violations: Violation[],
): Book {
  const { order, createdAt, terms } = situation.payment;
  if (!isHeldOrder(order)) return before;
  let book = before;
  const isLate = order.approval === true && !book.isApproved && now >= createdAt + (terms.approvalWithinMs ?? 0);
  if (situation.payment.phase.kind === 'held' && isLate) book = { ...book, isStopped: 'late' };
  const isRefused = step.replies.some((reply) => reply.kind === 'refused');
  if (event.kind === 'approve' && !isRefused) {
    const isSame = event.by !== 'manager' && event.by !== 'accountant';
    const isWrong = isSame || event.digest !== digestOf(order);
    if (isWrong || order.approval !== true || book.isStopped !== undefined) {
      const what = `an approval by the ${event.by} is taken, of what has the digest ${event.digest}`;
      violations.push({ invariant: 'approvals', what });
    } else book = { ...book, isApproved: true, approvedAt: before.approvedAt ?? now };
    if (before.isApproved && step.payment.release?.approvals !== situation.payment.release?.approvals) {
      violations.push({ invariant: 'approvals', what: 'a second approval takes the place of the first' });
    }
  }
  if (event.kind === 'rejectPayout' && !isRefused) book = { ...book, isStopped: 'rejected' };
  if (event.kind === 'expire' && !isRefused && situation.payment.phase.kind === 'held') {
    book = { ...book, isStopped: 'withdrawn' };
  }
  const isNamed = event.kind === 'hint' || event.kind === 'hintWithoutTransaction';
  if (isNamed && isUnsent(situation) && step.payment.phase.kind !== 'review') {
    violations.push({ invariant: 'heldNamed', what: `a notification leaves the payout ${step.payment.phase.kind}` });
  }
  const isFound = situation.payment.phase.kind === 'searching' && step.payment.phase.kind === 'following';
  if (isFound && !isReleased(book, order, now)) {
    violations.push({ invariant: 'heldSent', what: 'it was sent, and is followed, though nothing has released it' });
  }
  const code = failureCodeOf(step.payment);
  if (code === 'not_approved' && book.isStopped !== 'rejected' && book.isStopped !== 'late') {
    violations.push({ invariant: 'approvals', what: 'it ends as not approved, and nobody has rejected it in time' });
  }
  return book;
}

/** Lists the rules that sending a payout now breaks, because it has to wait. */
export function heldViolations({ payment, book, todo, now }: Situation): Violation[] {
  const { order } = payment;
  if (todo.kind !== 'send' || !isHeldOrder(order)) return [];
  const sent = (what: string): Violation[] => [{ invariant: 'held', what: `it is sent, and ${what}` }];
  if (book.isStopped !== undefined) return sent(`it was stopped (${book.isStopped})`);
  if (order.approval && !book.isApproved) return sent('nobody has approved it');
  return now < (order.sendAt ?? now) ? sent(`its date is ${(order.sendAt ?? now) - now} ms ahead`) : [];
}

function isReleased(book: Book, order: PayoutOrder, now: number): boolean {
  return book.isStopped === undefined && (!order.approval || book.isApproved === true) && now >= (order.sendAt ?? now);
}

function isHeldOrder(order: PaymentOrder): order is PayoutOrder {
  return order.kind === 'payout' && (order.approval === true || order.sendAt !== undefined);
}

/** Reports whether the payout is held, or its first request is about to leave. */
function isUnsent({ payment: { phase } }: Situation): boolean {
  return phase.kind === 'held' || (phase.kind === 'sending' && phase.cause === 'order' && phase.unsent === undefined);
}
