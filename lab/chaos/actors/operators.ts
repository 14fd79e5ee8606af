import got, { RequestError } from 'got';
import { z } from 'zod';
import { diceOf } from '../../simulation/plan/dice.js';
import { SECRETS } from '../../simulation/world/credentials.js';
import type { ChaosRecord } from '../chaos-record.js';
import { readBooks, type Transaction } from '../provider-books.js';
import { type Scene, wait } from '../scene.js';

/** ms between two rounds. */
const ROUND_MS = 2_000;
const LIMIT_MS = 15_000;

const listSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      transId: z.string().optional(),
      review: z.object({ number: z.int(), decideFrom: z.iso.datetime() }).optional(),
    }),
  ),
});
type UnderReview = z.infer<typeof listSchema>['data'][number];

/**
 * The operators: again and again they go through the payments under review, look at the provider's books, as its
 * support would let them, and decide by those.
 */
export async function operate(scene: Scene, roundMs = ROUND_MS): Promise<void> {
  const byId = new Map<string, ChaosRecord>(scene.records.map((record) => [record.planned.id, record]));
  for (;;) {
    await wait(roundMs, scene);
    for (const payment of await underReview(scene)) {
      const record = byId.get(payment.id);
      if (record !== undefined) await lookInto(record, payment, scene);
    }
  }
}

async function underReview({ stack }: Scene): Promise<UnderReview[]> {
  return await orNothing(async () => {
    const body: unknown = await got(`${stack.apiUrl}/v1/payments`, {
      searchParams: { status: 'REVIEW', limit: 100 },
      headers: { authorization: `Bearer ${SECRETS.operator}` },
      retry: { limit: 0 },
      timeout: { request: LIMIT_MS },
    }).json();
    return listSchema.parse(body).data;
  }, []);
}

async function lookInto(record: ChaosRecord, payment: UnderReview, scene: Scene): Promise<void> {
  const { id } = record.planned;
  const books = await orNothing(() => readBooks(scene.stack.sandboxUrl, id), undefined);
  if (books === undefined) return;
  record.reviews++;
  record.reviewsSeen.push(Date.now());
  const decision = decide(record, payment, books.transactions, scene);
  if (decision === undefined) return;
  const review = payment.review?.number ?? 0;
  const body = { ...decision, review, why: 'as the books of the provider say' };
  const at = Date.now();
  const { status } = await scene.api.post('operator', `/v1/payments/${id}/resolve`, body);
  const outcome =
    status === 200 ? 'done' : status === 202 || status === 0 || status >= 500 ? 'open' : 'refused';
  record.decisions.push({ at, action: decision.action, review, forced: false, outcome, isWrong: false });
  scene.doings.add(`operator: ${decision.action} ${status === 0 ? 'no answer' : status}`);
}

/** What the books call for; nothing when the transaction that they show is being followed already. */
function decide(
  { planned, reviews }: ChaosRecord,
  payment: UnderReview,
  transactions: readonly Transaction[],
  { seed }: Scene,
): { action: 'resend' | 'fail' } | { action: 'match'; transId: string } | undefined {
  const entry = transactions.find(({ status }) => status !== 'FAILED') ?? transactions.at(-1);
  if (entry === undefined) {
    return { action: diceOf(seed, 'review', planned.id, reviews).chance('resend', 0.6) ? 'resend' : 'fail' };
  }
  return payment.transId === entry.transId ? undefined : { action: 'match', transId: entry.transId };
}

/** The result, or `nothing` when whoever was asked is away or has no answer. */
async function orNothing<Result, Nothing>(
  ask: () => Promise<Result>,
  nothing: Nothing,
): Promise<Result | Nothing> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RequestError) return nothing;
    throw error;
  }
}
