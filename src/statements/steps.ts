import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { type DayPayments, paymentsOfDay, paymentsWith } from '../book/day-payments.js';
import { findByTransId } from '../book/payments.js';
import { Statements } from '../book/statements.js';
import type { Ring } from '../engine/ring.js';
import { SERVICES, type Service } from '../payments/words/order.js';
import { dayAfter, startOf } from '../payments/words/time.js';
import { mayHide, unanswered } from '../reconciliation/day-search.js';
import { type DayPayment, movedBy } from '../reconciliation/reconciliation.js';
import { BALANCE_WINDOW_MS, toStatement } from '../reconciliation/statement.js';
import type { MadeStatement, StatementRun, StatementSteps } from '../workflows/messages.js';
import { ProviderQuestions, type StatementProviders } from './ask-provider.js';
import { compareDay, ShownTransactions } from './day-comparison.js';
import { followUpFindings, noted } from './follow-up.js';
import { COMPARISON, DIFFERENCES, keptPart, LISTS, PAYMENTS, SEARCHES } from './parts.js';
import { KEEP_EVERY, searchDay } from './search-day.js';

export interface StatementOptions {
  readonly book: Book;
  readonly providers: StatementProviders;
  readonly ring: Ring;
  readonly logger: Logger;
  /** Pause before each question to the provider, in ms. */
  readonly pauseMs?: number;
}

/** Ten questions a second at most: far below what payments ask on a busy day. */
const PAUSE_MS = 100;

/** Largest number of payments in a statement. */
const MAX_PAYMENTS = 50_000;

/** Largest number of payments that the provider is asked for one by one. */
const MAX_LOOK_UPS = 5_000;

/** Dependencies of the steps. */
interface Making {
  readonly book: Book;
  readonly statements: Statements;
  readonly questions: ProviderQuestions;
  readonly logger: Logger;
}

/** Makes the activities that make statements. */
export function createStatementSteps(options: StatementOptions): StatementSteps {
  const { book, providers, ring, logger, pauseMs = PAUSE_MS } = options;
  const statements = new Statements(book);
  const questions = new ProviderQuestions(providers, pauseMs);
  const making: Making = { book, statements, questions, logger };
  return {
    readBalances: (day) => readBalances(making, day),
    async readPayments(run) {
      await statements.savePart(run.runId, PAYMENTS, await readDay(making, run));
    },
    async searchDay({ runId, day }, service) {
      const { payments } = await statements.part(runId, PAYMENTS);
      const part = SEARCHES[service];
      const begun = await statements.part(runId, part);
      await searchDay(questions, service, day, payments, begun, (come) => statements.savePart(runId, part, come));
    },
    lookUpPayments: ({ runId }) => lookUpPayments(making, runId),
    comparePayments: (run) => comparePayments(making, run),
    async followUp({ runId, day, until }) {
      const { findings } = keptPart(await statements.part(runId, COMPARISON), COMPARISON);
      const differences =
        until === undefined ? await followUpFindings({ book, ring }, day, findings, heartbeat) : findings.map(noted);
      await statements.savePart(runId, DIFFERENCES, differences);
    },
    publish: (run) => publish(making, run),
  };
}

async function readBalances({ book, statements, questions }: Making, day: string): Promise<void> {
  const missing: string[] = [];
  for (const service of SERVICES) {
    if ((await statements.balance(day, service)) !== undefined) continue;
    const askedAt = book.now();
    if (askedAt < startOf(day) || askedAt > startOf(day) + BALANCE_WINDOW_MS) continue;
    try {
      await statements.saveBalance(day, service, await questions.balance(service), askedAt);
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      missing.push(`${service}: ${error.message}`);
    }
  }
  if (missing.length > 0) throw ApplicationFailure.retryable(missing.join('; '), 'NoAnswer');
}

function readDay({ book }: Making, { day, until }: StatementRun): Promise<DayPayments> {
  const period = { from: startOf(day), before: until ?? startOf(dayAfter(day)) };
  return paymentsOfDay(book, period, MAX_PAYMENTS, heartbeat);
}

async function lookUpPayments({ statements, questions }: Making, runId: string): Promise<void> {
  const { payments } = await statements.part(runId, PAYMENTS);
  const lists = new Map(await statements.part(runId, LISTS));
  const { found, gaps } = await searched(statements, runId);
  const shown = new ShownTransactions(found, lists);
  const isUnsure = (payment: DayPayment) =>
    shown.inSearches(payment).length === 0 ||
    gaps[payment.kind].some((gap) => mayHide(gap, payment.amount) || mayHide(gap, movedBy(payment)));
  const sought = payments.filter(isUnsure).toSorted((one, other) => urgency(one) - urgency(other));
  for (const { id, kind } of sought.slice(0, MAX_LOOK_UPS)) {
    if (lists.has(id)) continue;
    lists.set(id, (await questions.transactionsOf(kind, id)) ?? null);
    if (lists.size % KEEP_EVERY === 0) await statements.savePart(runId, LISTS, [...lists]);
  }
  await statements.savePart(runId, LISTS, [...lists]);
}

async function comparePayments(making: Making, run: StatementRun): Promise<void> {
  const { book, statements, questions } = making;
  const { runId } = run;
  // Read again: payments have moved on since the provider was asked.
  const { payments, cutOff } = await readDay(making, run);
  const { found } = await searched(statements, runId);
  const lists = new Map(await statements.part(runId, LISTS));
  const comparison = await compareDay(payments, found, lists, {
    paymentsWith: (ids) => paymentsWith(book, ids),
    isHeld: async ({ transId }) => (await findByTransId(book, transId)) !== undefined,
    list: ({ kind, id }) => questions.transactionsOf(kind, id).catch(ignoreNoAnswer),
  });
  await statements.savePart(runId, COMPARISON, { ...comparison, cutOff });
}

async function publish(
  { book, statements, logger }: Making,
  { runId, day, until }: StatementRun,
): Promise<MadeStatement> {
  const comparison = await statements.part(runId, COMPARISON);
  const differences = await statements.part(runId, DIFFERENCES);
  const { gaps } = await searched(statements, runId);
  const balancesOf = async (service: Service) => ({
    opening: await statements.balance(day, service),
    closing: await statements.balance(dayAfter(day), service),
  });
  const balances = { collection: await balancesOf('collection'), payout: await balancesOf('payout') };
  const madeAt = book.now();
  // From then on, the last version is the statement of the whole day.
  if (until !== undefined && madeAt >= startOf(dayAfter(day))) {
    throw ApplicationFailure.nonRetryable(`${day} has ended meanwhile: make the statement of the day`, 'DayOver');
  }
  // A run that has published has no parts any more, and gets its statement back.
  const made = await statements.publish(runId, day, (version) => {
    const { lines: payments, cutOff } = keptPart(comparison, COMPARISON);
    const parts = { payments, differences: keptPart(differences, DIFFERENCES), gaps, balances, cutOff };
    return toStatement({ ...parts, date: day, version, madeAt, until });
  });
  logger.info({ ...made }, 'the statement of a day was made');
  return made;
}

/** The transactions that the searches have shown, and their gaps. A search that was given up leaves one. */
async function searched(statements: Statements, runId: string) {
  const collection = await statements.part(runId, SEARCHES.collection);
  const payout = await statements.part(runId, SEARCHES.payout);
  return {
    found: { collection: collection.found, payout: payout.found },
    gaps: { collection: unanswered(collection.search).gaps, payout: unanswered(payout.search).gaps },
  };
}

function heartbeat(): void {
  Context.current().heartbeat();
}

/** A second look without an answer leaves the findings of the first. */
function ignoreNoAnswer(error: unknown): undefined {
  if (!(error instanceof ApplicationFailure)) throw error;
}

/** Ranks payments: those that moved money first, then those that may still. */
function urgency({ status, final }: DayPayment): number {
  if (status === 'SUCCESSFUL') return 0;
  return final ? 2 : 1;
}
