import { providerLimits } from '../src/provider/schemas.js';
import { type AttemptRequest, type AttemptResult, planAttempt } from './attempt.js';
import type { Clock } from './clock.js';
import { type Draft, type Entry, isFinal, type Status, type StatusChange } from './entry.js';
import { ALPHANUMERIC, DIGITS, type KeyedRandom } from './keyed-random.js';
import { Shelf } from './shelf.js';
import type { TestOutcome } from './test-outcome.js';

export type { AttemptRequest, AttemptResult } from './attempt.js';
export type { Entry, StatusChange } from './entry.js';
export { LedgerFullError } from './shelf.js';

export type ExpireResult =
  | { readonly kind: 'expired' | 'alreadyExpired' | 'alreadyPaid' | 'notALink'; readonly entry: Entry }
  | { readonly kind: 'unknown' };

export interface LedgerOptions {
  readonly clock: Clock;
  readonly random: KeyedRandom;
  /** Most transactions kept; the ones that ended first leave first, live ones never. */
  readonly capacity?: number | undefined;
  /** How long "at once" takes for direct payments and payouts, in ms of the clock. */
  readonly settleDelayMs?: number | undefined;
  /** Called with a transaction after each change to it, before anybody is told of it. */
  readonly onKeep?: ((entry: Entry) => void) | undefined;
}

const REASONS = {
  link: 'The payment was declined',
  direct: 'The payment was declined',
  payout: 'The recipient cannot receive this payout',
} as const;

const DECLINED = 'The payer declined';

/**
 * The truth about every transaction, in memory. A link is CREATED, PENDING during an attempt, then SUCCESSFUL or
 * FAILED, and FAILED can be tried again; it is EXPIRED 24 hours after its creation, also when an attempt is then
 * still PENDING. Direct payments and payouts are PENDING at once, then SUCCESSFUL or FAILED, and never expire.
 * Nothing comes after SUCCESSFUL or EXPIRED.
 */
export class Ledger {
  /** To be called by whoever has recorded something with an entry. */
  readonly keep: (entry: Entry) => void;
  readonly #clock: Clock;
  readonly #random: KeyedRandom;
  readonly #settleDelayMs: number;
  readonly #shelf: Shelf;
  readonly #wakes = new Map<Entry, () => void>();
  readonly #listeners = new Set<(entry: Entry, change: StatusChange) => void>();
  #created = 0;

  constructor({ clock, random, capacity = 100_000, settleDelayMs = 1000, onKeep }: LedgerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.keep = onKeep ?? (() => undefined);
    this.#shelf = new Shelf(capacity);
    this.#settleDelayMs = settleDelayMs;
  }

  /** How many transactions were ever created, those that have left included. */
  get created(): number {
    return this.#created;
  }

  /** Takes in the transactions of an earlier run, oldest first; what has fallen due meanwhile comes true soon. */
  restore(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#shelf.makeRoom();
      this.#shelf.put(entry);
      if (isFinal(entry)) this.#shelf.markEnded(entry);
      this.#created = Math.max(this.#created, entry.sequence + 1);
      this.#arm(entry);
    }
  }

  /** Calls `listener` at each status change after the first status, in order. */
  onChange(listener: (entry: Entry, change: StatusChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Opens a payment link, payable strictly before 24 hours from now. @throws LedgerFullError */
  openLink(draft: Draft & { readonly method: 'link' }): Entry {
    const token = this.#random.text(32, ALPHANUMERIC, 'link', this.#created);
    const entry = this.#open(draft, 'CREATED', token);
    this.#arm(entry);
    this.keep(entry);
    return entry;
  }

  /** Opens a direct payment or a payout, PENDING until it comes to `outcome`. @throws LedgerFullError */
  openPending(draft: Draft & { readonly method: 'direct' | 'payout' }, outcome: TestOutcome): Entry {
    const entry = this.#open(draft, 'PENDING');
    this.#plan(entry, outcome, entry.createdAt, this.#settleDelayMs);
    return entry;
  }

  find(transId: string): Entry | undefined {
    return this.#current(this.#shelf.byId(transId));
  }

  findByLinkToken(token: string): Entry | undefined {
    return this.#current(this.#shelf.byToken(token));
  }

  /** Every transaction, oldest first. */
  all(): Entry[] {
    return this.#shelf.all().map((entry) => this.#catchUp(entry));
  }

  /** Every transaction with this userId, oldest first. */
  ofUser(userId: string): Entry[] {
    return this.#shelf.ofUser(userId).map((entry) => this.#catchUp(entry));
  }

  /** A payer's go at a link. A payer that comes while an attempt is PENDING changes nothing. */
  attempt(transId: string, request: AttemptRequest): AttemptResult {
    const at = this.#clock.now();
    const entry = this.#current(this.#shelf.byId(transId), at);
    if (entry === undefined || entry.method !== 'link') return { kind: 'unknown' };
    if (entry.status === 'SUCCESSFUL') return { kind: 'alreadyPaid', entry };
    if (entry.status === 'EXPIRED') return { kind: 'tooLate', entry };
    if (entry.status === 'PENDING') return { kind: 'pending', entry };
    const plan = planAttempt(request);
    if (plan.kind === 'invalid') return { ...plan, entry };

    if (plan.kind === 'pay') {
      entry.medium = plan.medium;
      entry.email ??= plan.email;
    }
    entry.attempts.push({ at, action: request.action });
    this.#move(entry, 'PENDING', at);
    if (plan.kind === 'decline') this.#move(entry, 'FAILED', at, DECLINED);
    else this.#plan(entry, plan.outcome, at, 0);
    const after = this.#catchUp(entry, at);
    if (after.status === 'SUCCESSFUL') return { kind: 'paid', entry };
    if (after.status === 'PENDING') return { kind: 'pending', entry };
    return { kind: 'declined', entry, reason: after.reason ?? REASONS.link };
  }

  /** Expires a link now. Only a link can be expired, once, and not when it is paid. */
  expire(transId: string): ExpireResult {
    const at = this.#clock.now();
    const entry = this.#current(this.#shelf.byId(transId), at);
    if (entry === undefined) return { kind: 'unknown' };
    if (entry.method !== 'link') return { kind: 'notALink', entry };
    if (entry.status === 'EXPIRED') return { kind: 'alreadyExpired', entry };
    if (entry.status === 'SUCCESSFUL') return { kind: 'alreadyPaid', entry };
    this.#move(entry, 'EXPIRED', at);
    return { kind: 'expired', entry };
  }

  /** Brings a PENDING transaction to its outcome now; `false` when it isn't PENDING. */
  settle(entry: Entry, status: 'SUCCESSFUL' | 'FAILED', reason?: string): boolean {
    const at = this.#clock.now();
    if (this.#catchUp(entry, at).status !== 'PENDING') return false;
    this.#move(entry, status, at, reason);
    return true;
  }

  /** Stops every timer; nothing changes by itself from then on. */
  close(): void {
    for (const cancel of this.#wakes.values()) cancel();
    this.#wakes.clear();
  }

  #open(draft: Draft, status: Status, linkToken?: string): Entry {
    this.#shelf.makeRoom();
    const createdAt = this.#clock.now();
    const sequence = this.#created++;
    const entry: Entry = {
      ...draft,
      sequence,
      transId: this.#random.text(16, ALPHANUMERIC, 'transaction', sequence),
      createdAt,
      ...(linkToken && { linkToken, expiresAt: createdAt + providerLimits.linkLifetimeMs }),
      listedFrom: createdAt,
      status,
      history: [{ status, at: createdAt }],
      attempts: [],
      statusCalls: { answered: 0, throttled: 0, recent: [] },
      notifications: [],
      faults: new Map(),
    };
    this.#shelf.put(entry);
    return entry;
  }

  #plan(entry: Entry, outcome: TestOutcome, from: number, atOnceMs: number): void {
    if (outcome.kind === 'settles') {
      const afterMs = outcome.after === 'atOnce' ? atOnceMs : outcome.after;
      entry.settlement = { at: from + afterMs, status: outcome.status };
    }
    this.#arm(entry);
    this.keep(entry);
  }

  #current(entry: Entry | undefined, now?: number): Entry | undefined {
    return entry && this.#catchUp(entry, now);
  }

  /**
   * Makes what has fallen due come true, at the time it fell due. Whoever reads an entry comes through here, since a
   * busy process runs its timers late, and a fast clock makes hours of a late ms.
   */
  #catchUp(entry: Entry, now = this.#clock.now()): Entry {
    const { settlement, expiresAt = Number.POSITIVE_INFINITY } = entry;
    if (settlement && settlement.at <= now && settlement.at < expiresAt) {
      this.#move(entry, settlement.status, settlement.at);
    }
    if (expiresAt <= now && !isFinal(entry)) this.#move(entry, 'EXPIRED', expiresAt);
    return entry;
  }

  #move(entry: Entry, status: Status, at: number, reason?: string): void {
    const change = { status, at };
    entry.status = status;
    entry.history.push(change);
    entry.settlement = undefined;
    entry.reason = status === 'FAILED' ? (reason ?? REASONS[entry.method]) : undefined;
    if (status === 'SUCCESSFUL') {
      entry.confirmedAt = at;
      entry.financialTransId = this.#random.text(10, DIGITS, 'financial', entry.sequence);
    }
    if (isFinal(entry)) this.#shelf.markEnded(entry);
    this.#arm(entry);
    for (const listener of this.#listeners) listener(entry, change);
    this.keep(entry);
  }

  /** Keeps one timer for an entry, for the next thing that is to happen to it by itself. */
  #arm(entry: Entry): void {
    this.#wakes.get(entry)?.();
    this.#wakes.delete(entry);
    if (isFinal(entry)) return;
    const due = Math.min(
      entry.settlement?.at ?? Number.POSITIVE_INFINITY,
      entry.expiresAt ?? Number.POSITIVE_INFINITY,
    );
    if (due === Number.POSITIVE_INFINITY) return;
    const wake = () => {
      this.#wakes.delete(entry);
      this.#catchUp(entry);
    };
    this.#wakes.set(entry, this.#clock.at(due, wake));
  }
}
