import { createSecretKey } from 'node:crypto';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
// The package is CommonJS of a form whose named exports Node cannot see.
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import { type Activities, createActivities } from '../../src/activities/activities.js';
import { refundedCollections } from '../../src/activities/refunded-collections.js';
import { Book } from '../../src/book/book.js';
import type { Beat } from '../../src/book/gaps.js';
import { createMerchantNotifier, type MerchantNotifier } from '../../src/delivery/merchant.js';
import { runOutbox } from '../../src/delivery/outbox.js';
import { type BeatOptions, type BeatStore, beatOnce } from '../../src/engine/beats.js';
import { ringer } from '../../src/engine/ring.js';
import type { Service } from '../../src/payments/words/order.js';
import { repeat } from '../../src/process/repeat.js';
import { createProviderClient, type ProviderClient } from '../../src/provider/client.js';
import { dataConverterOf, type Encryption, keysOf } from '../../src/temporal/encryption.js';
import { runKeeper } from '../../src/worker/keeper.js';
import type { PaymentWorkerOptions } from '../../src/worker/payment-worker.js';
import { CREDENTIALS, MERCHANT_SECRET } from './credentials.js';
import { WorkerClock } from './worker-clock.js';

/** The settings of a simulated worker, passed to its process as JSON. */
export const workerSettingsSchema = z.object({
  temporalAddress: z.string(),
  bookUrl: z.string(),
  providerUrl: z.string(),
  /** Address that takes notifications for the merchant. */
  merchantUrl: z.string(),
  workflowBundle: z.string(),
  providerTimeoutMs: z.int(),
  merchantTimeoutMs: z.int(),
  /** The base64 of the key that payments are encrypted with. */
  encryptionKey: z.string(),
});
export type WorkerSettings = z.infer<typeof workerSettingsSchema>;

export const NAMESPACE = 'default';
export const TASK_QUEUE = 'payments';

const LIMITS: PaymentWorkerOptions['limits'] = {
  maxCachedWorkflows: 5_000,
  maxConcurrentWorkflowTasks: 40,
  maxConcurrentActivities: 40,
  maxConcurrentLocalActivities: 100,
  shutdownGraceMs: 1_000,
};

/**
 * Simulated time passes this many times faster than real time while connections wait: too fast for the client's pauses
 * to matter.
 */
const TIME_FACTOR = 1_000;

/** A client for each of the provider's services. Their pauses are short, as simulated time stands still in them. */
export function providerClients(url: string, timeoutMs: number) {
  const now = () => performance.now() * TIME_FACTOR;
  const common = { url, timeoutMs, now, orderSlots: LIMITS.maxConcurrentActivities };
  return {
    collection: createProviderClient({ service: 'collection', ...CREDENTIALS.collection, ...common }),
    payout: createProviderClient({ service: 'payout', ...CREDENTIALS.payout, ...common }),
  };
}

/** @param key the base64 of 32 bytes */
export function encryptionWith(key: string): Encryption {
  return { keys: keysOf([{ id: 'simulated', key: createSecretKey(key, 'base64') }]), isOn: true };
}

/** Real seconds after which a task of a worker that is gone goes to another; ten unless set. */
const workflowTaskTimeout = proto.google.protobuf.Duration.fromObject({ seconds: 3 });

/** Has a dead worker's tasks time out soon: simulated time stands until they do. */
export const quickTaskTimeout: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, options: { ...input.options, workflowTaskTimeout } }),
  signalWithStart: (input, next) => next({ ...input, options: { ...input.options, workflowTaskTimeout } }),
};

/** What a worker calls. */
export interface WorkerCalls {
  readonly providers: Readonly<Record<Service, ProviderClient>>;
  readonly merchant: MerchantNotifier;
}

/**
 * Changes what a worker calls.
 *
 * @param lastWebhookStatus the status that notifications named last for a transaction
 */
export type WrapCalls = (calls: WorkerCalls, lastWebhookStatus: (transId: string) => string | undefined) => WorkerCalls;

/** Simulated time jumps on: what is overdue is looked for often, in real ms, and is late after a minute. */
const KEEPER_PACE = { lookMs: 250, lateMs: 60_000 };

/** Between two beats of a worker, in real ms: without one within simulated seconds, feeds stand still. */
const BEAT_EVERY_MS = 250;

/** Tries to notify merchants at a time. */
const OUTBOX_SLOTS = 40;

/** Everything a simulated worker needs: what runs its tasks, and the loops beside them. */
export async function startWorkerParts(
  settings: WorkerSettings,
  connection: NativeConnection,
  wrap: (calls: WorkerCalls) => WorkerCalls = (calls) => calls,
) {
  const clock = await WorkerClock.on(settings.temporalAddress);
  const encryption = encryptionWith(settings.encryptionKey);
  const book = new Book(settings.bookUrl, encryption, clock.now);
  const client = new Client({
    connection,
    namespace: NAMESPACE,
    dataConverter: dataConverterOf(encryption),
    interceptors: { workflow: [quickTaskTimeout] },
  });
  const clients = providerClients(settings.providerUrl, settings.providerTimeoutMs);
  const endpoints = [{ url: settings.merchantUrl, secrets: [MERCHANT_SECRET] }];
  const notifier = createMerchantNotifier({
    endpointsOf: () => endpoints,
    timeoutMs: settings.merchantTimeoutMs,
    allowPrivate: true,
  });
  const { providers, merchant } = wrap({ providers: clients, merchant: notifier });
  const logger = pino({ level: 'silent' });
  const ring = ringer(client, TASK_QUEUE, book);
  const activities = createActivities({
    book,
    providers,
    collections: refundedCollections(book, ring),
    limitsOf: () => ({}),
    logger,
    reports: { report: () => undefined },
  });
  const beats = { book, store: beatsInMemory(), logger };
  const beating = { work: () => beatOnce(beats), everyMs: BEAT_EVERY_MS, logger, failure: 'nothing is sent' };
  return {
    options: {
      namespace: NAMESPACE,
      taskQueue: TASK_QUEUE,
      workflowBundle: { codePath: settings.workflowBundle },
      limits: LIMITS,
      encryption,
    },
    activities: onTime(activities, clock, beats),
    /** What a worker does beside its tasks. */
    loops: (stop: AbortSignal) =>
      Promise.all([
        runOutbox({ book, merchant, slots: OUTBOX_SLOTS, logger }, stop),
        runKeeper({ book, ring, logger, pace: KEEPER_PACE }, stop),
        repeat(beating, stop),
      ]),
    async close(): Promise<void> {
      for (const provider of Object.values(clients)) provider.close();
      await book.close();
      await clock.close();
    },
  };
}

/**
 * Has each activity begin with the server's time, which stands still but for the real time until it has ended. What
 * sends money beats first: since the worker's last beat, hours may have passed.
 */
function onTime(activities: Activities, clock: WorkerClock, beats: BeatOptions): Activities {
  const lookAndBeat = async () => {
    await clock.look();
    // Without a beat, nothing is sent yet.
    await beatOnce(beats).catch(() => undefined);
  };
  return {
    async takeTurn(id, taking) {
      await clock.look();
      return await activities.takeTurn(id, taking);
    },
    async createLink(id, attempted) {
      await clock.look();
      return await activities.createLink(id, attempted);
    },
    async requestOnPhone(id, attempted) {
      await lookAndBeat();
      return await activities.requestOnPhone(id, attempted);
    },
    async sendPayout(id, attempted) {
      await lookAndBeat();
      return await activities.sendPayout(id, attempted);
    },
  };
}

/** The time-skipping server has no schedules in which beats could be kept. */
function beatsInMemory(): BeatStore {
  let last: Beat | undefined;
  return {
    read: async () => last,
    async write(beat) {
      last = beat;
    },
  };
}
