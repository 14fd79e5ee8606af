import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { type Config, ConfigError, type Part, readConfig } from '../../src/config.js';
import { existingWebhookSecret, stackSettings } from '../../stack/processes/settings.js';
import { listenUrl, shopWebhookUrl } from '../../stack/start/start-settings.js';
import { note, paint, print, printJson } from '../output.js';
import { EXIT, UsageError } from '../run.js';
import { findListenTarget, findStart, findTarget, stateFolder, type TargetOptions } from '../target.js';
import { type Finding, fail, ok, reasonOf } from './finding.js';
import { checkApi, checkProvider, checkProviderClock, checkWebhooks } from './http.js';
import { checkTemporal } from './temporal.js';

export interface DoctorOptions extends TargetOptions {
  readonly envFile?: string;
}

/** Checks everything that payments need, and shows each finding as it is made. */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { env, of, isForListen = false } = await settingsToCheck(options);
  if (!options.json) note(`Checking ${of}.\n`);
  const found: Finding[] = [];
  for await (const finding of checkAll(env, options, isForListen)) {
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

/**
 * The settings of the environment, and of a file; or of the `start` that runs in the current folder, when neither has any
 * for the provider.
 *
 * @throws UsageError when there are none.
 */
async function settingsToCheck({ envFile }: DoctorOptions) {
  const file =
    envFile === undefined
      ? {}
      : parseEnv(
          await readFile(envFile, 'utf8').catch((error: unknown) => {
            throw new UsageError(`${envFile} can't be read: ${reasonOf(error)}`);
          }),
        );
  const given: NodeJS.ProcessEnv = { ...file, ...process.env };
  if (Object.keys(given).some((name) => name.startsWith('PROVIDER_') && given[name] !== '')) {
    return {
      env: given,
      of: envFile === undefined ? 'the settings in the environment' : `the settings in ${envFile}`,
    };
  }
  const start = await findStart();
  if (start === undefined) {
    throw new UsageError(
      'there are no settings to check: run this with those of your processes (--env-file .env), or in the folder where "npm start" is running',
    );
  }
  const { running, secrets } = start;
  const listen = await findListenTarget();
  const { shopPort } = running;
  const receiver = listen === undefined ? shopPort && shopWebhookUrl(shopPort) : listenUrl(listen.port);
  const settings = {
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
    ...given,
    ...(receiver && {
      MERCHANT_WEBHOOK_URL: receiver,
      MERCHANT_WEBHOOK_SECRET: await existingWebhookSecret(stateFolder()),
    }),
    ...stackSettings(running.ports, secrets),
    ...((given.API_KEYS || given.API_KEYS_FILE || given.MERCHANTS_FILE) && { API_KEYS: given.API_KEYS }),
    ...((given.ENCRYPTION_KEYS || given.ENCRYPTION_KEYS_FILE) && { ENCRYPTION_KEYS: given.ENCRYPTION_KEYS }),
    TEMPORAL_ADDRESS: running.temporal.address,
    TEMPORAL_NAMESPACE: running.temporal.namespace,
    TEMPORAL_TASK_QUEUE: running.taskQueue,
  };
  return {
    env: settings,
    isForListen: listen !== undefined,
    of: `the "start" with process id ${running.pid}`,
  };
}

/** @param isForListen whether the notifications are sent to `sanaga listen`, which needn't be running. */
async function* checkAll(
  env: NodeJS.ProcessEnv,
  options: DoctorOptions,
  isForListen: boolean,
): AsyncGenerator<Finding> {
  const api = readPart('api', env);
  yield api.finding;
  const worker = readPart('worker', env);
  yield worker.finding;
  yield* await checkTemporal(
    env,
    (worker.config ?? api.config)?.TEMPORAL_TASK_QUEUE ?? env.TEMPORAL_TASK_QUEUE ?? 'payments',
  );
  const provider = worker.config ?? api.config;
  if (provider !== undefined) {
    yield* await checkProvider('collection', provider);
    yield* await checkProvider('payout', provider);
    yield* await checkProviderClock(provider.PROVIDER_COLLECTION_URL);
  }
  yield* await checkTarget(options);
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

async function checkTarget(options: DoctorOptions): Promise<Finding[]> {
  try {
    return await checkApi(await findTarget(options));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const todo = 'Set SANAGA_URL and SANAGA_API_KEY, or give --url and --api-key.';
    return [fail('api', 'there is no address or key of the API to check', todo)];
  }
}
