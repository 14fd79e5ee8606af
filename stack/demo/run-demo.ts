import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectClient } from '../../src/temporal/connection.js';
import { makeSecrets } from '../processes/secrets.js';
import { bringUpStack, type Stack } from '../processes/stack.js';
import { freePort } from '../temporal/free-port.js';
import { ledgerProblems, strayTransactions } from './check-ledger.js';
import { countEvents } from './count-events.js';
import { demoSettings } from './demo-settings.js';
import { loseNotifications, readLedger } from './ledger.js';
import { createMerchant, type Merchant } from './merchant.js';
import { type MerchantHook, openMerchantHook } from './merchant-hook.js';
import { atCheckout } from './payer.js';
import type { Row } from './row.js';
import { runScenario } from './run-scenario.js';
import { scenarios, type World } from './scenarios.js';
import { type Verdict, verdictOf } from './verdict.js';
import { type DemoView, demoView } from './view.js';

/** How long a step of a scenario may wait for what the merchant is to see, in ms. */
const SEEN_LIMIT_MS = 20_000;

export interface DemoOptions {
  readonly json: boolean;
  readonly stop: AbortSignal;
}

/**
 * Brings up a stack of its own, takes payments of every kind to their outcomes, shows them, and stops what it
 * started.
 *
 * @returns the exit code: 0 when every payment ended as its scenario says and the provider's ledger agrees, else 1.
 * @throws Error when the stack doesn't come up; whatever `stop` was aborted with.
 */
export async function runDemo({ json, stop }: DemoOptions): Promise<number> {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-demo-'));
  const hook = await openMerchantHook();
  let ok = false;
  try {
    const run = randomBytes(4).toString('hex');
    const secrets = makeSecrets();
    const ports = { api: await freePort(), sandbox: await freePort() };
    const env = demoSettings(process.env, ports, secrets, hook);
    report('demo: bringing up Temporal, the sandbox, a worker and the API');
    // On a server that others use too, a queue of this demo's own keeps their workers and ours apart.
    const stack = await bringUpStack({
      ports,
      env,
      taskQueue: `demo-${run}`,
      logFolder: folder,
      report,
      stop,
    });
    try {
      const { apiUrl } = stack;
      const nextNotification = hook.next;
      const merchant = createMerchant({ apiUrl, apiKey: secrets.apiKey, nextNotification, stop });
      const view = demoView(json, process);
      ({ ok } = await takePayments({ stack, merchant, hook, run, view, stop }));
    } finally {
      await stack.stop();
    }
    return ok ? 0 : 1;
  } finally {
    await hook.close();
    // What went wrong can then be read in the logs.
    if (ok || stop.aborted) await rm(folder, { recursive: true, force: true });
    else report(`demo: the logs are kept in ${folder}`);
  }
}

interface Players {
  readonly stack: Stack;
  readonly merchant: Merchant;
  readonly hook: MerchantHook;
  readonly run: string;
  readonly view: DemoView;
  readonly stop: AbortSignal;
}

/** All scenarios at once, then the comparison with the provider's ledger. */
async function takePayments({ stack, merchant, hook, run, view, stop }: Players): Promise<Verdict> {
  const begun = performance.now();
  const client = connectClient(stack.temporal.target);
  const world = worldOf(stack, merchant);
  const all = scenarios(hook.returnUrl);
  const rows: Row[] = all.map((scenario) => ({ scenario, done: false, problems: [] }));
  const broken = stack.broken.then((problem) => Promise.reject(new Error(problem)));
  let over = false;
  const play = all.map((scenario, index) => {
    const onChange = (row: Row) => {
      rows[index] = row;
      if (!over) view.show(rows, row);
    };
    return runScenario(scenario, {
      ...{ merchant, hook, world, run, onChange },
      countEvents: (id) => countEvents(client, id),
    });
  });
  try {
    await Promise.race([Promise.all(play), broken, aborted(stop)]);
    const ledger = await readLedger(stack.sandboxUrl);
    const checked = rows.map((row) => {
      return { ...row, problems: [...row.problems, ...ledgerProblems(row, ledger)] };
    });
    const verdict = verdictOf(checked, strayTransactions(checked, ledger), performance.now() - begun);
    view.finish(checked, verdict);
    return verdict;
  } catch (error) {
    over = true;
    view.leave();
    throw error;
  } finally {
    await client.connection.close();
  }
}

function aborted(stop: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (stop.aborted) reject(stop.reason);
    stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  });
}

function worldOf({ sandboxUrl }: Stack, merchant: Merchant): World {
  return {
    pay: (link, phone) => atCheckout(link, { action: 'pay', phone }),
    decline: (link) => atCheckout(link, { action: 'decline' }),
    seen: async ({ id }, is) => void (await merchant.watch(id, is, { limitMs: SEEN_LIMIT_MS })),
    expire: async ({ id }) => void (await merchant.expire(id)),
    async loseNotifications({ id, transId }) {
      if (transId === undefined) throw new Error(`${id} has no transaction yet`);
      await loseNotifications(sandboxUrl, transId);
    },
  };
}
