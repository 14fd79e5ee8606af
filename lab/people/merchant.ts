import type { ApiAnswer, SeenPayment } from './api-client.js';
import { bringToDeciders } from './approvers.js';
import type { PeopleContext } from './context.js';
import type { ObservedPayment } from './observed-payment.js';
import { sendPayer } from './payer.js';

/** Repetitions of a request that was taken, to get its link. */
const MAX_REPETITIONS_FOR_LINK = 5;

/**
 * A merchant's order system: asks for the payment until there is an answer, always with the same key, gives the payer
 * the link, and now and then does what else merchants do.
 */
export async function askForPayment(record: ObservedPayment, context: PeopleContext): Promise<void> {
  const { habits, hold } = record.planned;
  if (hold?.sendAfterMs !== undefined) record.sendAt = context.now() + hold.sendAfterMs;
  await Promise.all(habits.twin ? [order(record, context), order(record, context)] : [order(record, context)]);
  pursue(record, context, 0);
  followHabits(record, context);
}

async function order(record: ObservedPayment, context: PeopleContext): Promise<void> {
  const { owner, path, key } = record.planned;
  record.firstAskedAt ??= context.now();
  const { answer, askedAt } = await call(record, () => context.api.post(owner, path, bodyOf(record), key), context);
  noteOrder(record, answer, askedAt, context);
}

/** Makes a call. @returns its answer, and when it was last asked for, in ms since the epoch */
async function call(record: ObservedPayment, request: () => Promise<ApiAnswer>, { merchants, now }: PeopleContext) {
  let askedAt = now();
  const answer = await merchants.call(record, () => {
    askedAt = now();
    return request();
  });
  return { answer, askedAt };
}

/** The body of the order, which keeps its date when it is repeated. */
function bodyOf({ planned, sendAt }: ObservedPayment): Readonly<Record<string, unknown>> {
  return sendAt === undefined ? planned.body : { ...planned.body, sendAt: new Date(sendAt).toISOString() };
}

/** Reads the payment. @returns whether there is one */
async function look(record: ObservedPayment, context: PeopleContext): Promise<boolean> {
  const { owner, id } = record.planned;
  const wasTaken = record.taken;
  const { answer, askedAt } = await call(record, () => context.api.get(owner, `/v1/payments/${id}`), context);
  const { status, payment } = answer;
  if (payment !== undefined) see(record, payment, askedAt, context);
  else if (status === 404 ? wasTaken : isAnswer(answer)) {
    record.wrongAnswers.push(`the payment was answered ${status}`);
  }
  return status !== 404;
}

/** Tries again until the payment is taken, and its link known. */
function pursue(record: ObservedPayment, context: PeopleContext, tries: number): void {
  const { merchants, timeline, actions } = context;
  const isReading = merchants.getsLinkBy === 'reading';
  const isWanting = isReading ? isLinkMissing(record) : isAnswerMissing(record, tries);
  if (!isWanting) return;
  timeline.at(context.now() + merchants.pauseMs(tries), async () => {
    if (isReading) {
      // A book that went back may have forgotten it.
      if (!(await look(record, context))) return;
    } else {
      actions.add('merchant: again');
      await order(record, context);
    }
    pursue(record, context, tries + 1);
  });
}

function isLinkMissing({ planned, link, shownEnds }: ObservedPayment): boolean {
  return planned.way === 'link' && link === undefined && shownEnds.length === 0;
}

function isAnswerMissing({ planned, link, taken, refused }: ObservedPayment, tries: number): boolean {
  const wantsLink = planned.way === 'link' && link === undefined && tries < MAX_REPETITIONS_FOR_LINK;
  return !refused && (!taken || wantsLink);
}

function followHabits(record: ObservedPayment, context: PeopleContext): void {
  const { owner, id, habits } = record.planned;
  const { repeatsAfter, looksAfter, otherBodyAfter, refreshesAfter, expiresAfter } = habits;
  const { api, timeline, now } = context;
  const later = (after: number | undefined, act: () => Promise<void>) => {
    if (after !== undefined) timeline.at(now() + after, act);
  };
  for (const after of repeatsAfter) later(after, () => order(record, context));
  for (const after of looksAfter) later(after, async () => void (await look(record, context)));
  later(otherBodyAfter, () => orderOtherwise(record, context));
  later(refreshesAfter, () => request(record, () => api.post(owner, `/v1/payments/${id}/refresh`), context));
  later(expiresAfter, () => request(record, () => api.post(owner, `/v1/collections/${id}/expire`), context));
}

/** A refresh, or a request to expire the payment: it may be refused. */
async function request(record: ObservedPayment, ask: () => Promise<ApiAnswer>, context: PeopleContext): Promise<void> {
  // A 404 may have been on its way when the order was taken.
  const wasTaken = record.taken;
  const { answer, askedAt } = await call(record, ask, context);
  const { status, payment } = answer;
  if (payment !== undefined) see(record, payment, askedAt, context);
  else if (status === 404 && wasTaken) record.wrongAnswers.push('the payment was answered 404');
  else if (status === 500) record.wrongAnswers.push('the API answered 500');
}

/** Another body with a key that was used has to be refused. */
async function orderOtherwise(record: ObservedPayment, context: PeopleContext): Promise<void> {
  if (!record.taken) return;
  const { owner, path, body, key } = record.planned;
  const change = body.amount === undefined ? { reason: 'Another one' } : { amount: Number(body.amount) + 1 };
  const other = { ...bodyOf(record), ...change };
  context.actions.add('merchant: other body');
  const answer = await context.merchants.call(record, () => context.api.post(owner, path, other, key));
  if (answer.status !== 409 && isAnswer(answer)) {
    record.wrongAnswers.push(`another body with the same key was answered ${answer.status}`);
  }
}

/** Notes the answer to a request for the payment. */
function noteOrder(record: ObservedPayment, answer: ApiAnswer, askedAt: number, context: PeopleContext): void {
  const { status, payment, code } = answer;
  if (!isAnswer(answer)) return;
  if (isRefundRefused(record, answer)) {
    record.refused = !record.taken;
    record.refusal = code;
    context.actions.add(`refunder: ${code}`);
    if (askedAt > (record.takenAt ?? Number.POSITIVE_INFINITY))
      record.wrongAnswers.push(`it was refused after it was taken: ${code}`);
  } else if (status === 400) {
    record.refused = true;
    if (!record.planned.invalid && !isTooLate(record, context.now()))
      record.wrongAnswers.push('a valid request was answered 400');
  } else if (status === 200 || status === 201 || status === 202 || status === 422) {
    record.taken = true;
    record.takenAt ??= context.now();
    record.refused = false;
    if (payment === undefined) record.wrongAnswers.push(`an answer ${status} without a payment`);
    else see(record, payment, askedAt, context);
  } else {
    record.wrongAnswers.push(`the request was answered ${status} ${code ?? ''}`);
  }
}

/**
 * Problems for which a refund isn't made; asked for again, it may be. The last one is of a collection that a book that
 * went back has forgotten.
 */
const REFUND_PROBLEMS = [
  ...['not_refundable', 'more_than_refundable', 'refundable_mismatch', 'phone_required'],
  'not_found',
];

function isRefundRefused({ planned }: ObservedPayment, { code = '' }: ApiAnswer): boolean {
  return planned.refundOf !== undefined && REFUND_PROBLEMS.includes(code);
}

/** The order's date is over: unless the payment was taken before, it is refused. */
function isTooLate({ taken, sendAt = Number.POSITIVE_INFINITY }: ObservedPayment, now: number): boolean {
  return !taken && sendAt <= now;
}

/** A broken connection and a 503 are no answers. */
function isAnswer({ status }: ApiAnswer): boolean {
  return status !== 0 && status !== 503;
}

/** Notes the payment as the API shows it. @param askedAt when it was asked for, in ms since the epoch */
function see(record: ObservedPayment, payment: SeenPayment, askedAt: number, context: PeopleContext): void {
  if (payment.id !== record.planned.id) record.wrongAnswers.push(`the key led to payment ${payment.id}`);
  if (payment.final) {
    record.shownEnds.push({ at: context.now(), status: payment.status, truth: context.booksOf(record) });
  }
  if (payment.held !== undefined) seeHeld(record, payment.held, askedAt, context);
  if (payment.link === undefined || record.link !== undefined) return;
  record.link = payment.link;
  sendPayer(record, payment.link, Date.parse(payment.expiresAt ?? ''), context);
}

/** Notes that the payout was held, and has its deciders told when it is seen the first time. */
function seeHeld(
  record: ObservedPayment,
  held: NonNullable<SeenPayment['held']>,
  askedAt: number,
  context: PeopleContext,
): void {
  const isFirst = record.digest === undefined;
  if (record.planned.hold === undefined) record.wrongAnswers.push(`it is held for ${held.for.join(' and ')}`);
  record.heldAt = Math.max(record.heldAt ?? askedAt, askedAt);
  record.heldUntil = Date.parse(held.until);
  record.digest = held.digest;
  if (isFirst) bringToDeciders(record, held, context);
}
