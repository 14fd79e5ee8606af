import type { ApiAnswer, SeenPayment } from '../../simulation/actors/api-client.js';
import type { ChaosRecord } from '../chaos-record.js';
import { type Scene, untilOver, wait } from '../scene.js';
import { sendPayer } from './payer.js';

/** ms between two tries of a request that has had no answer; it grows to the second. */
const AGAIN_MS = [200, 2_000] as const;
/** ms between two looks for a link that wasn't there at first. */
const LINK_LOOK_MS = 1_000;

/**
 * A merchant's order system: asks for the payment, with the same key until there is an answer, gives the payer the
 * link, and does now and then what merchants do besides.
 */
export async function takePayment(record: ChaosRecord, scene: Scene): Promise<void> {
  const { habits } = record.planned;
  const asking = () => ask(record, scene);
  await Promise.all(habits.twin ? [asking(), asking()] : [asking()]);
  await Promise.all([giveLink(record, scene), ...followHabits(record, scene)].map(untilOver));
}

async function ask(record: ChaosRecord, scene: Scene): Promise<void> {
  const { owner, path, body, key } = record.planned;
  const answer = await answered(record, scene, () => scene.api.post(owner, path, body, key));
  const { status, payment, code } = answer;
  if (status === 200 || status === 201 || status === 202 || status === 422) {
    record.taken = true;
    if (payment === undefined) record.wrongAnswers.push(`an answer ${status} without a payment`);
    else see(record, payment);
  } else {
    record.wrongAnswers.push(`the request was answered ${status} ${code ?? ''}`);
  }
}

/** Repeats a call until it has an answer: a broken connection, a 503 and no answer in time are none. */
async function answered(
  record: ChaosRecord,
  scene: Scene,
  call: () => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  for (let tries = 0; ; tries++) {
    scene.over.throwIfAborted();
    const answer = await call();
    if (answer.status === 500) record.wrongAnswers.push('the API answered 500');
    if (answer.status !== 0 && answer.status !== 503 && answer.status !== 500) return answer;
    scene.doings.add(answer.status === 0 ? 'merchant: no answer' : `merchant: ${answer.status}`);
    const [first, most] = AGAIN_MS;
    await wait(Math.min(first * 2 ** tries, most), scene);
  }
}

async function look(record: ChaosRecord, scene: Scene): Promise<SeenPayment | undefined> {
  const { owner, id } = record.planned;
  const { status, payment } = await answered(record, scene, () => scene.api.get(owner, `/v1/payments/${id}`));
  if (payment !== undefined) see(record, payment);
  else record.wrongAnswers.push(`the payment was answered ${status}`);
  return payment;
}

/** Waits for the link if need be, and sends the payer. */
async function giveLink(record: ChaosRecord, scene: Scene): Promise<void> {
  if (record.planned.way !== 'link') return;
  while (record.link === undefined) {
    const payment = await look(record, scene);
    if (payment?.final || record.terminated) return;
    await wait(LINK_LOOK_MS, scene);
  }
  await sendPayer(record, scene);
}

function followHabits(record: ChaosRecord, scene: Scene): Promise<void>[] {
  const { owner, id, path, body, key, habits } = record.planned;
  const { repeatsAfter, looksAfter, otherBodyAfter, refreshesAfter, expiresAfter } = habits;
  const { api } = scene;
  const later = async (after: number | undefined, act: () => Promise<unknown>) => {
    if (after === undefined) return;
    await wait(after, scene);
    await act();
  };
  const told = async (call: () => Promise<ApiAnswer>) => {
    const { payment } = await answered(record, scene, call);
    if (payment !== undefined) see(record, payment);
  };
  return [
    ...repeatsAfter.map((after) => later(after, () => ask(record, scene))),
    ...looksAfter.map((after) => later(after, () => look(record, scene))),
    later(refreshesAfter, () => told(() => api.post(owner, `/v1/payments/${id}/refresh`))),
    later(expiresAfter, () => told(() => api.post(owner, `/v1/collections/${id}/expire`))),
    later(otherBodyAfter, async () => {
      const other = { ...body, amount: Number(body.amount) + 1 };
      const { status } = await answered(record, scene, () => api.post(owner, path, other, key));
      if (status !== 409) record.wrongAnswers.push(`another body with the same key was answered ${status}`);
    }),
  ];
}

/** Takes note of a payment as the API shows it. An end, once shown, has to stay. */
function see(record: ChaosRecord, payment: SeenPayment): void {
  if (payment.id !== record.planned.id) record.wrongAnswers.push(`the key led to payment ${payment.id}`);
  if (payment.final) record.ends.add(payment.status);
  if (payment.link === undefined || record.link !== undefined) return;
  record.link = payment.link;
  record.endsAt = Date.parse(payment.expiresAt ?? '');
}
