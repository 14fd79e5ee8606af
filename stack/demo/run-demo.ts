import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { readConfig } from '../../src/settings/read-settings.js';
import { connectClient } from '../../src/temporal/connection.js';
import { type Encryption, encryptionOf } from '../../src/temporal/encryption.js';
import { freePort, steadyPort } from '../processes/ports.js';
import { makeSecrets, type Secrets, type StackPorts, stackSettings, withoutSettings } from '../processes/settings.js';
import { bringUpStack, type Stack } from '../processes/stack.js';
import { loseNotifications, readLedger } from './ledger.js';
import { createMerchant, type Merchant, type MerchantHook, openMerchantHook } from './merchant.js';
import { atCheckout } from './payer.js';
import { type DemoResult, ledgerProblems, type Row, resultOf, runScenario, strayTransactions } from './run-scenario.js';
import { type ScenarioActions, scenarios } from './scenarios.js';
import { type DemoView, demoView } from './view.js';

/** Time limit for the merchant to see a status, in ms. */
const SEEN_LIMIT_MS = 20_000;

export interface DemoOptions {
  readonly json: boolean;
  readonly stop: AbortSignal;
}

/**
 * Brings up a stack of its own, takes payments of every kind to their outcomes, shows them, and stops the stack.
 *
 * @returns the exit code: 0 when every payment ended as expected and the provider's ledger agrees, else 1.
 * @throws Error when the stack doesn't come up; the reason of `stop` when it is aborted.
 */
export async function runDemo({ json, stop }: DemoOptions): Promise<number> {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-demo-'));
  const hook = await openMerchantHook();
  let ok = false;
  try {
    const run = randomBytes(4).toString('hex');
    const secrets = makeSecrets();
    const ports = {
      api: await freePort(),
      sandbox: await freePort(),
      codec: await freePort(),
      book: await steadyPort(),
    };
    const env = demoSettings(process.env, ports, secrets, hook);
    report('demo: starting Temporal, the book, the sandbox, a worker, the API and the codec server');
    // On a Temporal server that others use, too, a task queue of its own keeps this demo's worker apart from theirs.
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
      const encryption = encryptionOf(readConfig('worker', env));
      ({ ok } = await takePayments({ stack, encryption, merchant, hook, run, view, stop }));
    } finally {
      await stack.stop();
    }
    return ok ? 0 : 1;
  } finally {
    await hook.close();
    // After a failure, the logs say what went wrong.
    if (ok || stop.aborted) await rm(folder, { recursive: true, force: true });
    else report(`demo: the logs are in ${folder}`);
  }
}

interface DemoContext {
  readonly stack: Stack;
  readonly encryption: Encryption;
  readonly merchant: Merchant;
  readonly hook: MerchantHook;
  readonly run: string;
  readonly view: DemoView;
  readonly stop: AbortSignal;
}

/** Runs all scenarios at once, then compares their payments with the provider's ledger. */
async function takePayments({ stack, encryption, merchant, hook, run, view, stop }: DemoContext): Promise<DemoResult> {
  const begun = performance.now();
  const client = connectClient(stack.temporal.target, encryption);
  const actions = actionsOn(stack, merchant);
  const all = scenarios(hook.returnUrl);
  const rows: Row[] = all.map((scenario) => ({ scenario, done: false, problems: [] }));
  const broken = stack.broken.then((problem) => Promise.reject(new Error(problem)));
  let over = false;
  const runs: Promise<Row>[] = [];
  const paymentOf = async (name: string) => {
    const row = await runs[all.findIndex((scenario) => scenario.name === name)];
    if (row?.payment === undefined) throw new Error(`${name} has no payment`);
    return row.payment;
  };
  for (const [index, scenario] of all.entries()) {
    const onChange = (row: Row) => {
      rows[index] = row;
      if (!over) view.show(rows, row);
    };
    const context = { merchant, hook, actions, paymentOf, run, onChange };
    runs.push(runScenario(scenario, { ...context, countEvents: (id) => countEvents(client, id) }));
  }
  try {
    await Promise.race([Promise.all(runs), broken, aborted(stop)]);
    const ledger = await readLedger(stack.sandboxUrl);
    const checked = rows.map((row) => {
      return { ...row, problems: [...row.problems, ...ledgerProblems(row, ledger)] };
    });
    const result = resultOf(checked, strayTransactions(checked, ledger), performance.now() - begun);
    view.finish(checked, result);
    return result;
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

function actionsOn({ sandboxUrl }: Stack, merchant: Merchant): ScenarioActions {
  return {
    pay: (link, phone) => atCheckout(link, { action: 'pay', phone }),
    decline: (link) => atCheckout(link, { action: 'decline' }),
    seen: async ({ id }, is) => void (await merchant.waitUntil(id, is, { limitMs: SEEN_LIMIT_MS })),
    expire: async ({ id }) => void (await merchant.expire(id)),
    async loseNotifications({ id, transId }) {
      if (transId === undefined) throw new Error(`${id} has no transaction yet`);
      await loseNotifications(sandboxUrl, transId);
    },
  };
}

/** A workflow whose payment is final has little left to do. */
const WORKFLOW_LIMIT_MS = 15_000;

/**
 * The number of events in the history of a payment's workflow, once it has ended.
 *
 * @throws Error when it has failed, or doesn't end within 15 s.
 */
async function countEvents(client: Client, id: string): Promise<number> {
  const handle = client.workflow.getHandle(id);
  return await client.withDeadline(Date.now() + WORKFLOW_LIMIT_MS, async () => {
    await handle.result();
    const { events } = await handle.fetchHistory();
    return events?.length ?? 0;
  });
}

/** Length of the sandbox's day, in seconds. */
const DAY_IN_SECONDS = 15;

/**
 * The settings of the demo's processes. Everything fits into half a minute, and of the operator's own settings only
 * those for Temporal are used. The sandbox's clock and the lifetime of a link have the same scale, so that the
 * workflow's timer and the provider's own expiry come as close to each other as in production. The sandbox's delays are
 * in its own time.
 */
export function demoSettings(
  own: NodeJS.ProcessEnv,
  ports: StackPorts,
  secrets: Secrets,
  merchantHook: { readonly url: string; readonly secret: string },
): NodeJS.ProcessEnv {
  return {
    ...withoutSettings(own),
    ...stackSettings(ports, secrets),
    SANDBOX_CLOCK_SCALE: String((24 * 60 * 60) / DAY_IN_SECONDS),
    SANDBOX_SETTLE_DELAY: '90m',
    SANDBOX_WEBHOOK_DELAY: '15m',
    LINK_LIFETIME: `${DAY_IN_SECONDS}s`,
    // One poll while the link is open leaves two of its three calls a minute for when it expires.
    POLL_FIRST: '8s',
    POLL_MAX: '1h',
    MERCHANT_WEBHOOK_URL: merchantHook.url,
    MERCHANT_WEBHOOK_SECRET: merchantHook.secret,
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
}
