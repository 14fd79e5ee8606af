import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { z } from 'zod';
import { Refusal } from './answer.js';
import { createCheckout } from './checkout/checkout.js';
import type { Clock } from './clock.js';
import { RequestEnder } from './endpoints/end-request.js';
import { providerApi } from './endpoints/provider-api.js';
import type { Entry, ServiceKind } from './entry.js';
import { Faults } from './faults/faults.js';
import type { Journal } from './journal/journal.js';
import { keyedRandom } from './keyed-random.js';
import { Ledger } from './ledger.js';
import type { Log } from './log.js';
import { operatorApi } from './operator/operator-api.js';
import { type PostCount, PostLog } from './post-log.js';
import type { Service } from './service.js';
import { Traffic } from './traffic.js';
import { WebhookSender } from './webhook-sender.js';

/** A service's credentials and, when it has one, the address its notifications go to. */
export type ServiceSetting = Pick<Service, 'apiUser' | 'apiKey' | 'webhookUrl'> & { readonly name?: string };

export interface SandboxOptions {
  readonly clock: Clock;
  readonly services: Readonly<Record<ServiceKind, ServiceSetting>>;
  /** Who is paid, as the checkout page and `serviceName` say it. */
  readonly merchantName: string;
  /** Where the checkout page is reached from outside; the listening address when left out. */
  readonly publicUrl?: string | undefined;
  /** Decides what is left to chance (balances, platform payouts, faults by rate), never an id. */
  readonly seed?: string | number | undefined;
  /** From a status change to its notification, in ms of the clock. */
  readonly webhookDelayMs?: number | undefined;
  /** Most tries of a notification that isn't acknowledged, 1 to 3. */
  readonly webhookTries?: number | undefined;
  /** How long a merchant may take to acknowledge a notification, in ms of real time. */
  readonly webhookTimeoutMs?: number | undefined;
  /** How long "at once" takes for direct payments and payouts, in ms of the clock. */
  readonly settleDelayMs?: number | undefined;
  /** Most transactions kept. */
  readonly capacity?: number | undefined;
  /** Outlives the sandbox: what it holds is taken in, and whatever happens is written to it. */
  readonly journal?: Pick<Journal, 'entries' | 'keep' | 'posts' | 'keepPosts'> | undefined;
  readonly log?: Log | undefined;
}

export interface Sandbox {
  readonly app: Express;
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly posts: PostLog;
  /** Listens; port 0 takes any that is free. */
  listen(port: number, host?: string): Promise<{ readonly url: string }>;
  /** Resolves once no notification that was due is still on its way. */
  quiet(): Promise<void>;
  /** Stops listening, timers and notifications; requests under way get a second to end. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 1000;
/** Longer than a client keeps its idle connections, so that none is closed just as it is used again. */
const KEEP_ALIVE_MS = 75_000;

/**
 * The provider, played in full: its endpoints, its checkout page at `/pay/{token}`, its notifications, and under
 * `/_sandbox` what only a sandbox has. All its times but a connection's own follow one clock.
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
  // Ids are never seeded: a seeded sandbox, started again, would give the ids of its first run a second time.
  const onKeep = journal && ((entry: Entry) => journal.keep(entry, clock.now()));
  const ledger = new Ledger({ clock, random: keyedRandom(), capacity, settleDelayMs, onKeep });
  const posts = new PostLog(
    journal?.posts,
    journal && ((count: PostCount) => journal.keepPosts(count, clock.now())),
  );
  const faults = new Faults({ clock, seed: options.seed ?? random.text(16, 'abcdef0123456789', 'faults') });
  const timing = { delayMs: webhookDelayMs, tries: webhookTries, timeoutMs: webhookTimeoutMs };
  const webhooks = new WebhookSender({ clock, ledger, faults, log, ...timing });
  const traffic = new Traffic();
  const ender = new RequestEnder();
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
  const linkTo = (token: string) => `${options.publicUrl?.replace(/\/+$/, '') ?? addressOf()}/pay/${token}`;
  const addressOf = () => urlOf(server.address());

  app.disable('x-powered-by');
  app.disable('etag');
  app.use('/pay/:token', createCheckout({ ledger, merchantName, clock }));
  app.use('/_sandbox', operatorApi({ ledger, faults, posts, traffic, webhooks }));
  const end = ender.end.bind(ender);
  app.use(providerApi({ ledger, clock, random, linkTo, services, faults, posts, traffic, log, end }));
  app.use(() => {
    throw new Refusal(404, 'There is no such endpoint');
  });
  app.use(answerError(log));

  return {
    app,
    ledger,
    faults,
    posts,
    listen: (port, host = '127.0.0.1') =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve({ url: addressOf() });
        });
      }),
    quiet: () => webhooks.quiet(),
    close: async () => {
      ledger.close();
      ender.close();
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([closed, webhooks.close()]);
      clearTimeout(cut);
    },
  };
}

/** The address to reach a server at from its own machine. */
function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') {
    throw new Error('Links need the public address of the sandbox, or the sandbox to be listening');
  }
  const anywhere = address.address === '0.0.0.0' || address.address === '::';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${anywhere ? '127.0.0.1' : host}:${address.port}`;
}

/** What Express and its parsers throw for a bad request: malformed JSON, a body too large, a broken path. */
const clientErrorSchema = z.object({ status: z.int().min(400).max(499), type: z.string().optional() });

const answerError =
  (log: Log): ErrorRequestHandler =>
  (error, _request, response, _next) => {
    const known = clientErrorSchema.safeParse(error);
    if (error instanceof Refusal) {
      response
        .status(error.status)
        .set(error.headers ?? {})
        .json({ message: error.message });
    } else if (known.success) {
      const malformed = known.data.type === 'entity.parse.failed';
      const message = malformed ? 'The body is not valid JSON' : 'The request cannot be read';
      response.status(known.data.status).json({ message });
    } else {
      log('error', { error: error instanceof Error ? error.stack : String(error) });
      response.status(500).json({ message: 'The sandbox has failed' });
    }
  };
