import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { PAYMENT_EVENT_TYPES } from '../../src/payments/words/payment.js';
import { paymentEventSchema } from '../../src/schemas/notification.js';
import { type SeededRandom, seededRandom } from '../plan/seeded-random.js';
import type { BookedStatus } from '../world/provider-books.js';

/** A notification, as the API documents it. */
const notificationSchema = paymentEventSchema('payment.succeeded').extend({
  type: z.enum(PAYMENT_EVENT_TYPES),
});
type Documented = z.infer<typeof notificationSchema>;

/** The fields that the lab uses. */
interface NotificationBody extends Pick<Documented, 'type' | 'timestamp'> {
  readonly data: Pick<Documented['data'], 'id' | 'status' | 'final' | 'amount' | 'amountPaid' | 'transId'>;
}

/** One delivery to the merchant, as it came. */
export interface ReceivedNotification {
  readonly webhookId: string;
  /** ms since the epoch. */
  readonly at: number;
  /** `true` when the merchant has acknowledged it, as far as the merchant knows. */
  readonly acknowledged: boolean;
  readonly content: NotificationBody;
  /** The payment's transactions in the provider's ledger at that moment. */
  readonly truth: readonly BookedStatus[];
}

export interface MerchantEndpointOptions {
  readonly seed: string | number;
  readonly secret: string;
  readonly now: () => Promise<number>;
  /** A payment's transactions in the ledger. */
  readonly truthOf: (paymentId: string) => readonly BookedStatus[];
  readonly onNotification: (notification: ReceivedNotification) => void;
  readonly count: (what: MerchantFault) => void;
  /** Draws the fault of the `nth` delivery (from 0) of a notification; by default, some of every kind. */
  readonly faultOf?: ((random: SeededRandom, nth: number) => MerchantFault | undefined) | undefined;
}

export type MerchantFault =
  | 'merchantAway'
  | 'merchant500'
  | 'merchantCut'
  | 'merchantSlow'
  | 'merchantEndless'
  | 'merchantBomb'
  | 'merchantTimeout';

/**
 * Real ms: within the sender's patience, and beyond it. What is too slow never comes, as a busy sender's patience may
 * end late.
 */
const SLOW_MS = 30;
const TOO_SLOW_MS = 700;
/** Duration of an endless answer, longer than any sender waits, and the pause between two pieces of it, in real ms. */
const ENDLESS_MS = 1_500;
const PIECE_MS = 20;
const PIECE = Buffer.alloc(64 * 1024, ' ');
/** 64 MB of nothing, packed small. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });

/** Faults that follow the merchant's acknowledgement. */
const ACKNOWLEDGED: ReadonlySet<MerchantFault> = new Set(['merchantSlow', 'merchantEndless', 'merchantBomb']);

/**
 * The merchant's address for notifications. It checks every signature, records everything, and is as reliable as such
 * addresses are: at times it answers 500 to a notification that it has taken, hangs up, is slow, or isn't there at all.
 */
export class MerchantEndpoint {
  away = false;
  /** Deliveries whose signature or form is wrong. */
  readonly unreadable: string[] = [];
  readonly #verifier: Webhook;
  readonly #deliveries = new Map<string, number>();

  constructor(private readonly options: MerchantEndpointOptions) {
    this.#verifier = new Webhook(options.secret);
  }

  /** Takes one delivery. */
  readonly take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { count, truthOf, onNotification } = this.options;
    if (this.away) {
      count('merchantAway');
      response.destroy();
      return;
    }
    const body = await text(request);
    const at = await this.options.now();
    const webhookId = String(request.headers['webhook-id']);
    const content = this.#read(request, body);
    if (content === undefined) {
      response.writeHead(401).end();
      return;
    }
    const fault = this.#faultOf(webhookId);
    if (fault !== undefined) count(fault);
    const acknowledged = fault === undefined || ACKNOWLEDGED.has(fault);
    onNotification({ webhookId, at, acknowledged, content, truth: truthOf(content.data.id) });
    if (fault === 'merchantCut') response.destroy();
    else if (fault === 'merchant500') response.writeHead(500).end();
    else if (fault === 'merchantSlow') setTimeout(() => response.writeHead(204).end(), SLOW_MS);
    else if (fault === 'merchantTimeout') setTimeout(() => response.destroy(), TOO_SLOW_MS);
    else if (fault === 'merchantEndless') await answerWithoutEnd(response);
    else if (fault === 'merchantBomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB);
    else response.writeHead(204).end();
  };

  #read(request: IncomingMessage, body: string): NotificationBody | undefined {
    const header = (name: string) => String(request.headers[name] ?? '');
    try {
      return notificationSchema.parse(
        this.#verifier.verify(body, {
          'webhook-id': header('webhook-id'),
          'webhook-timestamp': header('webhook-timestamp'),
          'webhook-signature': header('webhook-signature'),
        }),
      );
    } catch (error) {
      this.unreadable.push(`${header('webhook-id')}: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  }

  #faultOf(webhookId: string): MerchantFault | undefined {
    const nth = this.#deliveries.get(webhookId) ?? 0;
    this.#deliveries.set(webhookId, nth + 1);
    const random: SeededRandom = seededRandom(this.options.seed, 'delivery', webhookId, nth);
    return (this.options.faultOf ?? anyFault)(random, nth);
  }
}

function anyFault(random: SeededRandom): MerchantFault | undefined {
  return random.pick<MerchantFault | undefined>('fault', [
    [840, undefined],
    [80, 'merchant500'],
    [30, 'merchantCut'],
    [27, 'merchantSlow'],
    [3, 'merchantTimeout'],
    [10, 'merchantEndless'],
    [10, 'merchantBomb'],
  ]);
}

/**
 * Answers 200 with a body that ends only when the sender hangs up, or at last by itself: the status alone acknowledges
 * the notification.
 */
async function answerWithoutEnd(response: ServerResponse): Promise<void> {
  response.writeHead(200);
  const end = performance.now() + ENDLESS_MS;
  // The sender may have hung up before the answer began: then no event tells of it any more.
  while (!response.destroyed && performance.now() < end) {
    response.write(PIECE);
    await pause(PIECE_MS);
  }
  response.destroy();
}
