import { join } from 'node:path';
import type { Command } from 'commander';
import { Sanaga } from '../client/index.js';
import { addressesOf, existingSecrets, existingWebhookSecret } from '../stack/processes/settings.js';
import { findRunning, type Running, STATE_FOLDER } from '../stack/start/state-folder.js';
import { UsageError } from './run.js';
import { shownFetch } from './terminal.js';

/** Options of every command that talks to the API. */
export interface TargetOptions {
  readonly url?: string;
  readonly apiKey?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** Address of an API, and a key for it. */
export interface Target {
  readonly url: string;
  readonly apiKey: string;
}

/** Adds the options of {@link TargetOptions}. */
export function withTarget(command: Command): Command {
  return command
    .option('--url <address>', 'address of the API (default: $SANAGA_URL, or the running "sanaga start")')
    .option('--api-key <key>', 'API key (default: $SANAGA_API_KEY, or that of the running "sanaga start")')
    .option('--json', 'print JSON, for programs');
}

/** The state folder of a `start` in the current folder. */
export const stateFolder = () => join(process.cwd(), STATE_FOLDER);

/** Address that a running `start` sends its notifications to for `listen`, and the secret that signs them. */
export interface ListenTarget {
  readonly port: number;
  readonly secret: string;
}

/**
 * Returns the port and secret that `listen` uses with the `start` in the current folder; `undefined` when none runs, or
 * when its settings send the notifications elsewhere.
 */
export async function findListenTarget(folder = stateFolder()): Promise<ListenTarget | undefined> {
  const port = (await findRunning(folder))?.listenPort;
  const secret = port === undefined ? undefined : await existingWebhookSecret(folder);
  return port === undefined || secret === undefined ? undefined : { port, secret };
}

/** The `start` that runs in the current folder, with its secrets. */
export async function findStart(folder = stateFolder()) {
  const running = await findRunning(folder);
  const secrets = running && (await existingSecrets(folder));
  if (running === undefined || secrets === undefined) return undefined;
  return { running, secrets, ...addressesOf(running.ports) };
}

/**
 * Finds the API that the options name, or the environment, or the `start` that runs in the current folder. Its key is
 * given to no other address.
 *
 * @throws UsageError when there is none.
 */
export async function findTarget(options: TargetOptions, env = process.env): Promise<Target> {
  const given = options.url ?? (env.SANAGA_URL?.trim() || undefined);
  const key = options.apiKey ?? (env.SANAGA_API_KEY?.trim() || undefined);
  const start = given !== undefined && key !== undefined ? undefined : await findStart();
  const url = given ?? start?.apiUrl;
  if (url === undefined) {
    throw new UsageError(
      'which API? Set SANAGA_URL and SANAGA_API_KEY, or give --url and --api-key.\n' +
        'Or run this in the folder where "npm start" is running.',
    );
  }
  const apiKey = key ?? (start !== undefined && isSame(url, start.apiUrl) ? keyOf(start) : undefined);
  if (apiKey === undefined) throw new UsageError(`which API key for ${url}? Set SANAGA_API_KEY, or give --api-key.`);
  return { url, apiKey };
}

function keyOf({ running, secrets }: { readonly running: Running; readonly secrets: { readonly apiKey: string } }) {
  return running.hasGeneratedKey ? secrets.apiKey : undefined;
}

function isSame(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).origin === new URL(other).origin;
}

/** The client for {@link findTarget}. @throws UsageError also for an address or a key that can't be one. */
export async function clientFor(options: TargetOptions): Promise<Sanaga> {
  const { url, apiKey } = await findTarget(options);
  // What programs read is the data, unchanged.
  const isForPeople = !options.json && !options.csv;
  try {
    return new Sanaga({ baseUrl: url, apiKey, ...(isForPeople && { fetch: shownFetch }) });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const named = error.message
      .replace(/^baseUrl/, "the API's address (SANAGA_URL, --url)")
      .replace(/^apiKey/, 'the API key (SANAGA_API_KEY, --api-key)');
    throw new UsageError(named);
  }
}

/** @throws UsageError for a text that can't be a payment's id. */
export function paymentId(given: string): string {
  if (/^(col|pay)_[\w-]+$/.test(given)) return given;
  throw new UsageError(
    `${JSON.stringify(given)} is not a payment's id, which begins with col_ or pay_. ` +
      'By another id, "sanaga list" finds a payment: --external-id or --user-id, which are yours, ' +
      "--trans-id, the provider's, or --financial-trans-id, the mobile operator's",
  );
}
