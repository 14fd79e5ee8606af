import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { makeSecrets, stackSettings } from '../../stack/processes/settings.js';
import { workerPolls } from '../../stack/processes/stack.js';
import { cleanEnvironment } from '../environment.js';
import { findPostgres, POSTGRES_ADVICE } from '../servers/postgres.js';
import {
  type BenchTemporal,
  countEvents,
  startEmbeddedTemporal,
  startPostgresTemporal,
} from '../servers/temporal.js';
import { buildTemporalServer } from '../servers/temporal-on-postgres.js';
import { answers } from './peer.js';
import { Started, type System, type SystemContext } from './system.js';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const TASK_QUEUE = 'payments';
const STOP_GRACE_MS = 10_000;

/** Limits that protect the API from one merchant, which one merchant alone with this many payments would reach. */
const LIMITS = { MAX_REQUESTS_PER_MINUTE: '1000000', MAX_CONCURRENT_REQUESTS: '2000' };

/** The API and the worker as production starts them, on the embedded Temporal. */
export const sanaga: System = {
  name: 'sanaga',
  missing: async () => undefined,
  prepare: async () => undefined,
  start: (context) => startSanaga(context, () => startEmbeddedTemporal(context.folder, context.report)),
};

/** The same on Temporal's server and PostgreSQL. */
export const sanagaPostgres: System = {
  name: 'sanaga-postgres',
  missing: async () => ((await findPostgres()) === undefined ? POSTGRES_ADVICE : undefined),
  prepare: async (report) => void (await buildTemporalServer(report)),
  start: (context) =>
    startSanaga(context, async () =>
      startPostgresTemporal(context.folder, await buildTemporalServer(context.report)),
    ),
};

function startSanaga(context: SystemContext, startTemporal: () => Promise<BenchTemporal>) {
  return Started.while(async (started) => {
    const temporal = await startTemporal();
    started.add(temporal.stop);
    const { provider, merchant, folder } = context;
    const secrets = makeSecrets();
    const port = await freePort();
    const apiUrl = `http://127.0.0.1:${port}`;
    const env = {
      ...cleanEnvironment(),
      ...stackSettings({ api: port, sandbox: 1 }, secrets),
      ...temporal.env,
      ...LIMITS,
      TEMPORAL_TASK_QUEUE: TASK_QUEUE,
      PROVIDER_COLLECTION_URL: provider.url,
      PROVIDER_COLLECTION_API_USER: provider.user,
      PROVIDER_COLLECTION_API_KEY: provider.key,
      MERCHANT_WEBHOOK_URL: merchant.url,
      MERCHANT_WEBHOOK_SECRET: merchant.secret,
      MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    const start = async (name: string) => {
      const child = await startChild({
        name,
        file: process.execPath,
        args: [join(PROJECT, 'lib', name === 'api' ? 'server.js' : 'worker.js')],
        env,
        logFile: join(folder, `${name}.log`),
      });
      started.add(() => child.stop(STOP_GRACE_MS));
      return child;
    };
    const worker = await start('worker');
    const api = await start('api');
    await untilReady(worker, workerPolls(temporal.target, TASK_QUEUE, worker.pid));
    await untilReady(api, () => answers(`${apiUrl}/readyz`));
    return {
      target: {
        createUrl: `${apiUrl}/v1/collections`,
        apiKey: secrets.apiKey,
        webhookUrl: `${apiUrl}/webhooks/provider/${secrets.webhookToken}`,
      },
      processes: { api: api.pid, worker: worker.pid, ...temporal.processes },
      bytes: temporal.bytes,
      events: (payments) => countEvents(temporal.target, payments),
      stop: () => started.stop(),
    };
  });
}
