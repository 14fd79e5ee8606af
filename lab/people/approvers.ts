import type { Decider, PlannedVerdict } from '../plan/planned-hold.js';
import { callerOf } from '../world/credentials.js';
import type { ApiAnswer, SeenPayment } from './api-client.js';
import type { PeopleContext } from './context.js';
import type { MadeVerdict, ObservedPayment } from './observed-payment.js';

/** Requests of one verdict until it has an answer. */
const MAX_TRIES = 40;

/** Deciders whose approval has to be refused. */
const MAY_NOT_APPROVE: readonly Decider[] = ['clerk', 'clerkAgain', 'stranger'];

/** The answers that refuse a verdict, by their code or, of somebody else's payment, their status alone. */
const REFUSALS: Readonly<Record<PlannedVerdict['action'], readonly string[]>> = {
  approve: ['not_held', 'same_person', 'digest_mismatch'],
  reject: ['not_held'],
  cancel: ['not_cancelable'],
};

/** Plans the verdicts on a payout, once it is seen to be held. */
export function bringToDeciders(
  record: ObservedPayment,
  held: NonNullable<SeenPayment['held']>,
  context: PeopleContext,
): void {
  const end = Date.parse(held.until);
  for (const verdict of record.planned.hold?.verdicts ?? []) {
    const act = () => decide(record, verdict, context, 1);
    const { time } = verdict;
    if ('afterMs' in time) context.timeline.at(context.now() + time.afterMs, act);
    else context.timeline.exactly(end - time.beforeEndMs, act);
  }
}

/** Gives a verdict, again while it has no answer. */
async function decide(
  record: ObservedPayment,
  verdict: PlannedVerdict,
  context: PeopleContext,
  tries: number,
): Promise<void> {
  const { outcome, isRefused } = await put(record, verdict, context);
  if (outcome !== 'open' || isRefused || tries === MAX_TRIES) return;
  const again = context.now() + context.merchants.pauseMs(tries);
  context.timeline.at(again, () => decide(record, verdict, context, tries + 1));
}

/** Puts a verdict to the API. `isRefused`: its answer is a refusal, though an earlier request may have been taken. */
async function put(
  record: ObservedPayment,
  verdict: PlannedVerdict,
  context: PeopleContext,
): Promise<Pick<MadeVerdict, 'outcome'> & { readonly isRefused: boolean }> {
  const { owner, id } = record.planned;
  const { by, action, isOther } = verdict;
  const caller = callerOf(owner, by);
  // Once it is approved, another approval changes nothing.
  const wasApproved = record.verdicts.some((one) => one.mayApprove && one.outcome !== 'refused');
  const until = wasApproved ? undefined : record.heldUntil;
  const digest = record.digest ?? '';
  const body = {
    approve: { digest: isOther ? otherDigest(digest) : digest },
    reject: { why: 'nobody knows what it is for' },
    cancel: undefined,
  }[action];
  const at = context.now();
  const answer = await context.api.post(caller, `/v1/payouts/${id}/${action}`, body);
  const mayApprove = action === 'approve' && !MAY_NOT_APPROVE.includes(by) && isOther === undefined;
  const made: MadeVerdict = { at, action, mayApprove, outcome: outcomeOf(action, answer) };
  record.verdicts.push(made);
  const objection = objectionTo(verdict, made, answer, until);
  if (objection !== undefined) record.wrongAnswers.push(objection);
  context.actions.add(`${by}: ${action}${isOther ? ' another' : ''} ${answer.code ?? answer.status}`);
  return { outcome: made.outcome, isRefused: answer.status >= 400 && answer.status < 500 };
}

/** A payout that is stopped is FAILED at once, unless the provider's list has it, or isn't read yet. */
function outcomeOf(action: PlannedVerdict['action'], { status, payment }: ApiAnswer): MadeVerdict['outcome'] {
  if (status === 0 || status === 202 || status >= 500) return 'open';
  // It may have been this one that has stopped it, and its answer lost with the end of the workflow's run.
  if (status !== 200) return action === 'reject' && payment?.failureCode === 'not_approved' ? 'open' : 'refused';
  return action === 'approve' || (payment?.final && payment.status === 'FAILED') ? 'done' : 'open';
}

/** Returns what is wrong with the answer to a verdict. */
function objectionTo(
  { by, action, isOther }: PlannedVerdict,
  { at, mayApprove, outcome }: MadeVerdict,
  { status, code = '' }: ApiAnswer,
  until = Number.POSITIVE_INFINITY,
): string | undefined {
  const what = `${action} by the ${by}${isOther ? ', of another digest,' : ''}`;
  if (status === 500) return `${what} was answered 500`;
  if (outcome === 'refused') {
    const isKnown = by === 'stranger' ? status === 404 : REFUSALS[action].includes(code);
    return isKnown ? undefined : `${what} was answered ${status} ${code}`;
  }
  if (by === 'stranger' && status === 200) return `${what} was taken`;
  if (action !== 'approve' || outcome !== 'done') return undefined;
  if (!mayApprove) return `${what} was taken`;
  return at > until ? `${what} was taken ${at - until} ms after the end of the time for it` : undefined;
}

/** The digest of something else: another first digit. */
function otherDigest(digest: string): string {
  return `${digest.startsWith('0') ? '1' : '0'}${digest.slice(1).padStart(63, '0')}`;
}
