import type { AnswerEvent } from '../../src/payments/machine/events.js';
import { LISTED_AFTER_MS } from '../../src/payments/machine/look-ups.js';
import type { ListAnswer, StatusAnswer } from '../../src/payments/words/outcome.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import type { ProviderStatus, Transaction } from '../../src/payments/words/transaction.js';
import type { ExpiryMove, ListMove, NoAnswer, PostMove, StatusMove } from './move.js';
import { AMOUNT, FOREIGN, type Foreign, orderOf, type Setting, WRONG_AMOUNT } from './setting.js';
import { type OwnTransaction, type Provider, type Situation, transactionOf, withTransaction } from './situation.js';

/** The result of a call to the provider. */
export interface Answered {
  /** The situation after the call, with the changes at the provider. */
  readonly situation: Situation;
  /** The answer as the payment machine gets it; `undefined` if it was lost, or came after another's. */
  readonly event: AnswerEvent | undefined;
}

/** Reports whether a request leaves for the provider, or may have left. */
export function mayHaveLeft({ outcome, taken }: PostMove): boolean {
  return outcome === 'accepted' || outcome === 'ambiguous' || outcome === 'doubted' || taken > 0;
}

/** Reports whether the provider rejects a request that it has accepted already. */
export function isRepeated({ provider }: Situation, { rejectsRepeated, kind }: Setting): boolean {
  return rejectsRepeated === true && kind !== 'link' && provider.transactions.length > 0;
}

/** Answers the request that moves money, or makes a link. */
export function answerPost(before: Situation, move: PostMove, setting: Setting): Answered {
  const provider = withMade(before, setting, move);
  const situation = { ...before, provider };
  const sent = (outcome: Extract<AnswerEvent, { kind: 'sent' }>['outcome']): Answered => ({
    situation,
    event: { kind: 'sent', outcome },
  });
  switch (move.outcome) {
    case 'accepted': {
      const transId = provider.transactions.at(-1)?.transId as TransId;
      const link = setting.kind === 'link' ? { link: `https://pay.example/${transId}` } : {};
      return sent({ kind: 'accepted', transId, ...link });
    }
    case 'rejected':
      return sent({ kind: 'rejected', message: 'refused', statusCode: 400 });
    case 'unauthorized':
      return sent({ kind: 'unauthorized', message: 'credentials', statusCode: 401 });
    case 'throttled':
      return sent({ kind: 'throttled', reason: 'throttled', retryAfterMs: setting.retryAfterMs });
    case 'notSent':
      return sent({ kind: 'notSent', reason: 'no answer' });
    case 'unread':
      // A book that has gone back can't tell whether it was sent before.
      return sent(
        setting.wasSentBefore
          ? { kind: 'ambiguous', reason: 'it may have been sent before' }
          : { kind: 'notSent', isUnread: true, reason: 'no list' },
      );
    case 'withheld':
      return sent({ kind: 'withheld', failureCode: 'not_refundable', reason: 'it must not be sent' });
    case 'ambiguous':
    case 'doubted':
      return sent({ kind: 'ambiguous', reason: 'no answer' });
    case 'shown': {
      const isVisible = ({ listedFrom }: OwnTransaction) => listedFrom <= before.now;
      const transactions = provider.transactions.map((one) => (isVisible(one) ? { ...one, isListed: true } : one));
      const shown = provider.transactions.filter(isVisible).map((one) => asShown(one, false, setting));
      return {
        situation: { ...situation, provider: { ...provider, transactions } },
        event: { kind: 'sent', outcome: { kind: 'ambiguous', reason: 'shown before', shown } },
      };
    }
  }
}

/** Answers a question about the status of one transaction. */
export function answerStatus(
  before: Situation,
  { transId, isClaim }: { readonly transId: TransId; readonly isClaim: boolean },
  { answer, truth }: StatusMove,
  setting: Setting,
): Answered {
  const event = (said: StatusAnswer): AnswerEvent => ({ kind: 'status', transId, answer: said, isClaim });
  if (answer.kind === 'heldBack') {
    const said = { kind: 'throttled', retryAfterMs: ASKED_WINDOW_MS / 2, isOurs: true } as const;
    return { situation: before, event: event(said) };
  }
  const times = answer.kind === 'lost' ? (answer.times ?? 1) : 1;
  const asked = [...askedLately(before), ...Array.from({ length: times }, () => ({ transId, at: before.now }))];
  const provider = withStatus({ ...before.provider, asked }, transId, truth, false);
  const situation = { ...before, provider };
  switch (answer.kind) {
    case 'found': {
      const own = transactionOf(provider, transId);
      if (own === undefined) return { situation, event: event(UNKNOWN) };
      const transaction = asShown({ ...own, status: answer.status }, answer.isBare, setting);
      return { situation, event: event({ kind: 'found', transaction }) };
    }
    case 'foreign': {
      const transaction = { transId, status: 'SUCCESSFUL', ...namesOf(answer.whose, setting) } as const;
      return { situation, event: event({ kind: 'found', transaction }) };
    }
    case 'unknown':
      return { situation, event: event(UNKNOWN) };
    default:
      return noAnswer(situation, answer, setting, event);
  }
}

/** Returns the names by which the provider says whose a foreign transaction is. */
function namesOf(whose: Foreign, { kind }: Setting): Pick<Transaction, 'externalId' | 'userId'> {
  const another = 'pay_2';
  if (whose === 'others') return { externalId: another, userId: another };
  if (whose === 'othersUser') return { userId: another };
  return whose === 'both' ? { externalId: orderOf(kind).id, userId: another } : {};
}

/** Lists the questions of the last minute. */
export function askedLately({ provider, now }: Pick<Situation, 'provider' | 'now'>): Provider['asked'] {
  return provider.asked.filter(({ at }) => at > now - ASKED_WINDOW_MS);
}

/** Answers a look-up of the payment in the provider's list. */
export function answerList(before: Situation, { answer, truth }: ListMove, setting: Setting): Answered {
  const provider =
    truth === undefined ? before.provider : withStatus(before.provider, truth.transId, truth.status, false);
  const event = (said: ListAnswer): AnswerEvent => ({ kind: 'listed', answer: said });
  switch (answer.kind) {
    case 'listed': {
      const shown = provider.transactions.filter(
        ({ transId, listedFrom }) => listedFrom <= before.now && !answer.without.includes(transId),
      );
      const transactions = provider.transactions.map((one) => (shown.includes(one) ? { ...one, isListed: true } : one));
      return {
        situation: { ...before, provider: { ...provider, transactions } },
        event: event({
          kind: 'listed',
          transactions: [
            ...shown.map((one) => {
              const status = one.transId === answer.older ? (one.before ?? one.status) : one.status;
              return asShown({ ...one, status }, answer.isBare, setting);
            }),
            ...(answer.isDisputed ? [{ ...DISPUTED, ...namesOf('both', setting) }] : []),
          ],
        }),
      };
    }
    case 'refused':
      return { situation: before, event: event(REFUSED) };
    default:
      return noAnswer({ ...before, provider }, answer, setting, event);
  }
}

const DISPUTED = { transId: FOREIGN.both as TransId, status: 'SUCCESSFUL' } as const;

/** Answers a request to expire a link. */
export function answerExpiry(
  before: Situation,
  transId: TransId,
  { answer, truth }: ExpiryMove,
  setting: Setting,
): Answered {
  const provider = withStatus(before.provider, transId, truth, false);
  const situation = { ...before, provider };
  const own = transactionOf(provider, transId);
  const event = (said: Extract<AnswerEvent, { kind: 'expired' }>['answer']): AnswerEvent => ({
    kind: 'expired',
    transId,
    answer: said,
  });
  switch (answer.kind) {
    case 'expired': {
      if (own === undefined) return { situation, event: event({ ...REFUSED, message: 'unknown' }) };
      return { situation, event: event({ kind: 'expired', transaction: asShown(own, false, setting) }) };
    }
    case 'alreadyExpired':
      return { situation, event: event({ kind: answer.kind }) };
    case 'refused':
      return { situation, event: event(REFUSED) };
    default:
      return noAnswer(situation, answer, setting, event);
  }
}

/** A status question counts for this long at the provider, in ms. */
const ASKED_WINDOW_MS = 60_000;

const UNKNOWN = { kind: 'unknown', message: 'unknown', statusCode: 404 } as const;
const REFUSED = { kind: 'refused', message: 'refused', statusCode: 400 } as const;

function noAnswer(
  before: Situation,
  answer: NoAnswer,
  { terms, retryAfterMs }: Setting,
  event: (answer: Extract<StatusAnswer, { kind: 'unavailable' | 'throttled' | 'unauthorized' }>) => AnswerEvent,
): Answered {
  switch (answer.kind) {
    case 'unavailable': {
      const silent = answer.silence ?? before.provider.silent;
      return {
        situation: {
          ...before,
          now: before.now + terms.providerTimeoutMs,
          provider: { ...before.provider, silent },
        },
        event: event({ kind: 'unavailable', reason: 'no answer' }),
      };
    }
    case 'throttled':
      return { situation: before, event: event({ kind: 'throttled', retryAfterMs }) };
    case 'unauthorized':
      return {
        situation: before,
        event: event({ kind: 'unauthorized', message: 'credentials', statusCode: 401 }),
      };
    case 'lost':
      return { situation: before, event: undefined };
  }
}

/** Shows a transaction as an answer of the provider has it. */
function asShown({ transId, status, isWrong }: OwnTransaction, isBare: boolean, { kind }: Setting): Transaction {
  if (isBare) return { transId, status };
  const { id: externalId } = orderOf(kind);
  return { transId, status, externalId, userId: externalId, amount: isWrong ? WRONG_AMOUNT : AMOUNT };
}

/** Adds the transactions that a request has made. */
function withMade(before: Situation, { listLagMs, terms }: Setting, move: PostMove): Provider {
  const { provider, now } = before;
  const { taken, isLate, isWrong } = move;
  let made = provider;
  for (let copy = 0; copy < taken; copy += 1) {
    const isCopyLate = isLate === 'first' ? copy === 0 : isLate !== false;
    // What is in flight may arrive as late as its time limit.
    const inFlightMs = move.outcome === 'doubted' ? terms.providerTimeoutMs : 0;
    const lagMs = isLate === 'unseen' ? LISTED_AFTER_MS + listLagMs / 2 : listLagMs + inFlightMs;
    const isApart = move.isApart === true && copy === 0;
    const listedFrom = now + (isApart ? (terms.listedAfterMs ?? LISTED_AFTER_MS) : isCopyLate ? lagMs : 0);
    const isDoubted = move.outcome === 'doubted' ? true : undefined;
    made = withNew(made, now, { listedFrom, isWrong, isLater: false, isDoubted });
  }
  return { ...made, requests: provider.requests + (mayHaveLeft(move) ? 1 : 0) };
}

/** Returns the id of the next transaction that the provider makes for the payment. */
export function nextTransId({ transactions }: Provider): TransId {
  return `T${transactions.length + 1}` as TransId;
}

/** Adds the transaction of a request that was sent before, in a time that the book has lost. */
export function withEarlier(provider: Provider, { kind }: Setting, now: number): Provider {
  const made = { listedFrom: now, isWrong: false, isLater: false };
  if (kind !== 'link') return { ...withNew(provider, now, made), requests: 1 };
  // It was made a moment before the book went back.
  return withNew(provider, now, { ...made, listedFrom: now + LISTED_AFTER_MS - 1, isEarlier: true, isGiven: true });
}

/** Adds a further transaction for the payment that nobody asked for. */
export function withDoubled(provider: Provider, now: number): Provider {
  return withNew(provider, now, { listedFrom: now, isWrong: false, isLater: true });
}

function withNew(
  provider: Provider,
  madeAt: number,
  made: Pick<OwnTransaction, 'listedFrom' | 'isWrong' | 'isLater' | 'isDoubted' | 'isEarlier'> &
    Partial<Pick<OwnTransaction, 'isGiven'>>,
): Provider {
  const transaction: OwnTransaction = {
    transId: nextTransId(provider),
    status: 'CREATED',
    madeAt,
    isListed: false,
    isGiven: false,
    hasTurned: false,
    isNotified: false,
    ...made,
  };
  return { ...provider, transactions: [...provider.transactions, transaction] };
}

/**
 * Gives a transaction another status.
 *
 * @param isNotified whether a notification says so after the payment has ended
 */
export function withStatus(
  provider: Provider,
  transId: TransId | undefined,
  status: ProviderStatus | undefined,
  isNotified: boolean,
): Provider {
  const own = transId && transactionOf(provider, transId);
  if (transId === undefined || own === undefined || status === undefined) return provider;
  if (own.status === status)
    return isNotified && !own.isNotified ? withTransaction(provider, transId, { isNotified }) : provider;
  const wasFinal = own.status === 'SUCCESSFUL' || own.status === 'EXPIRED' || (own.status === 'FAILED' && !own.isGiven);
  const hasTurned = own.hasTurned || wasFinal;
  return withTransaction(provider, transId, { status, before: own.status, hasTurned, isNotified });
}
