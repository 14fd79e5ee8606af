import { z } from 'zod';
import type { InitiationOutcome } from '../payments/words/outcome.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import type { Book } from './book.js';
import { type SentOutcome, sentOutcome } from './content.js';
import type { Query } from './database.js';
import { recordGap } from './gaps.js';
import { lockState } from './rows.js';

/** One attempt to send a payment. */
export interface Attempt {
  readonly id: PaymentId;
  /** That of the state that decided it. */
  readonly token: number;
  readonly attempt: number;
  /** A number of this hand alone: only what it has written itself is its own, whoever else has its token. */
  readonly hand: number;
}

/** Locks the state that has decided an attempt. @returns `undefined` once it is another */
export async function lockDecided(
  book: Book,
  query: Query,
  { id, token, attempt }: Attempt,
): Promise<PaymentState | undefined> {
  const row = await lockState(query, book.seals, id);
  return row?.asked === token && row.attempt === attempt ? row.kept.state : undefined;
}

/**
 * Keeps what became of an attempt that was fenced, before it is told to anybody. The first that is kept stays. Where
 * the fence is gone, the book has gone back.
 */
export async function keepOutcome(
  book: Book,
  { id, attempt, hand }: Attempt,
  outcome: InitiationOutcome,
): Promise<void> {
  const sealed = await sealOutcome(book, id, attempt, outcome);
  await book.transaction(async (query) => {
    const rows = await query(
      `UPDATE sends SET outcome = coalesce(outcome, $4), sealed = CASE WHEN outcome IS NULL THEN $5 ELSE sealed END
       WHERE payment_id = $1 AND attempt = $2 AND hand = $3 RETURNING attempt`,
      [id, attempt, hand, outcome.kind, sealed],
    );
    if (rows.length > 0) return;
    await recordGap(query, book.now(), `the book lacks the fence of attempt ${attempt} of ${id}`, book.now());
  });
}

/**
 * Keeps why a hand sends nothing of its attempt, and never will, unless somebody has closed that before. Its fence may
 * have been written, and the answer lost.
 */
export async function keepUnsent(book: Book, attempt: Attempt, outcome: InitiationOutcome, now: number): Promise<void> {
  const { id, attempt: number, hand } = attempt;
  const sealed = await sealOutcome(book, id, number, outcome);
  await book.transaction(async (query) => {
    if ((await lockDecided(book, query, attempt)) === undefined) return;
    await query(
      `INSERT INTO sends (payment_id, attempt, at, outcome, sealed) VALUES ($1, $2, $4, $5, $6)
       ON CONFLICT (payment_id, attempt) DO UPDATE SET outcome = $5, sealed = $6
       WHERE sends.hand = $3 AND sends.outcome IS NULL`,
      [id, number, hand, new Date(now), outcome.kind, sealed],
    );
  });
}

function sealOutcome(book: Book, id: PaymentId, attempt: number, outcome: InitiationOutcome): Promise<Buffer> {
  return book.seals.seal({ table: 'sends', id, version: attempt }, { outcome } satisfies SentOutcome);
}

/** What the fence of an attempt says. */
export type Known =
  | { readonly kind: 'closed' }
  /** It was fenced, and may have left. */
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly outcome: InitiationOutcome };

const CLOSED = 'closed';

/** What becomes of an attempt that has moved no money, and never will. */
export const WITHOUT_MONEY: readonly (InitiationOutcome['kind'] | typeof CLOSED)[] = [
  CLOSED,
  'notSent',
  'withheld',
  'unauthorized',
  'rejected',
];

/**
 * Closes an attempt that somebody doubts: it was surely not sent and never will be, unless its fence was written. The
 * payment's state has to be locked before.
 */
export async function close(book: Book, query: Query, id: PaymentId, attempt: number, now: number): Promise<Known> {
  const inserted = await query(
    `INSERT INTO sends (payment_id, attempt, at, outcome, taken) VALUES ($1, $2, $3, $4, true)
     ON CONFLICT (payment_id, attempt) DO NOTHING RETURNING attempt`,
    [id, attempt, new Date(now), CLOSED],
  );
  if (inserted.length > 0) return { kind: 'closed' };
  const [row] = await query(
    'UPDATE sends SET taken = outcome IS NOT NULL WHERE payment_id = $1 AND attempt = $2 RETURNING outcome, sealed',
    [id, attempt],
  );
  return await known(book, id, attempt, row);
}

const sendRow = z.object({ outcome: z.string().optional(), sealed: z.instanceof(Buffer).optional() });

async function known(book: Book, id: PaymentId, attempt: number, row: unknown): Promise<Known> {
  const { outcome: kind, sealed } = sendRow.parse(row);
  if (kind === CLOSED) return { kind: 'closed' };
  if (sealed === undefined) return { kind: 'open' };
  const { outcome } = await book.seals.open({ table: 'sends', id, version: attempt }, sealed, sentOutcome);
  return { kind: 'ended', outcome };
}

/** An attempt whose outcome no turn has taken yet. */
export interface Untaken {
  readonly attempt: number;
  readonly outcome: InitiationOutcome;
}

/**
 * Takes the outcomes that are kept and not taken yet, also those that come late. The state has to be locked before.
 *
 * @param only the attempt that alone is of interest
 */
export async function takeOutcomes(
  book: Book,
  query: Query,
  id: PaymentId,
  only?: number,
): Promise<readonly Untaken[]> {
  const rows = await query(
    `UPDATE sends SET taken = true
     WHERE payment_id = $1 AND outcome IS NOT NULL AND NOT taken AND ($2::integer IS NULL OR attempt = $2)
     RETURNING attempt, outcome, sealed`,
    [id, only ?? null],
  );
  const taken: Untaken[] = [];
  for (const row of rows) {
    const { attempt } = z.object({ attempt: z.int() }).parse(row);
    const ended = await known(book, id, attempt, row);
    if (ended.kind === 'ended') taken.push({ attempt, outcome: ended.outcome });
  }
  return taken.toSorted((one, other) => one.attempt - other.attempt);
}

/** Reports whether anything of a payment that the provider may have taken has left, or may still leave. */
export async function mayHaveLeft(query: Query, id: PaymentId): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM sends WHERE payment_id = $1 AND coalesce(outcome, 'open') <> ALL ($2) LIMIT 1`,
    [id, WITHOUT_MONEY],
  );
  return rows.length > 0;
}
