import got, { RequestError } from 'got';
import { z } from 'zod';
import { type ChaosContext, wait } from '../chaos/context.js';
import { seededRandom } from '../plan/seeded-random.js';
import { secretOf } from '../world/credentials.js';
import { readBooks } from '../world/provider-books.js';
import { decisionByBooks, putDecision } from './decisions.js';
import type { ObservedPayment } from './observed-payment.js';

/** Time between two rounds, in ms. */
const ROUND_MS = 2_000;
/** The API's time limit, in ms. */
const TIMEOUT_MS = 15_000;

const listSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * The operators of a chaos run: again and again they list the payments under review, read each of them and the
 * provider's books, as its support would let them, and decide by those. Runs until the run is over.
 */
export async function operate(context: ChaosContext, roundMs = ROUND_MS): Promise<void> {
  for (;;) {
    await wait(roundMs, context);
    for (const id of await listReviews(context)) {
      const record = context.records.find(({ planned }) => planned.id === id);
      if (record !== undefined) await review(record, context);
    }
  }
}

async function listReviews({ stack }: ChaosContext): Promise<string[]> {
  return await orElse([], async () => {
    const body: unknown = await got(`${stack.apiUrl}/v1/payments`, {
      searchParams: { status: 'REVIEW', limit: 100 },
      headers: { authorization: `Bearer ${secretOf('operator')}` },
      retry: { limit: 0 },
      timeout: { request: TIMEOUT_MS },
    }).json();
    return listSchema.parse(body).data.map(({ id }) => id);
  });
}

async function review(record: ObservedPayment, context: ChaosContext): Promise<void> {
  const { id } = record.planned;
  const { payment } = await context.api.get('operator', `/v1/payments/${id}`);
  if (payment?.review === undefined) return;
  const books = await orElse(undefined, () => readBooks(context.stack.sandboxUrl, id));
  if (books === undefined) return;
  record.reviews++;
  record.reviewsSeen.push(context.now());
  const random = seededRandom(context.seed, 'review', id, record.reviews);
  const decision = decisionByBooks(random, payment, books.transactions, record.decisions);
  if (decision === undefined) return;
  const proposal = {
    decision,
    review: payment.review.number,
    forced: false,
    isWrong: false,
    why: "as the provider's books say",
  };
  await putDecision(record, payment, proposal, 'operator', context);
}

/** The result, or `otherwise` if the server is away or gives no answer. */
async function orElse<Result, Otherwise>(
  otherwise: Otherwise,
  ask: () => Promise<Result>,
): Promise<Result | Otherwise> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RequestError) return otherwise;
    throw error;
  }
}
