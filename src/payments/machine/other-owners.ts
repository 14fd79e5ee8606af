import { matchedTransId } from '../words/decision.js';
import type { InitiationOutcome } from '../words/outcome.js';
import type { PaymentId, TransId } from '../words/payment-id.js';
import type { PaymentState } from '../words/payment-state.js';
import type { Transaction } from '../words/transaction.js';
import type { AnswerEvent, PaymentEvent } from './events.js';
import { ownerOf } from './matching.js';

/*
 * One transaction pays one payment. The provider may leave out whose a transaction is, and a payment would go by what
 * its list shows: the book knows which payment goes by it already.
 */

/** Lists the transactions of which a payment has to know whether another goes by them, before it takes an event. */
export function transactionsIn(payment: PaymentState, event: PaymentEvent): readonly TransId[] {
  const decided = decidedTransId(payment);
  switch (event.kind) {
    case 'sent':
      return event.outcome.kind === 'accepted' ? [event.outcome.transId] : idsOf(shownIn(event.outcome));
    case 'listed': {
      const listed = event.answer.kind === 'listed' ? idsOf(event.answer.transactions) : [];
      return decided === undefined ? listed : [...listed, decided];
    }
    case 'status':
      return decided === undefined ? [event.transId] : [event.transId, decided];
    default:
      return [];
  }
}

/** Says in an event which of its transactions are those of other payments. */
export function withOwners(
  payment: PaymentState,
  event: PaymentEvent,
  owners: ReadonlyMap<TransId, PaymentId>,
): PaymentEvent {
  if (owners.size === 0) return event;
  const known = (one: Transaction): Transaction => {
    const takenBy = owners.get(one.transId);
    return takenBy === undefined ? one : { ...one, takenBy };
  };
  switch (event.kind) {
    case 'sent':
      return { ...event, outcome: outcomeWith(event.outcome, owners, known) };
    case 'listed': {
      const { answer } = event;
      const listed = answer.kind === 'listed' ? { ...answer, transactions: answer.transactions.map(known) } : answer;
      return { ...event, answer: listed, ...takenIn(payment, owners) };
    }
    case 'status':
      return { ...statusWith(payment, event, known), ...takenIn(payment, owners) };
    default:
      return event;
  }
}

/** The transaction that a decision which is being checked has the payment go by. */
function decidedTransId({ phase }: PaymentState): TransId | undefined {
  return phase.kind === 'deciding' ? matchedTransId(phase.resolution.decision) : undefined;
}

function takenIn(payment: PaymentState, owners: ReadonlyMap<TransId, PaymentId>): Pick<AnswerEvent, 'taken'> {
  const transId = decidedTransId(payment);
  const takenBy = transId && owners.get(transId);
  return transId === undefined || takenBy === undefined ? {} : { taken: { transId, takenBy } };
}

function shownIn(outcome: InitiationOutcome): readonly Transaction[] {
  return outcome.kind === 'ambiguous' ? (outcome.shown ?? []) : [];
}

const idsOf = (transactions: readonly Transaction[]) => transactions.map(({ transId }) => transId);

/** A request that the provider answers with another payment's transaction may have made one that it doesn't name. */
function outcomeWith(
  outcome: InitiationOutcome,
  owners: ReadonlyMap<TransId, PaymentId>,
  known: (one: Transaction) => Transaction,
): InitiationOutcome {
  if (outcome.kind === 'ambiguous') {
    return outcome.shown === undefined ? outcome : { ...outcome, shown: outcome.shown.map(known) };
  }
  const takenBy = outcome.kind === 'accepted' ? owners.get(outcome.transId) : undefined;
  if (outcome.kind !== 'accepted' || takenBy === undefined) return outcome;
  const { transId } = outcome;
  const reason = `the provider answered with ${transId}, which is the transaction of the payment ${takenBy}`;
  return { kind: 'ambiguous', reason, shown: [{ transId, status: 'CREATED', takenBy }] };
}

/** A forged notification may name any payment's transaction: one that names nobody is then its owner's. */
function statusWith(
  { order }: PaymentState,
  event: Extract<AnswerEvent, { readonly kind: 'status' }>,
  known: (one: Transaction) => Transaction,
): PaymentEvent & AnswerEvent {
  const { answer, isClaim } = event;
  if (answer.kind !== 'found') return event;
  const { takenBy, ...transaction } = known(answer.transaction);
  if (takenBy === undefined) return event;
  const isHintAlone = isClaim && ownerOf(order.id, transaction) === 'unnamed';
  const owned = isHintAlone ? { ...transaction, externalId: takenBy } : { ...transaction, takenBy };
  return { ...event, answer: { ...answer, transaction: owned } };
}
