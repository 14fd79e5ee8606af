import { setTimeout as pause } from 'node:timers/promises';
import type { Book } from '../book/book.js';
import { paymentsWith } from '../book/day-payments.js';
import { post, replyTo } from '../book/inbox.js';
import { takeTurn } from '../book/turn.js';
import { keepUnmatched, listUnmatched } from '../book/unmatched.js';
import { UnreadableRecordError } from '../book/versioned-json.js';
import type { Ring } from '../engine/ring.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { isoTime } from '../payments/words/time.js';
import type { Finding } from '../reconciliation/reconciliation.js';
import type { Difference } from '../reconciliation/statement.js';

interface FollowUpContext {
  readonly book: Book;
  readonly ring: Ring;
}

/**
 * Payments that one statement checks at most, and transactions that it shows on the desk: a person has to look at each.
 */
const MAX_CHECKED = 200;
const MAX_SHOWN = 50;

/** For how long the payments' checks are waited for together, in ms, and between two looks. */
const CHECK_LIMIT_MS = 10 * 60_000;
const LOOK_EVERY_MS = 500;

type Handled = Omit<Difference, keyof Finding>;

/**
 * Acts on a day's findings. A payment that differs compares itself with the provider's records, as it does when an
 * operator asks for it: if its outcome is contradicted, it goes to REVIEW. A transaction that belongs to no payment is
 * shown to operators.
 *
 * It may be done again: a payment that is checked twice is the same, and a transaction is shown once.
 */
export async function followUpFindings(
  context: FollowUpContext,
  day: string,
  findings: readonly Finding[],
  onProgress: () => void,
): Promise<Difference[]> {
  const shown = await showUnknown(context, day, findings);
  const doubtful = findings.filter(isDoubtful).map(({ paymentId }) => paymentId);
  const checked = await check(context, [...new Set(doubtful)], onProgress);
  return findings.map((finding): Difference => {
    if (finding.kind === 'only_at_provider') {
      return { ...finding, handling: shown.has(finding) ? 'unmatched' : 'noted' };
    }
    if (!isDoubtful(finding)) return { ...finding, handling: 'under_review' };
    return { ...finding, ...(checked.get(finding.paymentId) ?? TOO_MANY) };
  });
}

/** A finding on a day that isn't over: it is shown, and nothing is done, because payments are still under way. */
export function noted(finding: Finding): Difference {
  return { ...finding, handling: finding.status === 'REVIEW' ? 'under_review' : 'noted' };
}

const TOO_MANY: Handled = {
  handling: 'not_checked',
  problem: `more than ${MAX_CHECKED} payments of the day differ`,
};

function isDoubtful(finding: Finding): finding is Finding & { readonly paymentId: PaymentId } {
  return finding.kind !== 'only_at_provider' && finding.status !== 'REVIEW' && finding.paymentId !== undefined;
}

/** Has payments compare themselves with the provider's records, all at once, and waits for what comes of it. */
async function check(
  { book, ring }: FollowUpContext,
  ids: readonly PaymentId[],
  onProgress: () => void,
): Promise<ReadonlyMap<PaymentId, Handled>> {
  const asked = new Map<PaymentId, number>();
  const checked = new Map<PaymentId, Handled>();
  for (const id of ids.slice(0, MAX_CHECKED)) {
    onProgress();
    try {
      const message = await post(book, id, { kind: 'recheck', by: { role: 'statement' } }, book.now());
      await takeTurn(book, id, { asksNothing: true }, book.now());
      asked.set(id, message);
    } catch (error) {
      // The day has its statement all the same.
      if (!(error instanceof UnreadableRecordError)) throw error;
      checked.set(id, { handling: 'not_checked', problem: `it can't be read: ${error.message}` });
      continue;
    }
    await ring(id);
  }
  for (const end = Date.now() + CHECK_LIMIT_MS; asked.size > 0 && Date.now() < end; await pause(LOOK_EVERY_MS)) {
    for (const [id, message] of asked) {
      const reply = await replyTo(book, id, message);
      if (reply === undefined) continue;
      asked.delete(id);
      checked.set(
        id,
        reply.kind === 'refused'
          ? { handling: 'not_checked', problem: reply.words }
          : { handling: 'checked', statusAfter: await statusOf(book, id) },
      );
    }
    onProgress();
  }
  for (const id of asked.keys()) checked.set(id, { handling: 'not_checked', problem: 'its check takes longer' });
  return checked;
}

async function statusOf(book: Book, id: PaymentId) {
  return (await paymentsWith(book, [id]))[0]?.status;
}

/** Puts transactions that no payment knows among the unmatched notifications, first those that have moved money. */
async function showUnknown(
  { book }: FollowUpContext,
  day: string,
  findings: readonly Finding[],
): Promise<ReadonlySet<Finding>> {
  const unknown = findings.filter(({ kind }) => kind === 'only_at_provider');
  if (unknown.length === 0) return new Set();
  const known = new Set((await listUnmatched(book)).map(({ transId, status }) => `${transId} ${status}`));
  const shown = unknown.toSorted((one, other) => rank(one) - rank(other)).slice(0, MAX_SHOWN);
  for (const { transId, providerStatus: status, externalId } of shown) {
    if (transId === undefined || status === undefined || known.has(`${transId} ${status}`)) continue;
    await keepUnmatched(book, { transId, status, externalId, at: isoTime(book.now()), statement: day });
  }
  return new Set(shown);
}

function rank({ providerStatus }: Finding): number {
  if (providerStatus === 'SUCCESSFUL') return 0;
  return providerStatus === 'PENDING' ? 1 : 2;
}
