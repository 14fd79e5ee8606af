import { join } from 'node:path';
import { findPostgres, POSTGRES_ADVICE } from '../../stack/postgres/postgres-programs.js';
import { answers, type Child, startChild, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { makeSecrets, stackSettings } from '../../stack/processes/settings.js';
import { cleanEnvironment, PROJECT } from '../environment.js';
import { type BenchTemporal, countEvents, startEmbeddedTemporal, startPostgresTemporal } from '../servers/temporal.js';
import { buildTemporalServer } from '../servers/temporal-on-postgres.js';
import { Started, type System, type SystemContext, type SystemName } from './system.js';

const TASK_QUEUE = 'payments';
const STOP_GRACE_MS = 10_000;
/** For settings that nobody reads. */
const NO_PORT = 1;

/**
 * Limits that protect merchants from each other, which one merchant alone with this many payments would reach. With the
 * default of MAX_ACTIVE_REQUESTS, payments would wait for their turn in the API, and the rest of the system for
 * payments.
 */
const LIMITS = {
  MAX_REQUESTS_PER_MINUTE: '1000000',
  MAX_CONCURRENT_REQUESTS: '2000',
  MAX_ACTIVE_REQUESTS: '2000',
};

/** Options of Sanaga's start. */
export interface SanagaOptions {
  /**
   * Start two processes of the API, between which requests and notifications take turns, and two of the worker.
   * Default: false, one of each.
   */
  readonly isDoubled?: boolean;
  /** Settings, beside those that it needs to run. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Options of Node for the API and the worker. */
  readonly nodeOptions?: readonly string[];
}

/** The API and the worker with all that production switches on, on the embedded Temporal and a PostgreSQL. */
export function sanaga(options: SanagaOptions = {}, name: SystemName = 'sanaga'): System {
  return {
    name,
    missing: async () => undefined,
    prepare: async () => undefined,
    start: (context) => startSanaga(context, options, () => startEmbeddedTemporal(context.folder, context.report)),
  };
}

/** The same on Temporal's server and PostgreSQL, which has the book, too. */
export function sanagaPostgres(options: SanagaOptions = {}): System {
  return {
    name: 'sanaga-postgres',
    missing: async () => ((await findPostgres()) === undefined ? POSTGRES_ADVICE : undefined),
    prepare: async (report) => void (await buildTemporalServer(report)),
    start: (context) =>
      startSanaga(context, options, async () =>
        startPostgresTemporal(context.folder, await buildTemporalServer(context.report)),
      ),
  };
}

function startSanaga(
  context: SystemContext,
  { isDoubled = false, settings = {}, nodeOptions = [] }: SanagaOptions,
  startTemporal: () => Promise<BenchTemporal>,
) {
  return Started.while(async (started) => {
    const temporal = await startTemporal();
    started.add(temporal.stop);
    const book = await temporal.startBook();
    started.add(book.stop);
    const secrets = makeSecrets();
    const start = async (program: string, name: string, port: number) => {
      const metricsAddress = `127.0.0.1:${await freePort()}`;
      const child = await startChild({
        name,
        file: process.execPath,
        args: [...nodeOptions, join(PROJECT, 'lib', program)],
        env: {
          ...cleanEnvironment(),
          ...stackSettings({ api: port, sandbox: NO_PORT }, secrets),
          ...temporal.env,
          ...LIMITS,
          TEMPORAL_TASK_QUEUE: TASK_QUEUE,
          DATABASE_URL: book.url,
          API_METRICS_ADDRESS: metricsAddress,
          WORKER_METRICS_ADDRESS: metricsAddress,
          ...partnerSettings(context),
          ...settings,
        },
        logFile: join(context.folder, `${name.replace(' ', '-')}.log`),
      });
      started.add(() => child.stop(STOP_GRACE_MS));
      return { child, metricsUrl: `http://${metricsAddress}/metrics` };
    };
    const prefixes = isDoubled ? ['', 'second '] : [''];
    const workers: { readonly child: Child; readonly metricsUrl: string }[] = [];
    for (const prefix of prefixes) workers.push(await start('worker.js', `${prefix}worker`, NO_PORT));
    const apis: { readonly child: Child; readonly url: string }[] = [];
    for (const prefix of prefixes) {
      const port = await freePort();
      const { child } = await start('server.js', `${prefix}api`, port);
      apis.push({ child, url: `http://127.0.0.1:${port}` });
    }
    for (const { child, metricsUrl } of workers) await untilReady(child, () => polls(metricsUrl));
    for (const { child, url } of apis) await untilReady(child, () => answers(`${url}/readyz`));
    return {
      target: {
        apis: apis.map(({ url }) => ({
          createUrl: `${url}/v1/collections`,
          webhookUrl: `${url}/webhooks/provider/${secrets.webhookToken}`,
        })),
        apiKey: secrets.apiKey,
      },
      processes: {
        ...Object.fromEntries([...apis, ...workers].map(({ child }) => [child.name, child.pid])),
        ...temporal.processes,
        ...book.processes,
      },
      bytes: async () => (await temporal.bytes()) + (await book.bytes()),
      events: (payments) => countEvents(temporal.target, payments),
      stop: () => started.stop(),
    };
  });
}

/** Returns the settings that name the provider and the merchant. */
function partnerSettings({ provider, merchant }: SystemContext): Readonly<Record<string, string>> {
  return {
    PROVIDER_COLLECTION_URL: provider.url,
    PROVIDER_COLLECTION_API_USER: provider.user,
    PROVIDER_COLLECTION_API_KEY: provider.key,
    MERCHANT_WEBHOOK_URL: merchant.url,
    MERCHANT_WEBHOOK_SECRET: merchant.secret,
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
}

/** Reports whether a worker polls for workflow tasks. Temporal shows only some of several workers. */
async function polls(metricsUrl: string): Promise<boolean> {
  const page = await fetch(metricsUrl).then((response) => response.text());
  return /^temporal_num_pollers\{[^}]*"workflow_task"[^}]*\} [1-9]/m.test(page);
}
