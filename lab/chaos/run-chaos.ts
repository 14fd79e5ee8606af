import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { bringUpStack, type StackProcess } from '../../stack/processes/stack.js';
import { ApiClient } from '../simulation/actors/api-client.js';
import { MerchantEndpoint, type MerchantFault } from '../simulation/actors/merchant-endpoint.js';
import { countByInvariant, type Invariant, type Violation } from '../simulation/audit/case.js';
import { wasReviewed } from '../simulation/payment-record.js';
import { Tally } from '../simulation/tally.js';
import { MERCHANT_SECRET } from '../simulation/world/credentials.js';
import { LocalServer } from '../simulation/world/local-server.js';
import { type ChaosRecord, chaosRecordOf } from './chaos-record.js';
import { chaosSettings } from './chaos-settings.js';
import { compare } from './compare.js';
import { Killer } from './killer.js';
import { planKills } from './plan/plan-kills.js';
import { planPayments } from './plan/plan-payments.js';
import { play } from './play.js';
import type { Scene } from './scene.js';
import { steadyPort } from './steady-port.js';

export interface ChaosOptions {
  readonly payments: number;
  readonly kills: number;
  readonly seed: number;
  /** Where databases and logs go. */
  readonly folder: string;
  readonly report: (line: string) => void;
  readonly stop: AbortSignal;
}

/** What came of a chaos run. */
export interface ChaosResult {
  readonly payments: number;
  readonly seed: number;
  /** Processes killed with SIGKILL. */
  readonly kills: Readonly<Record<StackProcess, number>>;
  /** How often each fault struck, the merchant's endpoint's included; a killed process takes some uncounted ones along. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often each was broken. */
  readonly invariants: Readonly<Record<Invariant, number>>;
  /** Payments that operators had to look at. */
  readonly reviews: number;
  readonly seconds: number;
}

export interface ChaosReport {
  readonly result: ChaosResult;
  readonly violations: readonly Violation[];
  /** Processes that ended though nobody had killed them. */
  readonly collapses: readonly string[];
  readonly doings: Tally;
}

/** ms in which payments arrive: so many for each payment and for each death, whichever makes more. */
const FOR_A_PAYMENT_MS = 500;
const FOR_A_KILL_MS = 5_000;

/** One run: brings everything up, takes payments while processes are killed, compares, and stops what it has started. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { payments, kills, seed, folder, report, stop } = options;
  const begun = performance.now();
  const lengthMs = Math.max(payments * FOR_A_PAYMENT_MS, kills * FOR_A_KILL_MS);
  const records = planPayments(payments, lengthMs, seed).map(chaosRecordOf);
  const faults = new Tally();
  const merchant = merchantOf(records, seed, faults);
  const address = new LocalServer(merchant.take);
  await address.listen();

  const ports = { api: await steadyPort(), sandbox: await steadyPort() };
  const stack = await bringUpStack({
    ports,
    env: chaosSettings(process.env, ports, folder, `${address.url}/notifications`),
    taskQueue: 'payments',
    logFolder: join(folder, 'logs'),
    appendLogs: true,
    report,
    temporal: {
      databaseFile: join(folder, 'temporal.db'),
      port: await steadyPort(),
      ui: false,
      // Whatever server the operator has, this one is to be killed.
      env: { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' },
    },
    stop,
  });
  const api = new ApiClient(stack.apiUrl);
  const home = new AbortController();
  setMaxListeners(0, home.signal);
  const over = AbortSignal.any([home.signal, stop]);
  setMaxListeners(0, over);
  const scene: Scene = { seed, stack, api, records, doings: new Tally(), over, report };
  const killer = new Killer(scene);
  try {
    await killer.begin();
    report(`taking ${payments} payments in ${lengthMs / 1_000} s, with ${kills} kills`);
    await play(scene, killer, { kills: planKills(kills, lengthMs, seed), lengthMs });
    home.abort();
    report("comparing the provider's books with every payment");
    await killer.countFaults();
    const violations = await compare(scene);
    for (const what of merchant.unreadable)
      violations.push({ invariant: 'notifiedWrong', about: 'merchant', what });
    faults.addAll(killer.faults);
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    return {
      result: {
        payments,
        seed,
        kills: killer.kills,
        faults: faults.toJSON(),
        invariants: countByInvariant(violations),
        reviews: records.filter(wasReviewed).length,
        seconds,
      },
      violations,
      collapses: killer.collapses,
      doings: scene.doings,
    };
  } finally {
    home.abort();
    await stack.stop();
    api.close();
    await address.leave();
  }
}

/** The merchant's address: it fails at times, but never twice with the same notification, whose third try comes late. */
function merchantOf(records: readonly ChaosRecord[], seed: number, faults: Tally): MerchantEndpoint {
  const byId = new Map<string, ChaosRecord>(records.map((record) => [record.planned.id, record]));
  return new MerchantEndpoint({
    seed,
    secret: MERCHANT_SECRET,
    now: async () => Date.now(),
    truthOf: () => [],
    onNotice: (notice) => byId.get(notice.told.data.id)?.notices.push(notice),
    count: (fault) => faults.add(fault),
    faultOf: (dice, nth) =>
      nth > 0
        ? undefined
        : dice.pick<MerchantFault | undefined>('fault', [
            [93, undefined],
            [4, 'merchant500'],
            [3, 'merchantCut'],
          ]),
  });
}
