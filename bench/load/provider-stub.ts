import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { credentialHeaders, expirePaySchema, initiatePaySchema, providerLimits } from '../../src/provider/schemas.js';
import { type Incoming, post, type Serving, serve } from './http.js';
import type { Payer } from './messages.js';

export interface ProviderCredentials {
  readonly user: string;
  readonly key: string;
}

/** A transaction as the stub keeps it. */
interface Booked {
  readonly transId: string;
  readonly externalId: string;
  readonly amount: number;
  readonly initiatedOn: string;
  readonly payer: Payer;
  paid: boolean;
  expired: boolean;
  /** Times at which the status was asked for, in ms of `performance.now()`, as those below. */
  readonly statusAsked: number[];
  /** Time when the notification was first sent. */
  notifiedAt: number | undefined;
  /** Time when the status was first answered with SUCCESSFUL. */
  confirmedAt: number | undefined;
}

/** The stub's record of one payment. */
export interface ProviderRecord {
  /** Links that were made for it. */
  readonly links: number;
  /** Links that were paid: more than one would mean paying twice. */
  readonly paid: number;
  /** Time when its notification was first sent, in ms of `performance.now()`. */
  readonly notifiedAt: number | undefined;
  /** Time when its status was first answered with SUCCESSFUL, in ms of `performance.now()`. */
  readonly confirmedAt: number | undefined;
}

/** The payer, once given the link, takes from 30 to 50 ms. */
const PAYER_MS = { min: 30, spread: 21 } as const;
/** A notification that isn't acknowledged is sent again, this many times in all at most. */
const MAX_TRIES = 5;
const RETRY_MS = 500;

/**
 * The provider as far as a paid link needs it: `initiate-pay`, `payment-status` with its limit, `expire-pay`, and the
 * notification. It answers at once, so that only the system in front of it is measured.
 */
export class ProviderStub {
  /** Receive the notifications, in turn. */
  webhookUrls: readonly string[] = [];
  /** Behaviour of the payers of transactions made from now on. */
  payer: Payer = 'pays';
  /** Requests that were wrong, and notifications that were never taken. */
  readonly complaints: string[] = [];
  /** Notifications that had to be sent again. */
  resent = 0;
  readonly #byId = new Map<string, Booked>();
  readonly #byPayment = new Map<string, Booked[]>();
  /** By transId, those whose payer waits, the oldest first. They are kept until they are paid. */
  readonly #waiting = new Map<string, Booked>();
  /** Payments whose payer is to be given the link as soon as it is made. */
  readonly #given = new Set<string>();
  #next = 0;
  #turn = 0;

  constructor(private readonly credentials: ProviderCredentials) {}

  listen(): Promise<Serving> {
    return serve((request) => this.#answer(request));
  }

  /** @param payment the payment's id, which is the transaction's externalId */
  recordOf(payment: string): ProviderRecord {
    const booked = this.#byPayment.get(payment) ?? [];
    const paid = booked.filter((one) => one.paid);
    const [first] = paid;
    return {
      links: booked.length,
      paid: paid.length,
      notifiedAt: first?.notifiedAt,
      confirmedAt: first?.confirmedAt,
    };
  }

  /**
   * Gives the payer a payment's link. When a POST was refused and sent again, a link may have been made for the first
   * one: nobody is given that.
   *
   * @param payment the payment's id, which is the transaction's externalId
   * @param link without it, because the system has answered without: the newest, or the next one if none is made yet
   */
  give(payment: string, link?: string): void {
    const made = this.#byPayment.get(payment) ?? [];
    const given = link === undefined ? made.at(-1) : made.find(({ transId }) => linkOf(transId) === link);
    if (given !== undefined) this.#visit(given);
    else if (link === undefined) this.#given.add(payment);
    else this.complaints.push(`${payment} was answered with a link that isn't its own: ${link}`);
  }

  /** Number of transactions that wait for their payer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Has the transaction paid that has waited for longest. @returns its payment; `undefined` when none waits */
  payOldest(): string | undefined {
    const [oldest] = this.#waiting.values();
    if (oldest === undefined) return undefined;
    this.#waiting.delete(oldest.transId);
    this.#byId.set(oldest.transId, oldest);
    this.#byPayment.set(oldest.externalId, [oldest]);
    void this.#pay(oldest);
    return oldest.externalId;
  }

  /** Forgets everything, but for the transactions that wait for their payer. */
  clear(): void {
    this.#byId.clear();
    this.#byPayment.clear();
    this.#given.clear();
    this.complaints.length = 0;
    this.resent = 0;
  }

  #answer({ method, path, headers, body }: Incoming) {
    const { user, key } = this.credentials;
    if (headers[credentialHeaders.user] !== user || headers[credentialHeaders.key] !== key) {
      return this.#refuse(401, 'Invalid credentials');
    }
    if (method === 'POST' && path === '/initiate-pay') return this.#initiate(body);
    if (method === 'POST' && path === '/expire-pay') return this.#expire(body);
    const [, transId = ''] = /^\/payment-status\/([\w-]+)$/.exec(path) ?? [];
    const booked = this.#bookedAs(transId);
    if (method === 'GET' && booked !== undefined) return this.#status(booked);
    return this.#refuse(404, `Nothing is at ${method} ${path}`);
  }

  #initiate(body: string) {
    const order = initiatePaySchema.safeParse(parse(body));
    if (!order.success) return this.#refuse(400, order.error.message);
    const { amount, externalId } = order.data;
    if (externalId === undefined) return this.#refuse(400, 'The benchmark needs the payment as externalId');
    const transId = randomBytes(6).toString('hex');
    const initiatedOn = new Date().toISOString().slice(0, 10);
    const booked: Booked = {
      ...{ transId, externalId, amount, initiatedOn, payer: this.payer },
      ...{ paid: false, expired: false, statusAsked: [], notifiedAt: undefined, confirmedAt: undefined },
    };
    this.#byId.set(transId, booked);
    this.#byPayment.set(externalId, [...(this.#byPayment.get(externalId) ?? []), booked]);
    if (this.#given.delete(externalId)) this.#visit(booked);
    const link = linkOf(transId);
    return { status: 200, json: { message: 'Link created', link, transId, dateInitiated: initiatedOn } };
  }

  #bookedAs(transId: string): Booked | undefined {
    return this.#byId.get(transId) ?? this.#waiting.get(transId);
  }

  #expire(body: string) {
    const { data } = expirePaySchema.safeParse(parse(body));
    const booked = this.#bookedAs(data?.transId ?? '');
    if (booked === undefined || booked.paid) return this.#refuse(400, 'Only an unpaid link can be expired');
    booked.expired = true;
    return { status: 200, json: toTransaction(booked) };
  }

  #status(booked: Booked) {
    const now = performance.now();
    const recent = booked.statusAsked.filter((at) => at > now - providerLimits.statusWindowMs);
    if (recent.length >= providerLimits.statusCallsPerWindow) return this.#refuse(429, 'Too many requests');
    booked.statusAsked.push(now);
    if (booked.paid) booked.confirmedAt ??= now;
    return { status: 200, json: toTransaction(booked) };
  }

  #visit(booked: Booked): void {
    if (booked.payer === 'waits') {
      this.#waiting.set(booked.transId, booked);
      return;
    }
    this.#next = (this.#next + 8) % PAYER_MS.spread;
    setTimeout(() => void this.#pay(booked), PAYER_MS.min + this.#next).unref();
  }

  async #pay(booked: Booked): Promise<void> {
    if (booked.expired) {
      this.complaints.push(`the payer of ${booked.externalId} was given a link that is expired`);
      return;
    }
    booked.paid = true;
    booked.notifiedAt = performance.now();
    let reply: unknown;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      if (tries > 1) {
        this.resent++;
        await pause(RETRY_MS, undefined, { ref: false });
      }
      reply = await post(this.#webhookUrl(), toTransaction(booked)).catch((error: unknown) => error);
      if (isTaken(reply)) return;
    }
    const how = reply instanceof Error ? reply.message : JSON.stringify(reply);
    this.complaints.push(`the notification of ${booked.externalId} was never taken: ${how}`);
  }

  #webhookUrl(): string {
    return this.webhookUrls[this.#turn++ % this.webhookUrls.length] ?? '';
  }

  #refuse(status: number, message: string) {
    this.complaints.push(`the provider answered ${status}: ${message}`);
    return { status, json: { message } };
  }
}

/** Amount that a disputing payer pays too little, in XAF. */
const MISSING = 100;

function linkOf(transId: string): string {
  return `https://pay.example/${transId}`;
}

function toTransaction({ transId, externalId, amount: ordered, initiatedOn, paid, expired, payer }: Booked) {
  const amount = paid && payer === 'disputes' ? ordered - MISSING : ordered;
  return {
    ...{ transId, externalId, amount, transType: 'Collection', dateInitiated: initiatedOn },
    ...(paid
      ? {
          status: 'SUCCESSFUL',
          medium: 'mobile money',
          revenue: amount - Math.ceil(amount * 0.03),
          financialTransId: `f${transId}`,
          dateConfirmed: initiatedOn,
        }
      : { status: expired ? 'EXPIRED' : 'CREATED' }),
  };
}

function isTaken(reply: unknown): boolean {
  return typeof reply === 'object' && reply !== null && 'status' in reply && reply.status === 200;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
