import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import got from 'got';
import { startChild, untilReady } from '../processes/child.js';
import { keptSecrets, keptShopPassword, keptWebhookSecret } from '../processes/settings.js';
import { findRunning } from './state-folder.js';

/** The example shop runs from its source, as it would at a merchant's. */
const PROGRAM = 'examples/shop/start.js';

const STOP_LIMIT_MS = 1_500;

export interface ShopOptions {
  readonly port: number;
  readonly apiUrl: string;
  /** The state folder: the shop's database and log are kept in it, too. */
  readonly folder: string;
  readonly stop: AbortSignal;
}

/** The example shop, as a process of its own that answers requests. */
export interface RunningShop {
  readonly url: string;
  readonly ownerPassword: string;
  readonly pid: number;
  /** Resolves when it has ended by itself, with a message that shows the end of its log. */
  readonly broken: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the example shop for the stack of a state folder, with that folder's key and webhook secret.
 *
 * @throws Error with the end of its log when it doesn't come up.
 */
export async function startShop({ port, apiUrl, folder, stop }: ShopOptions): Promise<RunningShop> {
  stop.throwIfAborted();
  const project = fileURLToPath(new URL('../../..', import.meta.url));
  const ownerPassword = await keptShopPassword(folder);
  const url = `http://127.0.0.1:${port}`;
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder, { recursive: true, mode: 0o700 });
  const child = await startChild({
    name: 'shop',
    file: process.execPath,
    args: [join(project, PROGRAM)],
    env: {
      ...process.env,
      PORT: String(port),
      SHOP_URL: url,
      SHOP_DATABASE: join(folder, 'shop.db'),
      SHOP_OWNER_PASSWORD: ownerPassword,
      SANAGA_URL: apiUrl,
      SANAGA_API_KEY: (await keptSecrets(folder)).apiKey,
      SANAGA_WEBHOOK_SECRET: await keptWebhookSecret(folder),
    },
    logFile: join(logFolder, 'shop.log'),
  });
  let isStopping = false;
  const stopChild = () => {
    isStopping = true;
    return child.stop(STOP_LIMIT_MS);
  };
  try {
    await untilReady(child, async () => (await got(url, { retry: { limit: 0 } })).ok);
  } catch (error) {
    await stopChild();
    throw error;
  }
  const broken = new Promise<string>((resolve) => {
    void child.ended.then(async (how) => {
      if (!isStopping) resolve(`shop: ended with ${how}; its log is ${child.logFile}\n${await child.logTail()}`);
    });
  });
  return { url, ownerPassword, pid: child.pid, broken, stop: stopChild };
}

/** @throws Error that says what to do when `start` runs on the folder: its notifications go elsewhere. */
export async function refuseBesideStart(folder: string): Promise<void> {
  const running = await findRunning(folder);
  if (running === undefined) return;
  const what =
    running.shopPort === undefined
      ? `"npm start" is already running in this folder (process ${running.pid}), without the shop.\n` +
        'Stop it with Ctrl-C, then run "npm run shop" again: it has the same payments.'
      : `"npm run shop" is already running in this folder (process ${running.pid}): the shop is http://127.0.0.1:${running.shopPort}`;
  throw new Error(`shop: ${what}`);
}
