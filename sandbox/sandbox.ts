import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { z } from 'zod';
import { createCheckout } from './checkout/checkout.js';
import type { Clock } from './clock.js';
import { ApiError, type Service } from './endpoints/endpoint.js';
import { providerApi } from './endpoints/provider-api.js';
import type { Entry, ServiceKind } from './entry.js';
import { FaultInjector } from './faults/fault-injector.js';
import { ReplySender } from './faults/response-faults.js';
import type { Journal } from './journal.js';
import { keyedRandom } from './keyed-random.js';
import { Ledger } from './ledger.js';
import type { Log } from './log.js';
import { operatorApi } from './operator.js';
import { type PostCount, PostCounter, RequestCounter } from './request-counts.js';
import { WebhookSender } from './webhook-sender.js';

/** A service's credentials, and the address for its notifications if it has one. */
export type ServiceSetting = Pick<Service, 'apiUser' | 'apiKey' | 'webhookUrl'> & { readonly name?: string };

export interface SandboxOptions {
  readonly clock: Clock;
  readonly services: Readonly<Record<ServiceKind, ServiceSetting>>;
  /** Shown on the checkout page and in `serviceName`. */
  readonly merchantName: string;
  /** The public base address of the checkout page; the listening address by default. */
  readonly publicUrl?: string | undefined;
  /** Determines what is random (balances, platform payouts, faults by rate), except ids. */
  readonly seed?: string | number | undefined;
  /** From a status change to its notification, in ms of the clock. */
  readonly webhookDelayMs?: number | undefined;
  /** Maximum number of tries of a notification, 1 to 3. */
  readonly webhookTries?: number | undefined;
  /** A merchant's time limit to respond to a notification, in real ms. */
  readonly webhookTimeoutMs?: number | undefined;
  /** The delay of "at once" for direct payments and payouts, in ms of the clock. */
  readonly settleDelayMs?: number | undefined;
  /** The payout service's balance before its first payout, in XAF. Without it, no payout is too large. */
  readonly payoutFunds?: number | undefined;
  /** Maximum number of transactions; the first to end are evicted first. */
  readonly capacity?: number | undefined;
  /** The state of earlier runs is restored from it, and every change is written to it. */
  readonly journal?: Pick<Journal, 'entries' | 'posts' | 'saveEntry' | 'savePosts'> | undefined;
  readonly log?: Log | undefined;
}

export interface Sandbox {
  readonly app: Express;
  readonly ledger: Ledger;
  readonly faults: FaultInjector;
  readonly posts: PostCounter;
  /** Starts listening; port 0 selects a free one. */
  listen(port: number, host?: string): Promise<{ readonly url: string }>;
  /** Resolves when no notification is being sent. */
  quiet(): Promise<void>;
  /** Stops the server, timers and notifications. Requests in progress get a second to end. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 1000;
/** Longer than clients keep idle connections, so that none is closed as a client reuses it. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Simulates the whole provider: its endpoints, its checkout page at `/pay/{token}`, its notifications, and under
 * `/_sandbox` an operator's interface. Everything but network timeouts follows one clock.
 *
 * @example
 * const sandbox = createSandbox({ clock: scaledClock(), merchantName: 'Shop', services });
 * const { url } = await sandbox.listen(4000);
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { clock, merchantName, webhookDelayMs = 100, webhookTries = 3, webhookTimeoutMs = 10_000 } = options;
  const log: Log = options.log ?? (() => {});
  const random = keyedRandom(options.seed);
  const { capacity, settleDelayMs, journal } = options;
  const onSave = journal && ((entry: Entry) => journal.saveEntry(entry, clock.now()));
  // Ids are never seeded, or a restarted sandbox would use those of its first run again.
  const ledger = new Ledger({ clock, random: keyedRandom(), capacity, settleDelayMs, onSave });
  const posts = new PostCounter(
    journal?.posts,
    journal && ((count: PostCount) => journal.savePosts(count, clock.now())),
  );
  const faults = new FaultInjector({
    clock,
    seed: options.seed ?? random.text(16, 'abcdef0123456789', 'faults'),
  });
  const timing = { delayMs: webhookDelayMs, maxTries: webhookTries, timeoutMs: webhookTimeoutMs };
  const webhooks = new WebhookSender({ clock, ledger, faults, log, ...timing });
  const requests = new RequestCounter();
  const replies = new ReplySender();
  ledger.onChange(({ transId }, { status }) => log('status', { transId, status }));
  if (journal !== undefined) {
    ledger.restore(journal.entries);
    webhooks.resume(journal.entries);
  }

  const services = (['collection', 'payout'] as const).map((kind): Service => {
    return { name: `${merchantName} ${kind}s`, ...options.services[kind], kind };
  });
  const app = express();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app);
  const linkTo = (token: string) => `${options.publicUrl ?? addressOf()}/pay/${token}`;
  const addressOf = () => urlOf(server.address());

  app.disable('x-powered-by');
  app.disable('etag');
  app.use('/pay/:token', createCheckout({ ledger, merchantName }));
  app.use('/_sandbox', operatorApi({ ledger, faults, posts, requests, webhooks }));
  const send = replies.send.bind(replies);
  const { payoutFunds } = options;
  const context = { ledger, clock, random, linkTo, payoutFunds };
  app.use(providerApi({ ...context, services, faults, posts, requests, log, send }));
  app.use(() => {
    throw new ApiError(404, 'No such endpoint');
  });
  app.use(errorHandler(log));

  return {
    app,
    ledger,
    faults,
    posts,
    async listen(port, host = '127.0.0.1') {
      server.listen(port, host);
      await once(server, 'listening');
      return { url: addressOf() };
    },
    quiet: () => webhooks.quiet(),
    close: async () => {
      ledger.close();
      replies.close();
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([closed, webhooks.close()]);
      clearTimeout(cut);
    },
  };
}

/** The address of a server for clients on the same machine. */
function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') {
    throw new Error('Payment links need publicUrl, or the sandbox to be listening');
  }
  const anywhere = address.address === '0.0.0.0' || address.address === '::';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${anywhere ? '127.0.0.1' : host}:${address.port}`;
}

/** Errors of Express and its parsers for bad requests: malformed JSON, a body too large, an invalid path. */
const clientErrorSchema = z.object({ status: z.int().min(400).max(499), type: z.string().optional() });

const errorHandler =
  (log: Log): ErrorRequestHandler =>
  (error, _request, response, _next) => {
    const known = clientErrorSchema.safeParse(error);
    if (error instanceof ApiError) {
      response
        .status(error.status)
        .set(error.headers ?? {})
        .json({ message: error.message });
    } else if (known.success) {
      const malformed = known.data.type === 'entity.parse.failed';
      const message = malformed ? 'The body is not valid JSON' : 'The request is malformed';
      response.status(known.data.status).json({ message });
    } else {
      log('error', { error: error instanceof Error ? error.stack : String(error) });
      response.status(500).json({ message: 'Internal error of the sandbox' });
    }
  };
