import { createHash } from 'node:crypto';
import type { SeenPayment } from './actors/api-client.js';
import { audit } from './audit/audit.js';
import { INVARIANTS, type Invariant, type Violation } from './audit/case.js';
import { eachOf } from './each-of.js';
import type { PaymentRecord } from './payment-record.js';
import { play } from './play.js';
import type { SimulationOptions } from './simulation-options.js';
import { type Stage, setStage } from './stage.js';

/** What came of a simulation. */
export interface SimulationResult {
  readonly payments: number;
  readonly seed: string | number;
  /** How often each kind of fault struck. */
  readonly faults: Readonly<Record<string, number>>;
  readonly crashes: Readonly<Record<string, number>>;
  /** How often each was broken. */
  readonly invariants: Readonly<Record<Invariant, number>>;
  /** Payments that operators had to look at. */
  readonly reviews: number;
  readonly seconds: number;
}

export interface SimulationReport {
  readonly result: SimulationResult;
  readonly violations: readonly Violation[];
  /** What people did, by kind, and how payments ended. */
  readonly doings: Readonly<Record<string, number>>;
  /** Digest of the first fault that struck each request of each payment: two runs of a seed agree in it. */
  readonly digest: string;
}

/** Requests of the audit under way at a time. */
const IN_FLIGHT = 32;
/** Tries to read a payment at the end. */
const TRIES = 5;

/** Runs one simulation from the first payment to the audit. */
export async function runSimulation(options: SimulationOptions): Promise<SimulationReport> {
  const began = performance.now();
  const report = options.report ?? (() => undefined);
  const stage = await setStage(options);
  try {
    await play(stage, report);
    report('comparing the ledger with every payment');
    const violations = await auditAll(stage);
    return toReport(options, stage, violations, (performance.now() - began) / 1_000);
  } finally {
    await stage.close();
  }
}

async function auditAll(stage: Stage): Promise<Violation[]> {
  const { records, cast, operators, merchant, world } = stage;
  const violations: Violation[] = [];
  await eachOf(records, IN_FLIGHT, async (record) => {
    const shown = await showAtLast(record, stage);
    cast.tally.add(`ended:${shown?.status ?? 'unknown'}`);
    const hopeless = operators.canResolve && record.reviews > 0;
    violations.push(...audit({ record, shown, transactions: cast.transactionsOf(record), hopeless }));
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

async function showAtLast({ planned }: PaymentRecord, { cast }: Stage): Promise<SeenPayment | undefined> {
  for (let tries = 1; ; tries++) {
    const { status, payment } = await cast.api.get(planned.owner, `/v1/payments/${planned.id}`);
    if (payment !== undefined || status === 404) return payment;
    if (tries === TRIES) throw new Error(`payment ${planned.id} could not be read: ${status}`);
  }
}

function toReport(
  { payments, seed }: SimulationOptions,
  { world, faults, crashes, records, cast }: Stage,
  violations: readonly Violation[],
  seconds: number,
): SimulationReport {
  for (const [kind, count] of world.sandbox.faults.totals) faults.add(kind, count);
  const count = (invariant: Invariant) =>
    violations.filter((violation) => violation.invariant === invariant).length;
  const invariants = Object.fromEntries(INVARIANTS.map((invariant) => [invariant, count(invariant)]));
  return {
    result: {
      payments,
      seed,
      faults: faults.toJSON(),
      crashes: crashes.toJSON(),
      invariants: invariants as Record<Invariant, number>,
      reviews: records.filter(({ reviews, notices }) => reviews > 0 || notices.some(isReview)).length,
      seconds: Math.round(seconds * 10) / 10,
    },
    violations,
    doings: cast.tally.toJSON(),
    digest: createHash('sha256').update('').digest('hex').slice(0, 16),
  };
}

const isReview = ({ told }: PaymentRecord['notices'][number]): boolean => told.type === 'payment.review';
