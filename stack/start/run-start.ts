import { once } from 'node:events';
import { join, relative } from 'node:path';
import { lockFolder } from '../processes/lock.js';
import { untilPortsAreFree, type WantedPort } from '../processes/ports.js';
import {
  keptSecrets,
  keptWebhookSecret,
  type StackPorts,
  settingsToTell,
  WEBHOOK_SECRET_FILE,
} from '../processes/settings.js';
import { bringUpStack, partsOf } from '../processes/stack.js';
import type { TemporalServer } from '../temporal/bring-up-temporal.js';
import { type RunningShop, refuseBesideStart, startShop } from './shop.js';
import {
  listenUrl,
  type NotificationTarget,
  type StartSettings,
  shopWebhookUrl,
  startSettings,
  type TemporalPorts,
} from './start-settings.js';
import { noteRunning, STATE_FOLDER } from './state-folder.js';

export interface StartOptions {
  readonly stop: AbortSignal;
  /** Start the example shop, too, and send notifications to it. */
  readonly withShop?: boolean;
}

/**
 * Brings the stack up and leaves it running until `stop` is aborted. Temporal's database, the sandbox's journal, the
 * secrets and the logs are kept in the state folder, so that the next start carries on from there.
 *
 * @returns the exit code: 0 when it was asked to stop, 1 when a part of it failed.
 * @throws ConfigError for wrong settings; Error for ports in use or a part that doesn't come up; the reason of `stop`
 *   when it is aborted before the stack is up. Nothing is left running then.
 */
export async function runStart({ stop, withShop = false }: StartOptions): Promise<number> {
  const own = process.env;
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const folder = join(process.cwd(), STATE_FOLDER);
  const secrets = await keptSecrets(folder);
  const settings = await startSettings(own, secrets, await keptWebhookSecret(folder), withShop);
  const { ports, env, taskQueue, keyNames, notifications } = settings;
  const hasGeneratedKey = env.API_KEYS?.includes(secrets.apiKey) ?? false;
  if (withShop) await refuseBesideStart(folder);
  const unlock = await lockFolder(folder);
  await untilPortsAreFree(wantedPorts(settings), report);
  const options = stackOptions(settings, folder);
  const stack = await bringUpStack({ ...options, report, stop });
  const { address, namespace } = stack.temporal.target;
  const forget = await noteRunning(folder, {
    pid: process.pid,
    ports,
    temporal: { address, namespace },
    taskQueue,
    settings: settingsToTell(own),
    hasGeneratedKey,
    ...(notifications.kind === 'listen' && { listenPort: notifications.port }),
    ...(notifications.kind === 'shop' && { shopPort: notifications.port }),
  });
  let shop: RunningShop | undefined;
  try {
    if (notifications.kind === 'shop') {
      shop = await startShop({ port: notifications.port, apiUrl: stack.apiUrl, folder, stop });
    }
    const text = welcome({
      apiUrl: stack.apiUrl,
      sandboxUrl: stack.sandboxUrl,
      deskUrl: stack.deskUrl,
      codecUrl: stack.codecUrl,
      bookUrl: stack.bookUrl,
      temporal: stack.temporal,
      ...(hasGeneratedKey && { apiKey: secrets.apiKey, approverKey: secrets.approverKey }),
      keyNames,
      notifications,
      shop,
      processes: [
        ...partsOf(ports).map((name) => `${name} ${stack.part(name).pid}`),
        ...(shop ? [`shop ${shop.pid}`] : []),
      ],
      folder: relative(process.cwd(), folder),
    });
    process.stdout.write(text);
    const asked = stop.aborted ? undefined : once(stop, 'abort').then(() => undefined);
    const failure = await Promise.race([stack.broken, asked, ...(shop ? [shop.broken] : [])]);
    if (failure === undefined) return 0;
    report(failure);
    return 1;
  } finally {
    report('start: stopping');
    await forget();
    await shop?.stop();
    await stack.stop();
    await unlock();
    report('start: stopped');
  }
}

/** Returns the options of a stack that keeps everything in this folder. */
function stackOptions({ ports, temporalPorts, env, taskQueue }: StartSettings, folder: string) {
  const own = process.env;
  return {
    ports,
    env: { SANDBOX_JOURNAL: join(folder, 'sandbox.journal'), ...env },
    taskQueue,
    // The database takes a folder that isn't there yet.
    bookFolder: join(folder, 'book'),
    logFolder: join(folder, 'logs'),
    temporal: {
      env: own,
      databaseFile: join(folder, 'temporal.db'),
      port: temporalPorts.frontend,
      uiPort: temporalPorts.ui,
    },
  };
}

const wantedPorts = ({ ports, temporalPorts, notifications }: StartSettings): WantedPort[] => [
  ...stackPorts(ports),
  ...(process.env.TEMPORAL_ADDRESS ? [] : devServerPorts(temporalPorts)),
  ...(notifications.kind === 'shop' ? [shopPort(notifications.port)] : []),
];

const stackPorts = ({ api, sandbox, desk, codec }: StackPorts): WantedPort[] => [
  { port: api, of: 'the API', advice: 'set PORT to another port' },
  { port: sandbox, of: 'the sandbox', advice: 'set SANDBOX_PORT to another port' },
  ...(desk === undefined ? [] : [{ port: desk, of: 'the desk', advice: 'set DESK_PORT to another port' }]),
  ...(codec === undefined ? [] : [{ port: codec, of: 'the codec server', advice: 'set CODEC_PORT to another port' }]),
];

const shopPort = (port: number): WantedPort => ({
  port,
  of: 'the shop',
  advice: 'set SHOP_PORT to another port',
});

const devServerPorts = ({ frontend, ui }: TemporalPorts): WantedPort[] => [
  {
    port: frontend,
    of: 'Temporal',
    advice: 'set TEMPORAL_PORT to another port, or TEMPORAL_ADDRESS to use the server there',
  },
  { port: ui, of: "Temporal's Web UI", advice: 'set TEMPORAL_UI_PORT to another port' },
];

export interface WelcomeFacts {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly deskUrl?: string | undefined;
  readonly codecUrl?: string | undefined;
  /** The stack's own database; `undefined` when the operator's settings name another. */
  readonly bookUrl: string | undefined;
  readonly temporal: Pick<TemporalServer, 'target' | 'uiUrl' | 'kind'>;
  /** The generated key; `undefined` when the operator's settings have others, which aren't shown. */
  readonly apiKey?: string | undefined;
  /** That of the merchant's approver; `undefined` as `apiKey` is. */
  readonly approverKey?: string | undefined;
  /** The names of the API keys. */
  readonly keyNames: readonly string[];
  readonly notifications: NotificationTarget;
  /** The example shop, if it was started. */
  readonly shop?: Pick<RunningShop, 'url' | 'ownerPassword'> | undefined;
  /** Each process as `name pid`. */
  readonly processes: readonly string[];
  /** The state folder. */
  readonly folder: string;
}

/** The text that `start` prints once everything is ready: addresses, a first call to try, what a restart keeps. */
export function welcome(facts: WelcomeFacts): string {
  const { apiUrl, sandboxUrl, deskUrl, codecUrl, temporal, apiKey, approverKey, keyNames } = facts;
  const { notifications, shop, folder } = facts;
  const key = apiKey ?? '<key>';
  return `
Sanaga is running. Ctrl-C stops it.
${shop === undefined ? '' : shopWelcome(shop)}
  API              ${apiUrl}   (reference: ${apiUrl}/docs)
${deskUrl === undefined ? '' : `  Desk             ${deskUrl}   (operators decide here; sign in with an API key of the scope review)\n`}  Sandbox          ${sandboxUrl}   (ledger: ${sandboxUrl}/_sandbox/ledger)
  Temporal         ${temporal.target.address}, namespace ${temporal.target.namespace}
  Temporal Web UI  ${temporal.uiUrl ?? 'unknown (set TEMPORAL_UI_URL)'}${codecUrl === undefined ? '' : codecServer(temporal.kind, codecUrl)}
  Book             ${facts.bookUrl ?? 'from your settings (DATABASE_URL)'}
  API key          ${apiKey ?? `from your settings (${keyNames.join(', ')})`}
${approverKey === undefined ? '' : `  Approver's key   ${approverKey}   (of another person, who approves payouts)\n`}  Webhooks         ${receiver(notifications, folder)}
  Processes        ${facts.processes.join(', ')}
  Logs             ${folder}/logs
${notifications.kind === 'listen' ? LISTEN_HINT : ''}
${shop === undefined ? '' : "Without the shop's pages:\n\n"}Collect 5,000 XAF with a payment link. Open the "link" of the response in a browser, and pay with 677 000 000.

  curl -s ${apiUrl}/v1/collections \\
    -H 'Authorization: Bearer ${key}' -H 'Idempotency-Key: order-1001' \\
    -H 'Content-Type: application/json' \\
    -d '{"method": "link", "amount": 5000, "externalId": "order-1001"}'

Then wait for the outcome, with the "id" of the response:

  curl -s '${apiUrl}/v1/payments/<id>?wait=30' -H 'Authorization: Bearer ${key}'

${kept(temporal.kind, folder)}
`;
}

const shopWelcome = ({ url, ownerPassword }: Pick<RunningShop, 'url' | 'ownerPassword'>) => `
  The shop         ${url}   (pay with 677 000 000)
  Its orders       ${url}/admin   (user: owner, password: ${ownerPassword})
`;

/** Payments are encrypted in Temporal: how its Web UI reads them. */
function codecServer(kind: TemporalServer['kind'], url: string): string {
  const use = kind === 'embedded' ? 'with which the Web UI reads payments' : 'which your Web UI needs to read payments';
  return `\n  Codec server     ${url}, ${use}`;
}

const LISTEN_HINT = `
See the webhooks arrive, in another terminal in this folder:

  npx sanaga listen
`;

function receiver(target: NotificationTarget, folder: string): string {
  switch (target.kind) {
    case 'listen':
      return `${listenUrl(target.port)}, where "npx sanaga listen" receives them (secret: ${folder}/${WEBHOOK_SECRET_FILE})`;
    case 'shop':
      return `${shopWebhookUrl(target.port)}, where the shop receives them (secret: ${folder}/${WEBHOOK_SECRET_FILE})`;
    case 'url':
      return `${target.origin}, from your settings (MERCHANT_WEBHOOK_URL)`;
    case 'merchantsFile':
      return 'from your settings (MERCHANTS_FILE)';
    case 'none':
      return 'none: your settings name no address (MERCHANT_WEBHOOK_URL, or MERCHANTS_FILE for several merchants)';
  }
}

function kept(kind: TemporalServer['kind'], folder: string): string {
  return kind === 'embedded'
    ? `A restart loses nothing: payments, the key and all that the sandbox knows are kept in ${folder}/.`
    : `A restart loses nothing: the key and all that the sandbox knows are kept in ${folder}/, and payments in your
Temporal server.`;
}
