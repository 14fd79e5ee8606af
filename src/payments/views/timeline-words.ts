import { xaf } from '../words/limits.js';
import type { PaymentId } from '../words/payment-id.js';
import type { ChangeSource, NoAnswerWord, Occurrence } from './timeline-entry.js';

/** An entry that a timeline shows: one that is stored, or one that follows from the payment. */
export type ShownOccurrence =
  /** `refundOf`: the collection that it refunds. */
  | { readonly type: 'created'; readonly status: 'CREATED'; readonly refundOf?: PaymentId | undefined }
  | Exclude<Occurrence, { readonly type: 'review_opened' }>
  | (Extract<Occurrence, { readonly type: 'review_opened' }> & { readonly status?: 'REVIEW' })
  /** A number of entries is left out here. */
  | { readonly type: 'omitted'; readonly entries: number }
  /** Its workflow was stopped by hand. */
  | { readonly type: 'stopped'; readonly status?: 'REVIEW' };

/** Source of an event. `notification`: it came in the provider's name, and proves nothing. */
export type EventSource = ChangeSource | 'notification';

export function sourceOf(occurrence: ShownOccurrence): EventSource {
  switch (occurrence.type) {
    case 'created':
      return 'merchant';
    case 'accepted':
    case 'rejected':
      return 'provider';
    case 'send_failed':
      return occurrence.cause === 'credentials' || occurrence.cause === 'throttled' ? 'provider' : 'system';
    case 'looked_up':
    case 'asked':
    case 'expiry_answered':
      return occurrence.answer === 'unavailable' ? 'system' : 'provider';
    case 'provider_notification':
      return 'notification';
    case 'decided':
    case 'decision_proposed':
    case 'decision_rejected':
      return 'operator';
    case 'approved':
    case 'approval_refused':
      return 'merchant';
    case 'sending':
      return occurrence.by === 'operator' ? 'operator' : 'system';
    case 'expiring':
    case 'refresh_requested':
    case 'recheck_requested':
    case 'notification_requested':
    case 'withdrawal_requested':
    case 'status_changed':
      return occurrence.source;
    case 'held':
    case 'unanswered':
    case 'review_opened':
    case 'merchant_notification':
    case 'omitted':
    case 'stopped':
      return 'system';
  }
}

/** Sums up an entry in one or two sentences. `count`: how often it has happened. */
export function summaryOf(occurrence: ShownOccurrence, count = 1): string {
  const words = wordsFor(occurrence);
  return count === 1 ? words : `${words} (${count} times)`;
}

function wordsFor(occurrence: ShownOccurrence): string {
  switch (occurrence.type) {
    case 'created':
      return `The ${occurrence.refundOf === undefined ? 'payment' : `refund of ${occurrence.refundOf}`} was created.`;
    case 'held':
      return `The payout waits for ${occurrence.for.map((one) => HELD_FOR_WORDS[one]).join(' and ')} before it is sent.`;
    case 'approved':
      return `${occurrence.by} approved the payout.`;
    case 'approval_refused':
      return `${occurrence.by} rejected the payout before it was sent: ${withoutFullStop(occurrence.reason)}.`;
    case 'withdrawal_requested':
      return `${whoIn(occurrence)} withdrew the payout. The provider's list is read before it ends.`;
    case 'sending':
      return SENDING[occurrence.by ?? 'order'];
    case 'accepted':
      return `The provider has accepted the payment as transaction ${occurrence.transId}.`;
    case 'rejected':
      return 'The provider rejected the request.';
    case 'send_failed':
      return SEND_FAILED[occurrence.cause];
    case 'unanswered':
      return `It isn't known whether the provider accepted the payment: ${withoutFullStop(occurrence.reason)}.`;
    case 'looked_up':
      return lookUpWords(occurrence);
    case 'asked':
      return askedWords(occurrence);
    case 'provider_notification': {
      const what = transactionIn(occurrence);
      const about =
        occurrence.providerStatus === undefined
          ? `was about ${what}`
          : `said that ${what} is ${occurrence.providerStatus}`;
      return `A notification in the provider's name ${about}. A notification proves nothing.`;
    }
    case 'expiring':
      return occurrence.source === 'timer' ? "The link's time was over." : `${whoIn(occurrence)} had the link ended.`;
    case 'expiry_answered':
      return expiryWords(occurrence.answer);
    case 'refresh_requested':
      return `${whoIn(occurrence)} had the provider asked for the status.`;
    case 'recheck_requested': {
      const who = occurrence.source === 'system' ? "The day's statement" : whoIn(occurrence);
      return `${who} had the outcome compared with the provider's records.`;
    }
    case 'review_opened':
      return `The payment went to REVIEW (review ${occurrence.review}): ${withoutFullStop(occurrence.reason)}.`;
    case 'decided': {
      const { by, approvedBy } = occurrence;
      const who = approvedBy === undefined ? by : `${by} and ${approvedBy}`;
      return `${who} decided ${decisionWords(occurrence)}.`;
    }
    case 'decision_proposed':
      return `${occurrence.by} decided ${decisionWords(occurrence)}, which waits for a second person.`;
    case 'decision_rejected': {
      const { by, proposedBy, action, review } = occurrence;
      const whose = by === proposedBy ? 'withdrew the decision' : `rejected the decision of ${proposedBy}`;
      return `${by} ${whose} (${action}, review ${review}) before it was carried out.`;
    }
    case 'status_changed':
      return statusWords(occurrence);
    case 'merchant_notification':
      return `Notification ${occurrence.number} (${occurrence.event}) ${DELIVERIES[occurrence.delivery]}.`;
    case 'notification_requested':
      return `${whoIn(occurrence)} had notification ${occurrence.number} sent again.`;
    case 'omitted':
      return `${occurrence.entries} entries are left out here.`;
    case 'stopped':
      return "The payment's workflow was stopped by hand: nothing more is done for it.";
  }
}

function statusWords(occurrence: Extract<Occurrence, { type: 'status_changed' }>): string {
  const { status, final, amountPaid, reason, failureCode } = occurrence;
  const moved = amountPaid === undefined ? '' : `: ${xaf(amountPaid)} have moved, which isn't what was ordered`;
  const isTold = failureCode !== 'withdrawn' || occurrence.source === 'system';
  const withdrawn = isTold ? '' : ` ${whoIn(occurrence)} withdrew it.`;
  return `The payment is ${status}${final ? ', and final' : ''}${moved}${reason ? `: ${withoutFullStop(reason)}` : ''}.${withdrawn}`;
}

function askedWords(occurrence: Extract<Occurrence, { type: 'asked' }>): string {
  const { answer } = occurrence;
  const what = transactionIn(occurrence);
  if (answer === 'not_asked') return `The provider was not asked for the status of ${what} again: ${JUST_ASKED}.`;
  if (answer === 'unknown') return `The provider doesn't know ${what}.`;
  return isNoAnswer(answer)
    ? `The provider was asked for the status of ${what}, and ${NO_ANSWER[answer]}.`
    : `The provider said that ${what} is ${answer}.`;
}

/** Names the actor of a request. Merchants see no operator's name. */
function whoIn({ source, by }: { readonly source: ChangeSource; readonly by?: string | undefined }): string {
  switch (source) {
    case 'merchant':
      return 'The merchant';
    case 'operator':
      return by ?? 'An operator';
    default:
      return "Somebody who used Temporal's own tools";
  }
}

function decisionWords({
  action,
  transId,
  review,
  forced,
}: Extract<Occurrence, { type: 'decided' | 'decision_proposed' }>): string {
  const what = { resend: 'to send it once more', fail: 'that no money has moved' };
  const decision = action === 'match' ? `that ${transId} is its transaction` : what[action];
  return `${decision} (review ${review}${forced ? ', forced' : ''})`;
}

function transactionIn({ other, transId }: Extract<Occurrence, { type: 'asked' | 'provider_notification' }>): string {
  if (!other) return "the payment's transaction";
  return transId === undefined
    ? 'another transaction, beside the five that are named here,'
    : `another transaction, ${transId},`;
}

/** Drops a reason's full stop: the sentence has one. */
function withoutFullStop(reason: string): string {
  return reason.replace(/\.$/, '');
}

export const HELD_FOR_WORDS = { approval: "another person's approval", date: 'its date' } as const;

const SENDING = {
  order: 'Sanaga sends the request to the provider.',
  policy: 'Sanaga sends the request to the provider once more, as it may when a request was not answered.',
  operator: 'Sanaga sends the request to the provider once more, as an operator decided.',
} as const;

const SEND_FAILED = {
  credentials: "The provider refused Sanaga's credentials, and took nothing.",
  throttled: 'The provider asked Sanaga to slow down. The payment is looked up before it is sent again.',
  connection: 'The request could not be sent: nothing reached the provider.',
  unchecked: 'It could not be made sure that the payment had not been sent before: nothing was sent.',
} as const;

const JUST_ASKED = 'it had just been asked as often as it may be';

const NO_ANSWER: Readonly<Record<Exclude<NoAnswerWord, 'not_asked'>, string>> = {
  throttled: 'asked Sanaga to slow down',
  credentials_refused: "refused Sanaga's credentials",
  unavailable: 'gave no answer',
};

function isNoAnswer(answer: string): answer is keyof typeof NO_ANSWER {
  return answer in NO_ANSWER;
}

const DELIVERIES = {
  delivered: 'was delivered to the merchant',
  failed: 'could not be delivered to the merchant',
  abandoned: 'was given up: it could not be delivered to the merchant within 72 hours',
  no_address: 'was not sent: the merchant has no address for notifications',
} as const;

function lookUpWords({ answer, transactions = [] }: Extract<Occurrence, { type: 'looked_up' }>): string {
  if (answer === 'refused') return "The provider refused to list the payment's transactions.";
  if (answer === 'not_asked') return `The provider was not asked for the payment's transactions: ${JUST_ASKED}.`;
  if (answer !== 'listed') {
    return `The provider was asked for the payment's transactions, and ${NO_ANSWER[answer]}.`;
  }
  if (transactions.length === 0) return "The provider's list shows no transaction for the payment.";
  const shown = transactions.map(({ transId, status }) => `${transId} (${status})`).join(', ');
  return `The provider's list shows ${shown} for the payment.`;
}

function expiryWords(answer: Extract<Occurrence, { type: 'expiry_answered' }>['answer']): string {
  switch (answer) {
    case 'expired':
      return 'The provider was told to end the link, and did.';
    case 'already_expired':
      return 'The provider was told to end the link, which had ended already.';
    case 'refused':
      return 'The provider was told to end the link, and refused.';
    case 'not_asked':
      return `The provider was not told to end the link: ${JUST_ASKED}.`;
    default:
      return `The provider was told to end the link, and ${NO_ANSWER[answer]}.`;
  }
}
