import { MINUTE_MS } from '../../src/payments/words/time.js';
import type { PlannedOrder } from '../plan/planned-payment.js';
import type { SeededRandom } from '../plan/seeded-random.js';
import type { Transaction } from '../world/provider-books.js';
import type { ApiAnswer, SeenPayment } from './api-client.js';
import type { LedgerTransaction, PeopleContext } from './context.js';
import type { MadeDecision, ObservedPayment } from './observed-payment.js';

/** Longest delay of a decision, in ms. */
const LATE_MS = MINUTE_MS;

/** A decision on a payment under review. */
export type OperatorDecision =
  | { readonly action: 'resend' | 'fail' }
  | { readonly action: 'match'; readonly transId: string };

/** A decision as it is put to the API. */
export interface Proposal {
  readonly decision: OperatorDecision;
  /** The number of the review that it is made on. */
  readonly review: number;
  readonly forced: boolean;
  /** `true` when the provider's books contradict it. */
  readonly isWrong: boolean;
  readonly why: string;
}

/**
 * Sends a decision to the API, and records its result.
 *
 * @param shown the payment as the API has just shown it
 * @param who the kind of operator, under which it is counted
 */
export async function putDecision(
  record: ObservedPayment,
  shown: Pick<SeenPayment, 'review'>,
  { decision, review, forced, isWrong, why }: Proposal,
  who: string,
  { api, actions, now }: PeopleContext,
): Promise<MadeDecision> {
  const at = now();
  const body = { ...decision, review, why, ...(forced && { force: true }) };
  const answer = await api.post('operator', `/v1/payments/${record.planned.id}/resolve`, body);
  const { action } = decision;
  const made: MadeDecision = { at, action, review, forced, outcome: outcomeOf(answer), isWrong };
  record.decisions.push(made);
  const objection = made.outcome === 'done' ? objectionTo(made, shown) : undefined;
  if (objection !== undefined) record.wrongAnswers.push(objection);
  if (answer.status === 500) record.wrongAnswers.push('a decision was answered 500');
  const manner = `${forced ? 'forced ' : ''}${isWrong ? 'wrong ' : ''}`;
  actions.add(`${who}: ${manner}${action} ${answer.status === 0 ? 'no answer' : answer.status}`);
  return made;
}

function outcomeOf({ status }: ApiAnswer): MadeDecision['outcome'] {
  if (status === 200) return 'done';
  return status === 202 || status === 0 || status >= 500 ? 'open' : 'refused';
}

/** Returns the reason why a decision should have been refused, given the payment as it was shown right before. */
function objectionTo(
  { at, action, review, forced }: MadeDecision,
  shown: Pick<SeenPayment, 'review'>,
): string | undefined {
  const number = shown.review?.number;
  if (number !== undefined && review < number) return `review ${review} was decided, which was over`;
  const from = Date.parse(shown.review?.decideFrom ?? '');
  return action !== 'match' && !forced && at + LATE_MS < from ? `${action} was accepted before its time` : undefined;
}

/** The decision that the provider's books call for; `undefined` while the payment follows its own transaction. */
export function rightDecision(
  random: SeededRandom,
  payment: SeenPayment,
  transactions: readonly LedgerTransaction[],
): OperatorDecision | undefined {
  const entry = bestMatch(transactions);
  if (entry === undefined) return { action: random.chance('resend', 0.3) ? 'resend' : 'fail' };
  const isFollowed = payment.transId === entry.transId && entry.status === 'PENDING';
  return isFollowed ? undefined : { action: 'match', transId: entry.transId };
}

/** The statuses of transactions that have moved money, or may, the surest first. */
const MAY_MOVE_MONEY = ['SUCCESSFUL', 'PENDING', 'CREATED'] as const satisfies Transaction['status'][];

/**
 * The decision that the provider's books call for during a chaos run, while they may change at any moment; `undefined`
 * while the payment follows its own transaction. Nobody has a payment sent twice: one whose workflow was reset comes
 * back each time.
 */
export function decisionByBooks(
  random: SeededRandom,
  payment: Pick<SeenPayment, 'transId'>,
  transactions: readonly Transaction[],
  made: readonly MadeDecision[],
): OperatorDecision | undefined {
  const [entry = transactions.at(-1)] = MAY_MOVE_MONEY.flatMap((status) =>
    transactions.filter((one) => one.status === status),
  );
  if (entry === undefined) {
    const wasResent = made.some(({ action, outcome }) => action === 'resend' && outcome === 'done');
    return { action: !wasResent && random.chance('resend', 0.6) ? 'resend' : 'fail' };
  }
  const isUnderWay = entry.status === 'PENDING' || entry.status === 'CREATED';
  return payment.transId === entry.transId && isUnderWay ? undefined : { action: 'match', transId: entry.transId };
}

/** Returns the payment's transaction by the provider's books: a paid one, or one that may be, before all others. */
function bestMatch(transactions: readonly LedgerTransaction[]): LedgerTransaction | undefined {
  return [...transactions].reverse().sort((one, other) => rank(one) - rank(other))[0];
}

function rank({ status, isStray }: LedgerTransaction): number {
  const stray = isStray ? 1 : 0;
  if (status === 'SUCCESSFUL') return stray;
  return status === 'PENDING' ? 2 + stray : 4 + stray;
}

/** A decision that the provider's books contradict, if they show enough at `now` for Sanaga to refuse it. */
export function wrongDecision(
  random: SeededRandom,
  transactions: readonly LedgerTransaction[],
  now: number,
): OperatorDecision | undefined {
  const wrongId: OperatorDecision = { action: 'match', transId: `T${random.between('wrong', 1, 1e9)}` };
  const [entry] = transactions;
  if (entry === undefined) return wrongId;
  if (entry.listedFrom > now) return undefined;
  return random.pick<OperatorDecision>('which mistake', [
    [2, { action: 'resend' }],
    [entry.status === 'FAILED' ? 0 : 2, { action: 'fail' }],
    [1, wrongId],
  ]);
}

/** Any decision at all, on any transaction. */
export function anyDecision(
  random: SeededRandom,
  label: string,
  transactions: readonly LedgerTransaction[],
): OperatorDecision {
  const nth = random.between(`${label} which transaction`, 0, transactions.length);
  const transId = transactions[nth]?.transId ?? `T${random.between(`${label} wrong`, 1, 1e9)}`;
  return random.pick<OperatorDecision>(`${label} decision`, [
    [3, { action: 'resend' }],
    [3, { action: 'fail' }],
    [3, { action: 'match', transId }],
  ]);
}

/** Reports whether the provider's books contradict a decision. */
export function isContradicted(
  way: PlannedOrder['way'],
  decision: OperatorDecision,
  transactions: readonly LedgerTransaction[],
): boolean {
  const mayMove = ({ status }: LedgerTransaction) =>
    status === 'SUCCESSFUL' || status === 'PENDING' || (way !== 'link' && status !== 'FAILED');
  if (decision.action !== 'match') return transactions.some(mayMove);
  const matched = transactions.find(({ transId }) => transId === decision.transId);
  if (matched === undefined) return true;
  const isPaid = ({ status }: LedgerTransaction) => status === 'SUCCESSFUL';
  return !isPaid(matched) && transactions.some(mayMove(matched) ? isPaid : mayMove);
}
