import { Gauge, type Registry } from 'prom-client';
import type { Book } from '../book/book.js';
import { BookUnavailable } from '../book/database.js';
import type { Statements, StatementsState } from '../book/statements.js';
import { shareAnswers } from '../engine/shared-answers.js';
import { dayAfter, startOf } from '../payments/words/time.js';

/**
 * Adds the gauges of the latest day's statement to a registry. They are `NaN` while there is nothing to be said:
 * while the book is away, and before the first payment.
 */
export function measureStatements(
  registry: Registry,
  { statements, book }: { readonly statements: Statements; readonly book: Pick<Book, 'now'> },
): void {
  const registers = [registry];
  // All gauges are read at once.
  const read = shareAnswers(() => stateOf(statements), 0);
  new Gauge({
    name: 'sanaga_statement_age_seconds',
    help: 'How long ago the latest day ended that has a statement, between 3 and 28 hours when all is well; without any, since the first payment. NaN while the book is away. Every API process shows the same: take the minimum',
    registers,
    async collect() {
      const { latest, dueSince = Number.NaN } = await read();
      const covered = latest === undefined ? Number.NEGATIVE_INFINITY : startOf(dayAfter(latest.date));
      this.set((book.now() - Math.max(covered, dueSince)) / 1_000);
    },
  });
  new Gauge({
    name: 'sanaga_statement_differences',
    help: "The differences of the latest day's statement, by its latest version, payments in REVIEW among them; NaN without one",
    registers,
    async collect() {
      this.set((await read()).latest?.differences ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'sanaga_statement_complete',
    help: "1 when the latest day's statement covers all that the provider has of it, 0 when it has gaps; NaN without one",
    registers,
    async collect() {
      const { latest } = await read();
      this.set(latest === undefined ? Number.NaN : Number(latest.complete));
    },
  });
}

async function stateOf(statements: Statements): Promise<StatementsState> {
  try {
    return await statements.state();
  } catch (error) {
    if (!(error instanceof BookUnavailable)) throw error;
    return { latest: undefined, dueSince: undefined };
  }
}
