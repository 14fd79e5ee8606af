import { Context } from '@temporalio/activity';
import { ApplicationFailure, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { Descriptions } from '../engine/descriptions.js';
import { SharedUpdates, type UpdateContext } from '../engine/update-payment.js';
import { findByTransId } from '../engine/visibility.js';
import { Shutdown } from '../http/server.js';
import { MAX_SEARCH_LIMIT } from '../payments/words/limits.js';
import { SERVICES, type Service } from '../payments/words/order.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { dayAfter, startOf } from '../payments/words/time.js';
import type { SearchedTransaction, Transaction } from '../payments/words/transaction.js';
import type { SearchQuery } from '../provider/client.js';
import {
  afterAnswer,
  BEGUN_SEARCH,
  type DaySearch,
  type Gap,
  isOfDay,
  mayHide,
  unanswered,
} from '../reconciliation/day-search.js';
import { type DayPayment, movedBy } from '../reconciliation/reconciliation.js';
import { BALANCE_WINDOW_MS, type Difference, toStatement } from '../reconciliation/statement.js';
import { type DayPayments, paymentsOfDay, paymentsWith } from '../records/day-payments.js';
import type { Records } from '../records/records.js';
import type { StatementSteps } from '../workflows/messages.js';
import { ProviderQuestions, type StatementProviders } from './ask-provider.js';
import { compareDay, type DayComparison, type Found, type Lists, ShownTransactions } from './day-comparison.js';
import { followUpFindings } from './follow-up.js';

export interface StatementOptions {
  readonly client: Client;
  readonly records: Records;
  readonly providers: StatementProviders;
  /** The queue that payments are opened again on. */
  readonly taskQueue: string;
  readonly logger: Logger;
  /** Before each question to the provider, in ms. */
  readonly pauseMs?: number;
}

/** Ten questions a second at most: far below what payments ask on a busy day. */
const PAUSE_MS = 100;

/** Payments in a statement. */
const MAX_PAYMENTS = 50_000;

/** Payments that the provider is asked for one by one. */
const MAX_LOOK_UPS = 5_000;

/** Questions after which what has been found is kept, so that another worker can go on from there. */
const KEEP_EVERY = 50;

/** How long a payment may take to compare itself, in ms. */
const CHECK_LIMIT_MS = 20_000;

/** What the search of a service has come to. */
interface SearchPart {
  readonly search: DaySearch;
  readonly found: readonly SearchedTransaction[];
}

/** What the provider has listed, payment by payment. */
type ListsPart = readonly (readonly [PaymentId, readonly Transaction[] | null])[];

/** Makes the steps of which statements are made. */
export function createStatementSteps(options: StatementOptions): StatementSteps {
  const { client, records, providers, taskQueue, logger, pauseMs = PAUSE_MS } = options;
  const { statements } = records;
  const questions = new ProviderQuestions(providers, pauseMs);
  const context: UpdateContext = {
    client,
    records,
    taskQueue,
    descriptions: new Descriptions(client),
    updates: new SharedUpdates(),
    shutdown: new Shutdown(),
    answerWithinMs: CHECK_LIMIT_MS,
  };

  const readDay = (day: string) => paymentsOfDay(client, records, day, MAX_PAYMENTS, heartbeat);

  const searchOf = async (runId: string, service: Service): Promise<SearchPart> =>
    (await statements.part<SearchPart>(runId, `search of ${service}`)) ?? { search: BEGUN_SEARCH, found: [] };

  const foundIn = async (runId: string): Promise<Found> => ({
    collection: (await searchOf(runId, 'collection')).found,
    payout: (await searchOf(runId, 'payout')).found,
  });

  /** What a search that was given up hasn't asked is a gap. */
  const gapsOf = async (runId: string, service: Service): Promise<readonly Gap[]> =>
    unanswered((await searchOf(runId, service)).search).gaps;

  const listsOf = async (runId: string): Promise<Lists> =>
    new Map((await statements.part<ListsPart>(runId, 'lists')) ?? []);

  return {
    async readBalances(day) {
      const missing: string[] = [];
      for (const service of SERVICES) {
        if ((await statements.balance(day, service)) !== undefined) continue;
        const askedAt = Date.now();
        if (askedAt < startOf(day) || askedAt > startOf(day) + BALANCE_WINDOW_MS) continue;
        try {
          await statements.saveBalance(day, service, await questions.balance(service), askedAt);
        } catch (error) {
          if (!(error instanceof ApplicationFailure)) throw error;
          missing.push(`${service}: ${error.message}`);
        }
      }
      if (missing.length > 0) throw ApplicationFailure.retryable(missing.join('; '), 'NoAnswer');
    },

    async readPayments({ runId, day }) {
      await statements.savePart(runId, 'payments', await readDay(day));
    },

    async searchDay({ runId, day }, service) {
      const { payments = [] } = (await statements.part<DayPayments>(runId, 'payments')) ?? {};
      const amounts = payments
        .filter(({ kind }) => kind === service)
        .flatMap(({ amount, amountPaid = amount }) => [amount, amountPaid]);
      let { search, found } = await searchOf(runId, service);
      const known = new Map(found.map((one) => [one.transId, one]));
      for (let next = search.open[0]; next !== undefined; next = search.open[0]) {
        const shown = await questions.search(service, queryOf(search, day));
        if (shown !== 'unreadable') {
          const { range } = search;
          const ofDay = shown.filter(({ dateInitiated }) => isOfDay(range, day, dateInitiated));
          for (const one of ofDay) known.set(one.transId, one);
        }
        search = afterAnswer(search, shown === 'unreadable' ? shown : shown.map(({ transId }) => transId), amounts);
        found = [...known.values()];
        if (search.open.length === 0 || search.asked % KEEP_EVERY === 0) {
          await statements.savePart(runId, `search of ${service}`, { search, found });
        }
      }
    },

    async lookUpPayments({ runId }) {
      const { payments = [] } = (await statements.part<DayPayments>(runId, 'payments')) ?? {};
      const lists = new Map(await listsOf(runId));
      const shown = new ShownTransactions(await foundIn(runId), lists);
      const gaps = {
        collection: await gapsOf(runId, 'collection'),
        payout: await gapsOf(runId, 'payout'),
      };
      const isUnsure = (payment: DayPayment) =>
        shown.inSearches(payment).length === 0 ||
        gaps[payment.kind].some((gap) => mayHide(gap, payment.amount) || mayHide(gap, movedBy(payment)));
      const sought = payments.filter(isUnsure).toSorted((one, other) => urgency(one) - urgency(other));
      for (const { id, kind } of sought.slice(0, MAX_LOOK_UPS)) {
        if (lists.has(id)) continue;
        lists.set(id, (await questions.transactionsOf(kind, id)) ?? null);
        if (lists.size % KEEP_EVERY === 0) await statements.savePart(runId, 'lists', [...lists]);
      }
      await statements.savePart(runId, 'lists', [...lists]);
    },

    async comparePayments({ runId, day }) {
      // Read again: payments have moved on since the provider was asked.
      const { payments, cutOff } = await readDay(day);
      const comparison = await compareDay(payments, await foundIn(runId), await listsOf(runId), {
        paymentsWith: (ids) => paymentsWith(client, records, ids),
        isHeld: async ({ transId }) => (await findByTransId(context, transId)).length > 0,
        list: ({ kind, id }) => questions.transactionsOf(kind, id).catch(ignoreNoAnswer),
      });
      await statements.savePart(runId, 'comparison', { ...comparison, cutOff });
    },

    async followUp({ runId, day }) {
      const { findings = [] } = (await statements.part<DayComparison>(runId, 'comparison')) ?? {};
      const differences = await followUpFindings(context, day, findings, heartbeat);
      await statements.savePart(runId, 'differences', differences);
    },

    async publish({ runId, day }) {
      const comparison = await statements.part<DayComparison & { readonly cutOff: boolean }>(runId, 'comparison');
      const differences = (await statements.part<Difference[]>(runId, 'differences')) ?? [];
      const balancesOf = async (service: Service) => ({
        opening: await statements.balance(day, service),
        closing: await statements.balance(dayAfter(day), service),
      });
      const balances = { collection: await balancesOf('collection'), payout: await balancesOf('payout') };
      const gaps = {
        collection: await gapsOf(runId, 'collection'),
        payout: await gapsOf(runId, 'payout'),
      };
      const { lines: payments = [], cutOff = false } = comparison ?? {};
      const madeAt = Date.now();
      const made = await statements.publish(runId, day, (version) =>
        toStatement({ date: day, version, madeAt, payments, differences, gaps, balances, cutOff }),
      );
      logger.info({ ...made }, 'the statement of a day was made');
      return made;
    },
  };
}

function heartbeat(): void {
  Context.current().heartbeat();
}

/** A second look that gets no answer leaves what the first one found. */
function ignoreNoAnswer(error: unknown): undefined {
  if (!(error instanceof ApplicationFailure)) throw error;
}

/** Where money has moved first, then where it may. */
function urgency({ status, final }: DayPayment): number {
  if (status === 'SUCCESSFUL') return 0;
  return final ? 2 : 1;
}

/** The provider's words for the next search. */
function queryOf({ range, open: [slice] }: DaySearch, day: string): SearchQuery {
  const { status, medium, amount } = slice?.filters ?? {};
  const isAround = range === 'around';
  return {
    start: isAround ? dayAfter(day, -1) : day,
    end: isAround ? dayAfter(day) : day,
    status: status && SEARCHED_AS[status],
    medium,
    amt: amount,
    limit: MAX_SEARCH_LIMIT,
    sort: slice?.newest === undefined ? 'desc' : 'asc',
  };
}

const SEARCHED_AS = {
  SUCCESSFUL: 'successful',
  FAILED: 'failed',
  EXPIRED: 'expired',
  CREATED: 'created',
} as const;
