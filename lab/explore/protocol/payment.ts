/*
 * A payment in small: its phases, and how a step takes it from one to the next. It is as simple as a machine can be in
 * which each fault of the protocol around it still shows. Times are ticks; one is longer than a send may take, than a
 * call to the provider takes, and than the list lags.
 */

/** The last word on a payment. */
export type FinalWord = 'withdrawn' | 'rejected' | 'failed' | 'succeeded';

export type Phase =
  /** Waits for an approval. */
  | { readonly kind: 'held' }
  /** Nothing is under way; it is sent from `until` on. */
  | { readonly kind: 'waiting'; readonly until: number }
  | { readonly kind: 'sending' }
  /**
   * The list is asked from `until` on, whether an attempt was taken that left by `since`. `onSilence`: what follows if
   * it shows nothing.
   */
  | {
      readonly kind: 'searching';
      readonly since: number;
      readonly onSilence: 'sendAgain' | 'fail' | 'askPerson';
      readonly until: number;
    }
  /** Its transaction is known, and asked about from `until` on. */
  | { readonly kind: 'following'; readonly until: number }
  /** Waits for a person's decision. */
  | { readonly kind: 'review' }
  | { readonly kind: 'ended'; readonly as: FinalWord };

export interface Payment {
  readonly phase: Phase;
  /** The number of the attempt that is under way, or that is made next. */
  readonly attempt: number;
  /** The number of the latest review, which a decision names. */
  readonly reviews: number;
  /** A person has decided to send it although an earlier attempt may have been taken. */
  readonly isSentOver: boolean;
}

/** What came of an attempt. `closed`: it was not sent, and never will be. */
export type Outcome = 'accepted' | 'rejected' | 'throttled' | 'notSent' | 'ambiguous' | 'closed';

export type MessageKind = 'cancel' | 'approve' | 'reject' | 'hint' | 'resend' | 'fail';

/** The provider's answer to a question, as of `at`. */
export type Answer =
  | { readonly kind: 'list'; readonly isShown: boolean; readonly at: number }
  | { readonly kind: 'status'; readonly status: 'pending' | 'succeeded' | 'failed'; readonly at: number };

export type PaymentEvent =
  | Answer
  /** The list, read before an attempt, shows an earlier one. */
  | { readonly kind: 'shown' }
  /** `leavesBy`: the attempt has left by then, or never does. */
  | { readonly kind: 'sent'; readonly attempt: number; readonly outcome: Outcome; readonly leavesBy: number }
  | { readonly kind: 'message'; readonly message: MessageKind; readonly review: number }
  /** The book has gone back: what is known of the payment may be too little. */
  | { readonly kind: 'gap' }
  | { readonly kind: 'time' };

export interface Step {
  readonly payment: Payment;
  /** To a message. */
  readonly reply?: 'done' | 'refused';
}

export type Todo =
  | { readonly kind: 'ask'; readonly question: 'list' | 'status' }
  | { readonly kind: 'send'; readonly attempt: number }
  /** Until then, or until something happens. */
  | { readonly kind: 'wait'; readonly until?: number | undefined }
  | { readonly kind: 'end' };

/** An answer that the payment did not ask for. */
export class NotAsked extends Error {}

/** An accepted or throttled payment is sent so often by itself. */
const TRIES = 2;

/** The moment of a step. */
export interface Moment {
  readonly now: number;
  /** Gives the number of the attempt that comes after one that has ended. */
  readonly numberAfter: (attempt: number) => number;
}

/**
 * Takes an event.
 *
 * @throws {NotAsked} when it is an answer that the payment doesn't wait for
 */
export function step(payment: Payment, event: PaymentEvent, moment: Moment): Step {
  const { now } = moment;
  switch (event.kind) {
    case 'list':
      return { payment: listed(payment, event, moment) };
    case 'status': {
      if (payment.phase.kind !== 'following') throw new NotAsked('nothing has asked for a status');
      if (event.status === 'pending') return into(payment, { kind: 'following', until: now + 1 });
      return into(payment, { kind: 'ended', as: event.status });
    }
    case 'shown':
      if (payment.phase.kind !== 'sending') throw new NotAsked('nothing has read the list before it sends');
      return into(payment, { kind: 'following', until: now });
    case 'sent':
      return { payment: sent(payment, event, moment) };
    case 'message':
      return answer(payment, event, moment);
    case 'gap':
      return isUnaffected(payment.phase) ? { payment } : { payment: reviewed(payment) };
    case 'time': {
      const isDue = payment.phase.kind === 'waiting' && payment.phase.until <= now;
      return isDue ? into(payment, { kind: 'sending' }) : { payment };
    }
  }
}

/** What is to be done next. */
export function todoOf({ phase, attempt }: Payment, now: number): Todo {
  switch (phase.kind) {
    case 'held':
    case 'review':
      return { kind: 'wait' };
    case 'waiting':
      return { kind: 'wait', until: phase.until };
    case 'sending':
      return { kind: 'send', attempt };
    case 'searching':
    case 'following': {
      if (phase.until > now) return { kind: 'wait', until: phase.until };
      return { kind: 'ask', question: phase.kind === 'searching' ? 'list' : 'status' };
    }
    case 'ended':
      return { kind: 'end' };
  }
}

function into(payment: Payment, phase: Phase): Step {
  return { payment: { ...payment, phase } };
}

/** Of what is known to the provider, or over, only the provider's word is told. */
function isUnaffected({ kind }: Phase): boolean {
  return kind === 'following' || kind === 'ended';
}

function reviewed(payment: Payment): Payment {
  return { ...payment, phase: { kind: 'review' }, reviews: payment.reviews + 1 };
}

/** The list's silence counts only if it was read when whatever had left would have shown. */
function listed(
  payment: Payment,
  { isShown, at }: Extract<Answer, { kind: 'list' }>,
  { now, numberAfter }: Moment,
): Payment {
  const { phase } = payment;
  if (phase.kind !== 'searching') throw new NotAsked('nothing has asked for the list');
  if (isShown) return { ...payment, phase: { kind: 'following', until: now } };
  if (at <= phase.since) return { ...payment, phase: { ...phase, until: now + 1 } };
  switch (phase.onSilence) {
    case 'sendAgain':
      return { ...payment, attempt: numberAfter(payment.attempt), phase: { kind: 'waiting', until: now } };
    case 'fail':
      return { ...payment, phase: { kind: 'ended', as: 'failed' } };
    case 'askPerson':
      return reviewed(payment);
  }
}

function sent(
  payment: Payment,
  { attempt, outcome, leavesBy }: Extract<PaymentEvent, { kind: 'sent' }>,
  { now, numberAfter }: Moment,
): Payment {
  const { phase } = payment;
  if (outcome === 'accepted') {
    if (phase.kind === 'ended') return phase.as === 'succeeded' ? payment : reviewed(payment);
    return { ...payment, phase: { kind: 'following', until: now } };
  }
  // Late news of an attempt that is over already changes nothing more.
  if (attempt !== payment.attempt || (phase.kind !== 'sending' && phase.kind !== 'searching')) return payment;
  switch (outcome) {
    case 'notSent':
    case 'closed': {
      const until = outcome === 'closed' ? now : now + 1;
      return { ...payment, attempt: numberAfter(attempt), phase: { kind: 'waiting', until } };
    }
    case 'rejected':
      // Perhaps because an earlier one was taken.
      if (attempt === 1) return { ...payment, phase: { kind: 'ended', as: 'failed' } };
      return { ...payment, phase: { kind: 'searching', since: now, onSilence: 'fail', until: now } };
    case 'throttled': {
      const onSilence = attempt < TRIES ? 'sendAgain' : 'fail';
      return { ...payment, phase: { kind: 'searching', since: now, onSilence, until: now } };
    }
    case 'ambiguous':
      if (phase.kind === 'searching') return payment;
      return { ...payment, phase: { kind: 'searching', since: leavesBy, onSilence: 'askPerson', until: now } };
  }
}

function answer(
  payment: Payment,
  { message, review }: Extract<PaymentEvent, { kind: 'message' }>,
  { now, numberAfter }: Moment,
): Step {
  const { phase } = payment;
  const done = (next: Partial<Payment>): Step => ({ payment: { ...payment, ...next }, reply: 'done' });
  const refused: Step = { payment, reply: 'refused' };
  switch (message) {
    case 'cancel':
      if (phase.kind !== 'held' && (phase.kind !== 'waiting' || payment.isSentOver)) return refused;
      return done({ phase: { kind: 'ended', as: 'withdrawn' } });
    case 'approve':
      return phase.kind === 'held' ? done({ phase: { kind: 'waiting', until: now } }) : refused;
    case 'reject':
      return phase.kind === 'held' ? done({ phase: { kind: 'ended', as: 'rejected' } }) : refused;
    case 'hint':
      if (phase.kind !== 'searching' && phase.kind !== 'following') return done({});
      return done({ phase: { ...phase, until: now } });
    case 'resend':
    case 'fail': {
      if (phase.kind !== 'review' || review !== payment.reviews) return refused;
      if (message === 'fail') return done({ phase: { kind: 'ended', as: 'failed' } });
      const attempt = numberAfter(payment.attempt);
      return done({ attempt, phase: { kind: 'waiting', until: now }, isSentOver: true });
    }
  }
}
