import type { Beginning } from '../../src/payments/machine/beginning.js';
import type { DeliveryEvent, HintEvent, PaymentEvent, RequestEvent } from '../../src/payments/machine/events.js';
import { type Step, step } from '../../src/payments/machine/machine.js';
import { hasGivenUp } from '../../src/payments/machine/notification.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import { objectionTo } from '../../src/payments/machine/requests.js';
import { sentIf } from '../../src/payments/machine/sending.js';
import { recordStep } from '../../src/payments/views/timeline.js';
import { EMPTY_TIMELINE, type Timeline } from '../../src/payments/views/timeline-entry.js';
import { amountPaidOf } from '../../src/payments/views/to-payment.js';
import { isFinalPayment, type PaymentState, statusOf, transIdOf } from '../../src/payments/words/payment-state.js';
import { isoTime } from '../../src/payments/words/time.js';
import { type Act, activityAct, givenUpAfter, replyAct } from './workflow-commands.js';

export type Message =
  | RequestEvent
  | HintEvent
  | DeliveryEvent
  | Extract<PaymentEvent, { readonly kind: 'hintWithoutTransaction' }>;

const MESSAGES = [
  'hint',
  'hintWithoutTransaction',
  'delivered',
  'expire',
  'approve',
  'rejectPayout',
  'refresh',
  'decide',
  'reject',
  'recheck',
  'resendNotification',
];

export function isMessage(event: PaymentEvent): event is Message {
  return MESSAGES.includes(event.kind);
}

export function isAnswer({ kind }: PaymentEvent): boolean {
  return ['sent', 'listed', 'status', 'expired', 'resetChecked'].includes(kind);
}

/** The timer of a run; times in ms since the epoch. */
export interface Timer {
  readonly until: number;
  readonly seq: number;
  isOver: boolean;
}

/** A payment as the machine has it, and what its workflow is expected to do. */
export class ExpectedPayment {
  timeline: Timeline | undefined;
  todo: Todo = { kind: 'end' };
  #acts: Act[] = [];
  /** Whether something was begun since the last wait, so that the workflow task has a command. */
  #hasCommand = false;
  /** Whether the run has had a task in which there was nothing to do. */
  #hasMarker = false;

  constructor(public payment: PaymentState) {}

  /** Continues from the events before the workflow's beginning. */
  beginAs({ payment, timeline }: Beginning, now: number): void {
    const { todo } = step(payment, { kind: 'begin' }, now);
    [this.payment, this.timeline, this.todo] = [payment, timeline, todo];
  }

  /** Returns the expected acts since the last call. */
  acts(): Act[] {
    const acts = this.#acts;
    this.#acts = [];
    return acts;
  }

  /** Reports whether an answer belongs to the question being asked. */
  expects(event: PaymentEvent): boolean {
    const { todo, payment } = this;
    switch (event.kind) {
      case 'sent':
        return todo.kind === 'send';
      case 'listed':
        return todo.kind === 'lookUp';
      case 'status':
        return todo.kind === 'askStatus' && todo.transId === event.transId && todo.isClaim === event.isClaim;
      case 'expired':
        return todo.kind === 'expire' && todo.transId === event.transId;
      case 'resetChecked':
        return todo.kind === 'checkReset';
      case 'delivered':
        return payment.delivering?.number === event.number && payment.delivering.at === event.at;
      case 'time':
      case 'handOver':
        return todo.kind === 'wait';
      default:
        return true;
    }
  }

  /** Returns the step that an event would cause, which may be the first of a run. */
  after(event: PaymentEvent, now: number, isFirst: boolean): Step {
    const payment = isFirst ? step(this.payment, { kind: 'begin' }, now).payment : this.payment;
    return step(payment, event, now);
  }

  /** Returns the reason why a request would be refused before it is recorded; `undefined` if it wouldn't be. */
  objects(event: Message, now: number) {
    return 'request' in event ? objectionTo(this.payment, event, now) : undefined;
  }

  /** A request that is refused before it is written down. */
  expectRefusal(event: Message, now: number): void {
    const objection = this.objects(event, now);
    if (objection === undefined || !('request' in event)) return;
    this.#acts.push(['reply', event.request, 'refused', objection.type]);
  }

  /** The payment is carried on by another run. */
  expectHandOver(): void {
    this.#acts.push(['carryOn', this.payment, this.timeline]);
  }

  /** Lets the machine take an event, with its immediate consequences. */
  take(event: PaymentEvent, now: number): void {
    const before = this.payment;
    const { payment, todo, replies } = step(before, event, now);
    if (event.kind === 'begin') this.#hasCommand = this.#hasMarker = false;
    if (event.kind === 'sent' && this.#isMoney(this.todo)) this.#acts.push(['cancelTimer']);
    this.payment = payment;
    this.timeline = recordStep(this.timeline ?? EMPTY_TIMELINE, { before, event, after: payment, replies }, now);
    this.todo = todo;
    const [status, transId] = [statusOf(payment), transIdOf(payment)];
    const isFinal = isFinalPayment(payment);
    const isNotified = ['REVIEW', 'FAILED'].includes(status) && status !== statusOf(before);
    const isPaid = status === 'SUCCESSFUL' && (status !== statusOf(before) || transId !== transIdOf(before));
    const amountPaid = amountPaidOf(payment);
    const attributes = [
      ...(status === statusOf(before) ? [] : [['PaymentStatus', status]]),
      ...(isFinal === isFinalPayment(before) && !isNotified ? [] : [['PaymentFinal', isFinal]]),
      ...(transId === undefined || transId === transIdOf(before) ? [] : [['TransId', transId]]),
      // One of an outcome before a review is taken out again.
      ...(isPaid && (amountPaid !== undefined || payment.reviews > 0) ? [['AmountPaid', amountPaid ?? null]] : []),
    ];
    if (attributes.length > 0) this.#acts.push(['searchAttributes', Object.fromEntries(attributes)]);
    const isGivenUp = hasGivenUp(payment.notifications);
    if (isGivenUp !== hasGivenUp(before.notifications))
      this.#acts.push(['searchAttributes', { NotificationGivenUp: isGivenUp || null }]);
    const hold = changesOfHold(before, payment);
    if (hold.length > 0) this.#acts.push(['searchAttributes', Object.fromEntries(hold)]);
    this.#acts.push(...replies.map(replyAct));
    if (todo.kind !== 'deliver') return;
    this.#acts.push(activityAct(payment, todo, now));
    this.#hasCommand = true;
    this.take({ kind: 'time' }, now);
  }

  #isMoney({ kind }: Todo): boolean {
    return kind === 'send' && this.payment.order.kind !== 'link';
  }

  /** Does what the interpreter does next, as far as it gets with this timer and no further message. */
  goOn(now: number, timer: Timer | undefined): void {
    for (;;) {
      const { todo } = this;
      if (todo.kind === 'wait' && todo.until !== undefined && todo.until <= now) {
        this.take({ kind: 'time' }, now);
      } else if (todo.kind === 'wait') {
        if (timer?.until !== todo.until || timer?.isOver === true) this.#setTimer(todo.until, now, timer);
        if (!this.#hasCommand) this.#leaveCommand();
        this.#hasCommand = false;
        return;
      } else if (todo.kind === 'end') {
        this.#acts.push(['end', this.payment, this.timeline]);
        return;
      } else {
        if (this.#isMoney(todo))
          this.#acts.push(['timer', givenUpAfter(this.payment.terms, sentIf(this.payment, now))]);
        this.#acts.push(activityAct(this.payment, todo, now));
        this.#hasCommand = todo.kind !== 'send';
        return;
      }
    }
  }

  #setTimer(until: number | undefined, now: number, timer: Timer | undefined): void {
    const acts: Act[] = [
      ...(until === undefined ? [] : [['timer', until - now] as const]),
      // A scope is cancelled a moment after the next timer is set.
      ...(timer?.isOver === false ? [['cancelTimer'] as const] : []),
    ];
    this.#acts.push(...acts);
    if (acts.length > 0) this.#hasCommand = true;
  }

  /** A task in which there is nothing to do has a command all the same: the patch's marker, and then the status. */
  #leaveCommand(): void {
    this.#acts.push(
      this.#hasMarker ? ['searchAttributes', { PaymentStatus: statusOf(this.payment) }] : ['patch', 'no-empty-task'],
    );
    this.#hasMarker = true;
  }
}

/** Returns what the index is told of a held payout: `PaymentFinal` is there as long as a notification is due. */
function changesOfHold(before: PaymentState, payment: PaymentState): [string, unknown][] {
  const [was, held] = [heldForOf(before), heldForOf(payment)];
  const isDue = ({ notifications }: PaymentState) => notifications.some(({ delivery }) => delivery.kind === 'due');
  return [
    ...(held?.length === was?.length ? [] : [['HeldFor', held] as [string, unknown]]),
    ...(payment.release?.at === before.release?.at
      ? []
      : [['ReleasedAt', isoTime(payment.release?.at ?? 0)] as [string, unknown]]),
    ...(held === null || isDue(payment) === (was !== null && isDue(before))
      ? []
      : [['PaymentFinal', isDue(payment) ? false : null] as [string, unknown]]),
  ];
}

/** Returns what a payout waits for, once it has said so; `null` when it isn't held. */
function heldForOf({ phase, notifications }: PaymentState): readonly string[] | null {
  return phase.kind === 'held' && notifications.length > 0 ? phase.for : null;
}
