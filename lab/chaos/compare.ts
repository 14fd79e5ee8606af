import type { SeenPayment } from '../simulation/actors/api-client.js';
import { audit } from '../simulation/audit/audit.js';
import type { Violation } from '../simulation/audit/case.js';
import { eachOf } from '../simulation/each-of.js';
import type { ChaosRecord } from './chaos-record.js';
import { booksAt, readBooks, type Transaction } from './provider-books.js';
import type { Scene } from './scene.js';

/** Requests under way at a time. */
const IN_FLIGHT = 16;
/** Tries to read a payment, and ms between them. */
const TRIES = 10;
const AGAIN_MS = 1_000;
/** ms by which the clocks of two processes on one machine may differ in their last digits. */
const CLOCKS_MS = 50;

/** Compares the provider's books with every payment and with what the merchant was told, once everything is quiet. */
export async function compare(scene: Scene): Promise<Violation[]> {
  const violations: Violation[] = [];
  const { transactions: all, posts } = await readBooks(scene.stack.sandboxUrl);
  const books = byPayment(all);
  await eachOf(scene.records, IN_FLIGHT, async (record) => {
    const { id } = record.planned;
    const transactions = books.get(id) ?? [];
    books.delete(id);
    const shown = await show(record, scene);
    if (shown === 'silent') {
      violations.push({ invariant: 'stuck', about: id, what: "the API can't say how it stands" });
      return;
    }
    scene.doings.add(`ended: ${shown?.status ?? 'unknown'}`);
    // Operators are there all the time: nothing may still be under review.
    const complete = withTruth(record, shown, transactions);
    violations.push(...audit({ record: complete, shown, transactions, posts: posts.get(id) ?? 0 }));
  });
  for (const [about, transactions] of books)
    violations.push({
      invariant: 'lost',
      about: about ?? 'nobody',
      what: `${transactions.length} transactions that nobody asked for`,
    });
  return violations;
}

function byPayment(transactions: readonly Transaction[]): Map<string | undefined, Transaction[]> {
  const books = new Map<string | undefined, Transaction[]>();
  for (const transaction of transactions) {
    const { externalId } = transaction;
    books.set(externalId, [...(books.get(externalId) ?? []), transaction]);
  }
  return books;
}

/**
 * The record with what only the books tell: how things stood when the merchant was told. An end that was shown and
 * then changed was wrong.
 */
function withTruth(
  record: ChaosRecord,
  shown: SeenPayment | undefined,
  transactions: readonly Transaction[],
): ChaosRecord {
  // What a workflow that is terminated had yet to write down is lost with it; it is under review then.
  const changed = record.terminated ? [] : [...record.ends].filter((status) => status !== shown?.status);
  return {
    ...record,
    notices: record.notices.map((notice) => ({
      ...notice,
      truth: booksAt(transactions, notice.at + CLOCKS_MS),
    })),
    wrongAnswers: [
      ...record.wrongAnswers,
      ...changed.map((status) => `shown as ${status} for good, and now as ${shown?.status}`),
    ],
  };
}

/** The payment as the API shows it; `undefined` when there is none, `silent` when the API has no answer. */
async function show({ planned }: ChaosRecord, { api }: Scene): Promise<SeenPayment | undefined | 'silent'> {
  for (let tries = 1; ; tries++) {
    const { status, payment } = await api.get(planned.owner, `/v1/payments/${planned.id}`);
    if (payment !== undefined || status === 404) return payment;
    if (tries === TRIES) return 'silent';
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
