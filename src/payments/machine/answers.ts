import type { PaymentState } from '../words/payment-state.js';
import type { Deciding, Inquiry, Phase } from '../words/phase.js';
import {
  onExpiredWhileDeciding,
  onListedWhileDeciding,
  onOtherWhileDeciding,
  onStatusWhileDeciding,
} from './deciding.js';
import { onCheckedList, onCheckedStatus } from './ended.js';
import type { AnswerEvent, PaymentEvent } from './events.js';
import { onExpired, onStatus } from './following.js';
import type { Change } from './replies.js';
import { onListed, onUnissuedExpired } from './searching.js';
import { onSent } from './sending.js';
import { onListedWhileVerifying } from './verifying.js';
import { onListedWhileWaiting } from './waiting.js';

/** Hands an answer to the phase that asked. One question is asked at a time, so there is no other. */
export function onAnswer(payment: PaymentState, event: AnswerEvent, now: number): Change {
  const { phase } = payment;
  switch (phase.kind) {
    case 'held':
      return notAsked(phase, event);
    case 'sending':
      return event.kind === 'sent' ? { payment: onSent(payment, phase, event.outcome, now) } : notAsked(phase, event);
    case 'waiting':
      return event.kind === 'listed'
        ? { payment: onListedWhileWaiting(payment, phase, event.answer, now) }
        : notAsked(phase, event);
    case 'searching':
    case 'following':
    case 'closing':
    case 'verifying':
      return { payment: onInquiryAnswer(payment, phase, event, now) };
    case 'review':
      return phase.inquiry === undefined
        ? notAsked(phase, event)
        : { payment: onInquiryAnswer(payment, phase.inquiry, event, now) };
    case 'deciding':
      return onDecisionAnswer(payment, phase, event, now);
    case 'ended':
      if (event.kind === 'status')
        return { payment: onCheckedStatus(payment, phase, event.transId, event.answer, now) };
      if (event.kind === 'listed') return { payment: onCheckedList(payment, phase, event.answer, now) };
      return notAsked(phase, event);
  }
}

function onDecisionAnswer(payment: PaymentState, deciding: Deciding, event: AnswerEvent, now: number): Change {
  const { step } = deciding;
  switch (step.kind) {
    case 'status':
      return event.kind === 'status'
        ? onStatusWhileDeciding(payment, deciding, event.transId, event.answer, now)
        : notAsked(deciding, event);
    case 'others':
      return event.kind === 'status'
        ? onOtherWhileDeciding(payment, deciding, step, event.answer, now)
        : notAsked(deciding, event);
    case 'list':
      return event.kind === 'listed'
        ? onListedWhileDeciding(payment, deciding, step, event.answer, now)
        : notAsked(deciding, event);
    case 'expire':
      return event.kind === 'expired'
        ? onExpiredWhileDeciding(payment, deciding, step, event.transId)
        : notAsked(deciding, event);
  }
}

function onInquiryAnswer(payment: PaymentState, inquiry: Inquiry, event: AnswerEvent, now: number): PaymentState {
  switch (inquiry.kind) {
    case 'searching':
      if (event.kind === 'listed') return onListed(payment, inquiry, event.answer, now);
      if (event.kind === 'expired') return onUnissuedExpired(payment, inquiry, event.transId, event.answer, now);
      return notAsked(inquiry, event);
    case 'following':
      return event.kind === 'status' ? onStatus(payment, inquiry, event.answer, now) : notAsked(inquiry, event);
    case 'closing':
      if (event.kind === 'status') return onStatus(payment, inquiry, event.answer, now);
      if (event.kind === 'expired') return onExpired(payment, inquiry, event.answer, now);
      return notAsked(inquiry, event);
    case 'verifying':
      return event.kind === 'listed'
        ? onListedWhileVerifying(payment, inquiry, event.answer, now)
        : notAsked(inquiry, event);
  }
}

/** @throws Error always: a caller that brings an answer which wasn't asked for is broken, and must not go on. */
function notAsked({ kind }: Phase | Inquiry, event: PaymentEvent): never {
  throw new Error(`a payment that is ${kind} has not asked for what came as ${event.kind}`);
}
