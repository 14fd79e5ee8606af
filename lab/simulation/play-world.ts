import type { SeenPayment } from './actors/api-client.js';
import { audit } from './audit/audit.js';
import type { Violation } from './audit/case.js';
import { eachOf } from './each-of.js';
import { type PaymentRecord, wasReviewed } from './payment-record.js';
import { play } from './play.js';
import type { SimulationOptions } from './simulation-options.js';
import { type Stage, setStage } from './stage.js';
import type { Tally } from './tally.js';
import { StalledError } from './world/simulated-time.js';

/** What came of one world. */
export interface Outcome {
  readonly violations: readonly Violation[];
  readonly faults: Tally;
  readonly crashes: Tally;
  /** What people did, by kind, and how payments ended. */
  readonly doings: Tally;
  /** Payments that were put before operators. */
  readonly reviews: number;
  /** Digest of how the provider answered the first request for each payment. */
  readonly digest: string;
}

/** Requests of the audit under way at a time. */
const IN_FLIGHT = 32;
/** Tries to read a payment at the end. */
const TRIES = 4;

/**
 * Plays one world from the first payment to the audit.
 *
 * @param workflowBundle the file with the workflows, as `bundleWorkflows` makes it
 */
export async function playWorld(options: SimulationOptions, workflowBundle: string): Promise<Outcome> {
  const report = options.report ?? (() => undefined);
  const stage = await setStage(options, workflowBundle);
  try {
    const stalled = await playOrStall(stage, report);
    report('comparing the ledger with every payment');
    const violations = [...stalled, ...(await auditAll(stage))];
    const { world, faults, crashes, records, cast, traffic } = stage;
    faults.addAll(world.sandbox.faults.totals);
    const reviews = records.filter(wasReviewed).length;
    return { violations, faults, crashes, doings: cast.tally, reviews, digest: traffic.digest() };
  } finally {
    await stage.close();
  }
}

async function playOrStall(stage: Stage, report: (line: string) => void): Promise<Violation[]> {
  try {
    await play(stage, report);
    return [];
  } catch (error) {
    if (!(error instanceof StalledError)) throw error;
    return [{ invariant: 'stuck', about: 'everything', what: error.message }];
  }
}

async function auditAll(stage: Stage): Promise<Violation[]> {
  const { records, cast, merchant, world, traffic } = stage;
  const violations: Violation[] = [];
  await eachOf(records, IN_FLIGHT, async (record) => {
    const shown = await showAtLast(record, stage);
    const about = record.planned.id;
    if (typeof shown === 'string') {
      // Nothing can awaken it: the test server leaves its queries with a dead worker for ever.
      if (record.terminated) return cast.tally.add('ended:terminated');
      violations.push({ invariant: 'stuck', about, what: shown });
      return;
    }
    cast.tally.add(`ended:${shown?.status ?? 'unknown'}`);
    const transactions = cast.transactionsOf(record);
    const posts = world.sandbox.posts.of(about).received - traffic.refused(about);
    const tooManyQuestions = transactions.flatMap(({ transId }) => traffic.tooManyQuestions(transId));
    violations.push(...audit({ record, shown, transactions, posts, tooManyQuestions }));
  });
  const ids = new Set<string | undefined>(records.map(({ planned }) => planned.id));
  for (const { externalId, transId } of world.sandbox.ledger.all()) {
    if (!ids.has(externalId))
      violations.push({ invariant: 'lost', about: transId, what: 'nobody asked for it' });
  }
  for (const what of merchant.unreadable)
    violations.push({ invariant: 'notifiedWrong', about: 'merchant', what });
  return violations;
}

/** The payment, `undefined` when the API knows none, or why it can't be read. */
async function showAtLast(
  { planned }: PaymentRecord,
  { cast }: Stage,
): Promise<SeenPayment | undefined | string> {
  for (let tries = 1; ; tries++) {
    const { status, payment, code } = await cast.api.get(planned.owner, `/v1/payments/${planned.id}`);
    if (payment !== undefined || status === 404) return payment;
    if (tries === TRIES) return `it can't be read: ${status} ${code ?? ''}`;
  }
}
