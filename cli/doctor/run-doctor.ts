import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { ConfigError } from '../../src/settings/config-error.js';
import { type Config, type Part, readConfig } from '../../src/settings/read-settings.js';
import { existingWebhookSecret, stackSettings } from '../../stack/processes/settings.js';
import { listenUrl, shopWebhookUrl } from '../../stack/start/start-settings.js';
import { note, paint, print, printJson } from '../output.js';
import { EXIT, UsageError } from '../run.js';
import { findStart, stateFolder, type TargetOptions } from '../target.js';
import { checkBook } from './book.js';
import { type Finding, fail, ok, reasonOf } from './finding.js';
import { checkApi, checkProvider, checkProviderClock, checkWebhooks } from './http.js';
import { checkTemporal } from './temporal.js';

export interface DoctorOptions extends TargetOptions {
  readonly settings?: string;
}

/** Checks everything that payments need, and shows each finding as it is made. */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const checked = await settingsToCheck(options);
  if (!options.json) note(`Checking ${checked.of}.\n`);
  const found: Finding[] = [];
  for await (const finding of checkAll(checked)) {
    found.push(finding);
    if (options.json) printJson(finding);
    else print(lineOf(finding));
  }
  const count = (status: Finding['status']) => found.filter((one) => one.status === status).length;
  if (!options.json) note(`\nok: ${count('ok')}, warn: ${count('warn')}, fail: ${count('fail')}`);
  return count('fail') > 0 ? EXIT.failed : EXIT.ok;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function lineOf({ check, status, detail, todo }: Finding): string {
  const line = `${paint(COLOURS[status], status.padEnd(4))}  ${check.padEnd(21)}  ${detail.replaceAll('\n', `\n${' '.repeat(29)}`)}`;
  return todo === undefined
    ? line
    : `${line}\n      ${' '.repeat(21)}  ${todo.replaceAll('\n', `\n${' '.repeat(29)}`)}`;
}

/** The subject of the checks. */
interface Checked {
  readonly env: NodeJS.ProcessEnv;
  /** In words. */
  readonly of: string;
  /** The API, if there is one. */
  readonly target: { readonly url?: string; readonly apiKey?: string };
  /** `true` when notifications are sent to `sanaga listen`, which needn't be running. */
  readonly isForListen: boolean;
}

/**
 * Reads the settings of a file; without one, those of the `start` that runs in the current folder, whatever this
 * terminal's environment has; and where none runs, those of the environment.
 *
 * @throws UsageError when there are none.
 */
async function settingsToCheck(options: DoctorOptions): Promise<Checked> {
  const { settings: file } = options;
  const start = await findStart();
  if (file !== undefined) {
    const read = await readFile(file, 'utf8').catch((error: unknown) => {
      throw new UsageError(`--settings: ${file} can't be read: ${reasonOf(error)}`);
    });
    const env = { ...parseEnv(read.replace(/^\ufeff/, '')), ...process.env };
    return { env, of: `the settings in ${file}, and in the environment`, ...apiOf(env, options, start) };
  }
  if (start !== undefined) return await ofStart(start, options);
  if (!Object.entries(process.env).some(([name, value]) => name.startsWith('PROVIDER_') && value)) {
    throw new UsageError(
      'there is nothing to check: no "npm start" runs in this folder, and the environment has no settings. ' +
        'Name a file with those of your processes: --settings .env',
    );
  }
  const of = 'the settings in the environment: no "npm start" runs in this folder';
  return { env: process.env, of, ...apiOf(process.env, options) };
}

/** @param running the `start` whose API is checked where none is named */
function apiOf(
  { SANAGA_URL, SANAGA_API_KEY }: NodeJS.ProcessEnv,
  { url, apiKey }: DoctorOptions,
  running?: Awaited<ReturnType<typeof findStart>>,
) {
  const named = url ?? SANAGA_URL?.trim();
  const address = named || running?.apiUrl;
  const key = apiKey ?? (SANAGA_API_KEY?.trim() || (named ? undefined : running?.secrets.apiKey));
  return { target: { ...(address && { url: address }), ...(key && { apiKey: key }) }, isForListen: false };
}

/** Stands in for the address of a book of one's own, whose password `start` doesn't reveal. */
const NOT_TOLD = 'postgres://127.0.0.1/not-told';

/**
 * Reads the settings of a running `start`. It doesn't reveal its secrets: the stack's own stand in for them, so that
 * the rest can be read.
 */
async function ofStart(
  { running, secrets, apiUrl }: NonNullable<Awaited<ReturnType<typeof findStart>>>,
  { url = apiUrl, apiKey }: DoctorOptions,
): Promise<Checked> {
  const { settings, shopPort, listenPort, hasGeneratedKey, temporal, taskQueue } = running;
  const receiver = listenPort === undefined ? shopPort && shopWebhookUrl(shopPort) : listenUrl(listenPort);
  const standIns: NodeJS.ProcessEnv = {
    DATABASE_URL: NOT_TOLD,
    ...stackSettings(running.ports, secrets),
    MERCHANT_WEBHOOK_SECRET: await existingWebhookSecret(stateFolder()),
  };
  const isGiven = (name: string) =>
    settings[`${name}_FILE`] !== undefined ||
    (name === 'API_KEYS' && (settings.API_KEYS ?? settings.MERCHANTS_FILE) !== undefined);
  const { HOME, TEMPORAL_API_KEY, SANAGA_API_KEY } = process.env;
  const key = apiKey ?? (hasGeneratedKey && url === apiUrl ? secrets.apiKey : SANAGA_API_KEY?.trim());
  return {
    env: {
      HOME,
      MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
      ...(receiver && { MERCHANT_WEBHOOK_URL: receiver }),
      ...settings,
      ...Object.fromEntries(Object.entries(standIns).filter(([name]) => !isGiven(name))),
      // A server of one's own may want one.
      ...(settings.TEMPORAL_ADDRESS !== undefined && { TEMPORAL_API_KEY }),
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      TEMPORAL_TASK_QUEUE: taskQueue,
    },
    of: `the "start" that runs in this folder (process ${running.pid}), and not this terminal's settings`,
    target: { url, ...(key && { apiKey: key }) },
    isForListen: listenPort !== undefined,
  };
}

async function* checkAll({ env, target, isForListen }: Checked): AsyncGenerator<Finding> {
  const api = readPart('api', env);
  yield api.finding;
  const worker = readPart('worker', env);
  yield worker.finding;
  yield* await checkTemporal(
    env,
    (worker.config ?? api.config)?.TEMPORAL_TASK_QUEUE ?? env.TEMPORAL_TASK_QUEUE ?? 'payments',
  );
  const config = worker.config ?? api.config;
  if (config !== undefined) {
    if (config.DATABASE_URL !== NOT_TOLD) yield await checkBook(config.DATABASE_URL);
    yield* await checkProvider('collection', config);
    yield* await checkProvider('payout', config, api.config?.FLOAT_WARN_BELOW);
    yield* await checkProviderClock(config.PROVIDER_COLLECTION_URL);
  }
  yield* await checkApi(target);
  if (worker.config !== undefined) yield* await checkWebhooks(worker.config, isForListen);
}

function readPart<P extends Part>(
  part: P,
  env: NodeJS.ProcessEnv,
): { readonly finding: Finding; readonly config?: Config<P> } {
  const name = `settings, ${part}`;
  try {
    return { finding: ok(name, 'they are valid'), config: readConfig(part, env) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { finding: fail(name, error.message, 'Correct them: docs/settings.md lists them all.') };
  }
}
