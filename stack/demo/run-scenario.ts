import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerEntry } from './ledger.js';
import type { Merchant, MerchantHook, PaymentAnswer } from './merchant.js';
import type { Scenario, ScenarioActions } from './scenarios.js';

/** Progress of one scenario. */
export interface Row {
  readonly scenario: Scenario;
  /** As the merchant saw it last; absent until the API has responded. */
  readonly payment?: PaymentAnswer;
  /** Time from the request to the final status. */
  readonly ms?: number;
  /** Number of events in the history of its workflow, once that has ended. */
  readonly events?: number;
  readonly done: boolean;
  /** Differences from the scenario, and failures. */
  readonly problems: readonly string[];
}

/**
 * Time limits for a payment to become final, and for its merchant to be notified after that, in ms. The first is twice
 * the minute after which the provider's list is believed, or the budget of questions has room again.
 */
const OUTCOME_LIMIT_MS = 120_000;
const NOTIFICATION_LIMIT_MS = 15_000;

export interface ScenarioContext {
  readonly merchant: Merchant;
  readonly hook: Pick<MerchantHook, 'notices'>;
  readonly actions: ScenarioActions;
  /** Resolves to the payment of another scenario, by its name, once that is over. */
  readonly paymentOf: (name: string) => Promise<PaymentAnswer>;
  /** The number of events in the history of a payment whose workflow has ended. */
  readonly countEvents: (id: string) => Promise<number>;
  /** Makes the idempotency keys of this run different from those of other runs. */
  readonly run: string;
  /** Called with the row at each change. */
  readonly onChange: (row: Row) => void;
}

/** Takes one payment to its outcome. Differences from the scenario, and failures, go into the row's `problems`. */
export async function runScenario(scenario: Scenario, context: ScenarioContext): Promise<Row> {
  let row: Row = { scenario, done: false, problems: [] };
  const change = (part: Partial<Row>) => {
    row = { ...row, ...part };
    context.onChange(row);
  };
  try {
    await takePayment(scenario, context, change);
  } catch (error) {
    change({ problems: [...row.problems, error instanceof Error ? error.message : String(error)] });
  }
  change({ done: true });
  return row;
}

async function takePayment(
  scenario: Scenario,
  context: ScenarioContext,
  change: (part: Partial<Row>) => void,
): Promise<void> {
  const { merchant, actions, paymentOf } = context;
  const { refundOf } = scenario;
  const path = refundOf === undefined ? scenario.path : scenario.path.replace(':id', (await paymentOf(refundOf)).id);
  const begun = performance.now();
  const created = await merchant.create(path, scenario.body, `${context.run} ${scenario.name}`);
  change({ payment: created });

  const outcome = merchant.waitUntil(created.id, ({ final }) => final, {
    limitMs: OUTCOME_LIMIT_MS,
    onLook: (payment) => change({ payment }),
  });
  const [payment] = await Promise.all([outcome, scenario.act?.(created, actions)]);
  change({ ms: Math.round(performance.now() - begun) });

  const problems = [
    payment.status === scenario.expected ? undefined : `${payment.status} instead of ${scenario.expected}`,
    (await isNotified(payment, context)) ? undefined : 'the merchant was not notified of the outcome',
  ];
  change({ problems: problems.filter((problem) => problem !== undefined) });
  change({ events: await context.countEvents(payment.id) });
}

/** Reports whether the merchant has been notified of the outcome. Waits a little for a notification on its way. */
async function isNotified({ id, status }: PaymentAnswer, { hook }: ScenarioContext): Promise<boolean> {
  const deadline = performance.now() + NOTIFICATION_LIMIT_MS;
  const notified = () => hook.notices(id).some(({ data }) => data.final && data.status === status);
  while (!notified() && performance.now() < deadline) await pause(20);
  return notified();
}

/**
 * Compares a payment with the provider's ledger, which must have exactly one transaction for it, with the same id,
 * status, amount and direction. Gives one line for each difference.
 */
export function ledgerProblems({ payment, scenario }: Row, ledger: readonly LedgerEntry[]): string[] {
  if (payment === undefined) return [];
  const own = ledger.filter(({ transaction }) => transaction.externalId === payment.id);
  const [entry] = own;
  if (entry === undefined) return ['the provider has no transaction for it'];
  const { transaction } = entry;
  const direction = payment.kind === 'payout' ? 'Payout' : 'Collection';
  const differences = [
    own.length === 1 ? undefined : `the provider has ${own.length} transactions for it`,
    transaction.transId === payment.transId
      ? undefined
      : `the provider calls it ${transaction.transId}, not ${payment.transId}`,
    transaction.status === payment.status
      ? undefined
      : `the provider says ${transaction.status}, not ${payment.status}`,
    transaction.amount === payment.amount ? undefined : `the provider says ${transaction.amount} XAF`,
    transaction.transType === direction ? undefined : `the provider says ${transaction.transType}`,
    scenario.proof?.(entry),
  ];
  return differences.filter((difference) => difference !== undefined);
}

/** Lists the provider's transactions that belong to none of the payments. */
export function strayTransactions(rows: readonly Row[], ledger: readonly LedgerEntry[]): string[] {
  const ids = new Set(rows.map(({ payment }) => payment?.id));
  return ledger
    .filter(({ transaction }) => !ids.has(transaction.externalId))
    .map(({ transaction }) => `the provider has a transaction ${transaction.transId} that was never requested`);
}

/** The result of the whole demo. */
export interface DemoResult {
  readonly ok: boolean;
  /** One line for each thing that went wrong. */
  readonly problems: readonly string[];
  readonly summary: string;
}

/**
 * @param strays the problems that belong to no payment
 * @param ms how long the demo took
 */
export function resultOf(rows: readonly Row[], strays: readonly string[], ms: number): DemoResult {
  const correct = rows.filter(({ problems, done }) => done && problems.length === 0).length;
  const problems = [
    ...rows.flatMap(({ scenario, problems }) => problems.map((problem) => `${scenario.name}: ${problem}`)),
    ...strays,
  ];
  const ok = problems.length === 0 && correct === rows.length;
  const share = ok ? `all ${rows.length} payments` : `${correct} of ${rows.length} payments`;
  const ledger = ok ? ", and the provider's ledger agrees" : '';
  return {
    ok,
    problems,
    summary: `${share} ended as their scenario says${ledger} (${(ms / 1_000).toFixed(1)} s)`,
  };
}
