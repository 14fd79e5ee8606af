import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { type ManualClock, manualClock } from '../../sandbox/clock.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { createApp } from '../../src/api/app.js';
import type { PaymentTerms } from '../../src/payments/words/order.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/payments/words/time.js';
import { Shutdown } from '../../src/process/shutdown.js';
import { connectClient } from '../../src/temporal/connection.js';
import { startTimeSkippingEnvironment, withEmptyIndex } from '../../stack/temporal/time-skipping.js';
import { SIMULATED_LIMITS } from '../plan/planned-hold.js';
import { CREDENTIALS, merchantsWith, WEBHOOK_TOKEN } from './credentials.js';
import { LocalServer } from './local-server.js';
import { TemporalWire, WorkerSuccession } from './orphaned-tasks.js';
import { LastWebhookStatuses } from './provider-traffic.js';
import { type SimulatedBook, startSimulatedBook } from './simulated-book.js';
import { SimulatedTime, unlockingTime } from './simulated-time.js';
import { quietRuntime, type WorkerHost, workerChild, workerInThisProcess } from './worker.js';
import {
  encryptionWith,
  NAMESPACE,
  providerClients,
  quickTaskTimeout,
  TASK_QUEUE,
  type WorkerSettings,
  type WrapCalls,
} from './worker-parts.js';

export interface SimulatedWorldOptions {
  readonly seed: string | number;
  /** The file with the workflows, as `bundleWorkflows` makes it. */
  readonly workflowBundle: string;
  /** The compiled worker process; without it the worker runs in this process and can't be killed. */
  readonly workerProgram?: string | undefined;
  /** Changes what the worker calls; for one in this process. */
  readonly wrapCalls?: WrapCalls | undefined;
  readonly report: (line: string) => void;
  /** Called when a worker in a process of its own ends by itself. */
  readonly onWorkerFailure: (code: number | null) => void;
  /** Called with every request to the provider first; `false` stops the request. */
  readonly onProviderRequest: (request: IncomingMessage, response: ServerResponse, now: () => number) => boolean;
  /** Takes the merchant's notifications. */
  readonly merchant: (request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * The settings that payments live by: production's, but for fewer polls, and the real time that a connection may take.
 */
const TERMS: PaymentTerms = {
  linkLifetimeMs: DAY_MS,
  pollFirstMs: 10 * MINUTE_MS,
  pollMaxMs: 4 * HOUR_MS,
  ambiguousGraceMs: 15 * MINUTE_MS,
  ambiguousPolicy: 'review',
  resolveAfterMs: HOUR_MS,
  listedAfterMs: HOUR_MS,
  sendByMs: DAY_MS,
  providerTimeoutMs: 700,
};

/** Real ms after which a POST is answered 202: those who wait hold up simulated time. */
const ANSWER_WITHIN_MS = 200;
/** Real ms that the merchant's endpoint may take. */
const MERCHANT_TIMEOUT_MS = 500;
/** Real ms that the API may take to acknowledge the provider's notification. */
const WEBHOOK_TIMEOUT_MS = 5_000;

/**
 * All of Sanaga and everyone around it: API, provider and merchant's endpoint over real HTTP, a worker, a book on a
 * PostgreSQL of its own, and Temporal's time-skipping server, whose time all of them follow.
 */
export interface SimulatedWorld {
  readonly time: SimulatedTime;
  readonly clock: ManualClock;
  readonly sandbox: Sandbox;
  readonly api: LocalServer;
  readonly provider: LocalServer;
  readonly worker: WorkerSuccession;
  readonly temporal: Client;
  readonly book: SimulatedBook;
  stop(): Promise<void>;
}

/** Starts everything; time passes only when it is let. */
export async function startSimulatedWorld(options: SimulatedWorldOptions): Promise<SimulatedWorld> {
  quietRuntime();
  const env = await startTimeSkippingEnvironment({ report: options.report });
  const clock = manualClock(await env.currentTimeMs());
  const time = new SimulatedTime(env, clock);

  const provider = new LocalServer(async (request, response) => {
    const now = await time.now();
    if (!options.onProviderRequest(request, response, () => now)) return;
    sandbox.app(request, response);
  });
  const lastWebhookStatuses = new LastWebhookStatuses();
  const api = new LocalServer(async (request, response) => {
    await time.now();
    lastWebhookStatuses.record(request, response);
    app(request, response);
  });
  const merchant = new LocalServer(options.merchant);
  await Promise.all([provider.listen(), api.listen(), merchant.listen()]);

  const sandbox = simulatedProvider(clock, provider.url, api.url, options.seed);
  const providers = providerClients(provider.url, TERMS.providerTimeoutMs);
  const encryptionKey = randomBytes(32).toString('base64');
  // A connection of its own, as in production.
  const temporal = connectClient({ address: env.address, namespace: NAMESPACE }, encryptionWith(encryptionKey), {
    interceptors: { workflow: [quickTaskTimeout, unlockingTime(env.connection)] },
  });
  withEmptyIndex(temporal.connection);
  const book = await startSimulatedBook(encryptionWith(encryptionKey), time.known);
  const shutdown = new Shutdown();
  const app = createApp({
    ...{ client: temporal, book: book.book, providers, shutdown },
    ...{ taskQueue: TASK_QUEUE, namespace: NAMESPACE, terms: TERMS, webhookToken: WEBHOOK_TOKEN },
    merchants: merchantsWith(SIMULATED_LIMITS),
    logger: pino({ level: 'error' }, process.stderr),
    answerWithinMs: ANSWER_WITHIN_MS,
  });

  const wire = await TemporalWire.to(env.address);
  const host = workerHost(options, lastWebhookStatuses, {
    temporalAddress: wire.address,
    bookUrl: book.url,
    providerUrl: provider.url,
    merchantUrl: `${merchant.url}/notifications`,
    workflowBundle: options.workflowBundle,
    providerTimeoutMs: TERMS.providerTimeoutMs,
    merchantTimeoutMs: MERCHANT_TIMEOUT_MS,
    encryptionKey,
  });
  const worker = new WorkerSuccession(host, wire, env.connection);
  await worker.start();

  return {
    ...{ time, clock, sandbox, api, provider, worker, temporal, book },
    async stop() {
      // Otherwise the API goes on to start payments whose start has failed.
      shutdown.begin();
      await worker.stop();
      worker.close();
      await wire.close();
      await sandbox.close();
      await Promise.all([provider.leave(), api.leave(), merchant.leave()]);
      for (const { close } of Object.values(providers)) close();
      await temporal.connection.close();
      await book.stop();
      await env.teardown();
    },
  };
}

function simulatedProvider(clock: ManualClock, publicUrl: string, apiUrl: string, seed: string | number): Sandbox {
  const webhookUrl = `${apiUrl}/webhooks/provider/${WEBHOOK_TOKEN}`;
  return createSandbox({
    clock,
    merchantName: 'Simulated shop',
    publicUrl,
    services: {
      collection: { ...CREDENTIALS.collection, webhookUrl },
      payout: { ...CREDENTIALS.payout, webhookUrl },
    },
    seed,
    webhookTimeoutMs: WEBHOOK_TIMEOUT_MS,
  });
}

function workerHost(
  { workerProgram, wrapCalls = (calls) => calls, onWorkerFailure }: SimulatedWorldOptions,
  lastWebhookStatuses: LastWebhookStatuses,
  settings: WorkerSettings,
): WorkerHost {
  if (workerProgram !== undefined) return workerChild(settings, workerProgram, onWorkerFailure);
  return workerInThisProcess(settings, (calls) => wrapCalls(calls, lastWebhookStatuses.of));
}
