import { setTimeout as pause } from 'node:timers/promises';
import type { Merchant, PaymentAnswer } from './merchant.js';
import type { MerchantHook } from './merchant-hook.js';
import type { Row } from './row.js';
import type { Scenario, World } from './scenarios.js';

/** How long a payment may take to its end, and how long after it the merchant has to have been notified. */
const OUTCOME_LIMIT_MS = 60_000;
const TOLD_WITHIN_MS = 5_000;

export interface Stage {
  readonly merchant: Merchant;
  readonly hook: Pick<MerchantHook, 'notices'>;
  readonly world: World;
  /** The number of events in the history of a payment that has ended. */
  readonly countEvents: (id: string) => Promise<number>;
  /** Tells this run's idempotency keys from those of other runs. */
  readonly run: string;
  /** Called with the row whenever it has changed. */
  readonly onChange: (row: Row) => void;
}

/** Takes one payment to its outcome, and compares that with the scenario; what goes wrong stands in the row. */
export async function runScenario(scenario: Scenario, stage: Stage): Promise<Row> {
  let row: Row = { scenario, done: false, problems: [] };
  const change = (part: Partial<Row>) => {
    row = { ...row, ...part };
    stage.onChange(row);
  };
  try {
    await play(scenario, stage, change);
  } catch (error) {
    change({ problems: [...row.problems, error instanceof Error ? error.message : String(error)] });
  }
  change({ done: true });
  return row;
}

async function play(scenario: Scenario, stage: Stage, change: (part: Partial<Row>) => void): Promise<void> {
  const { merchant, world } = stage;
  const begun = performance.now();
  const created = await merchant.create(scenario.path, scenario.body, `${stage.run} ${scenario.name}`);
  change({ payment: created });

  const outcome = merchant.watch(created.id, ({ final }) => final, {
    limitMs: OUTCOME_LIMIT_MS,
    onLook: (payment) => change({ payment }),
  });
  const [payment] = await Promise.all([outcome, scenario.act?.(created, world)]);
  change({ ms: Math.round(performance.now() - begun) });

  const problems = [
    payment.status === scenario.expected ? undefined : `${payment.status} in place of ${scenario.expected}`,
    (await isTold(payment, stage)) ? undefined : 'the merchant was not notified of the outcome',
  ];
  change({ problems: problems.filter((problem) => problem !== undefined) });
  change({ events: await stage.countEvents(payment.id) });
}

/** Whether the merchant's address has been notified of the outcome; the notification may still be on its way. */
async function isTold({ id, status }: PaymentAnswer, { hook }: Stage): Promise<boolean> {
  const deadline = performance.now() + TOLD_WITHIN_MS;
  const told = () => hook.notices(id).some(({ data }) => data.final && data.status === status);
  while (!told() && performance.now() < deadline) await pause(20);
  return told();
}
