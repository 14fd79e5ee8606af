import type { PaymentRecord } from '../payment-record.js';
import { HOUR, MINUTE } from '../plan/durations.js';
import type { ApiAnswer, SeenPayment } from './api-client.js';
import type { Cast } from './cast.js';
import { sendPayer } from './payer.js';

/** ms between two tries of a request that has not been answered for good; the last one repeats. */
const PAUSES = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR] as const;

/** Repetitions of a request that was taken, to hear more of it. */
const CURIOSITY = 5;

/**
 * A merchant's order system: asks for the payment until it has an answer, always with the same key, and does now and
 * then what merchants do besides.
 */
export async function askForPayment(record: PaymentRecord, cast: Cast): Promise<void> {
  const { habits } = record.planned;
  const asking = () => ask(record, cast);
  await Promise.all(habits.twin ? [asking(), asking()] : [asking()]);
  pursue(record, cast, 0);
  followHabits(record, cast);
}

async function ask(record: PaymentRecord, cast: Cast): Promise<void> {
  const { owner, path, body, key } = record.planned;
  note(record, await cast.api.post(owner, path, body, key), cast);
}

/** Asks again until the answer is one to rely on: taken, with the link if it is one. */
function pursue(record: PaymentRecord, cast: Cast, tries: number): void {
  const wantsLink = record.planned.way === 'link' && record.link === undefined && tries < CURIOSITY;
  if (record.refused || (record.taken && !wantsLink)) return;
  cast.timeline.at(cast.now() + (PAUSES[tries] ?? PAUSES[PAUSES.length - 1] ?? HOUR), async () => {
    cast.tally.add('merchantRetry');
    await ask(record, cast);
    pursue(record, cast, tries + 1);
  });
}

function followHabits(record: PaymentRecord, cast: Cast): void {
  const { planned } = record;
  const { repeatsAfter, looksAfter, otherBodyAfter, refreshesAfter, expiresAfter } = planned.habits;
  const later = (after: number | undefined, act: () => Promise<void>) => {
    if (after !== undefined) cast.timeline.at(cast.now() + after, act);
  };
  const { api } = cast;
  for (const after of repeatsAfter) later(after, () => ask(record, cast));
  for (const after of looksAfter) {
    later(after, async () => look(record, await api.get(planned.owner, `/v1/payments/${planned.id}`), cast));
  }
  later(otherBodyAfter, () => askOtherwise(record, cast));
  later(refreshesAfter, async () => {
    look(record, await api.post(planned.owner, `/v1/payments/${planned.id}/refresh`), cast);
  });
  later(expiresAfter, async () => {
    look(record, await api.post(planned.owner, `/v1/collections/${planned.id}/expire`), cast);
  });
}

/** Another body with a key that was used has to be refused. */
async function askOtherwise(record: PaymentRecord, cast: Cast): Promise<void> {
  if (!record.taken) return;
  const { owner, path, body, key } = record.planned;
  cast.tally.add('merchantOtherBody');
  const { status } = await cast.api.post(owner, path, { ...body, amount: Number(body.amount) + 1 }, key);
  if (status !== 409 && status !== 503 && status !== 0) {
    record.wrongAnswers.push(`another body with the same key was answered ${status}`);
  }
}

/** Takes note of the answer to a request for the payment. */
function note(record: PaymentRecord, answer: ApiAnswer, cast: Cast): void {
  const { status, payment } = answer;
  if (status === 400) {
    record.refused = true;
    if (!record.planned.invalid) record.wrongAnswers.push('a valid request was answered 400');
    return;
  }
  if (status === 503 || status === 0) return;
  if (status !== 200 && status !== 201 && status !== 202 && status !== 422) {
    record.wrongAnswers.push(`the request was answered ${status} ${answer.code ?? ''}`);
    return;
  }
  record.taken = true;
  if (payment === undefined) record.wrongAnswers.push(`an answer ${status} without a payment`);
  else see(record, payment, cast);
}

/** Takes note of the answer to a question about the payment. */
function look(record: PaymentRecord, answer: ApiAnswer, cast: Cast): void {
  const { status, payment } = answer;
  if (payment !== undefined) see(record, payment, cast);
  else if (status === 404 && record.taken) record.wrongAnswers.push('the payment was answered 404');
  else if (status === 500) record.wrongAnswers.push('the API answered 500');
}

function see(record: PaymentRecord, payment: SeenPayment, cast: Cast): void {
  const { planned } = record;
  if (payment.id !== planned.id) record.wrongAnswers.push(`the key led to payment ${payment.id}`);
  if (payment.final) {
    const truth = cast.transactionsOf(record).map(({ status, isStray }) => ({ status, isStray }));
    record.shownEnds.push({ at: cast.now(), status: payment.status, truth });
  }
  if (payment.link === undefined || record.link !== undefined) return;
  record.link = payment.link;
  sendPayer(record, payment.link, Date.parse(payment.expiresAt ?? ''), cast);
}
