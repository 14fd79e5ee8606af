import { nineDigits, readEmail } from '../src/provider/contact.js';
import { providerLimits } from '../src/provider/schemas.js';
import type { Clock } from './clock.js';
import { type Draft, type Entry, isFinal, type Status, type StatusChange } from './entry.js';
import { ALPHANUMERIC, DIGITS, type KeyedRandom } from './keyed-random.js';
import { type PhoneMedium, readPhone } from './phone-number.js';
import { outcomeOfNumber, type TestOutcome } from './test-outcome.js';
import { TransactionStore } from './transaction-store.js';

/** A payer's action at the checkout. Paying takes a phone; declining takes nothing. */
export interface AttemptRequest {
  readonly action: 'pay' | 'decline';
  readonly phone?: string | undefined;
  /** Detected from the number when left out. */
  readonly medium?: PhoneMedium | undefined;
  /** For the receipt; stored only when the merchant gave none. */
  readonly email?: string | undefined;
}

/** Something in the payer's request has to be corrected. */
export interface InvalidAttempt {
  readonly kind: 'invalid';
  readonly field: 'phone' | 'email';
  readonly message: string;
}

/** The result of an attempt. Only `paid`, `declined` and `pending` may have changed anything. */
export type AttemptResult =
  | { readonly kind: 'paid'; readonly entry: Entry }
  /** The attempt failed or the payer declined; the link can be tried again. */
  | { readonly kind: 'declined'; readonly entry: Entry; readonly reason: string }
  /** An attempt is in progress: this one, or an earlier one, in which case this one had no effect. */
  | { readonly kind: 'pending'; readonly entry: Entry }
  /** The link has expired. */
  | { readonly kind: 'tooLate'; readonly entry: Entry }
  /** The link was paid before; this attempt had no effect. */
  | { readonly kind: 'alreadyPaid'; readonly entry: Entry }
  | (InvalidAttempt & { readonly entry: Entry })
  /** No such link. */
  | { readonly kind: 'unknown' };

/** A valid attempt: its outcome, and what it says about the payer. */
type AttemptPlan =
  | {
      readonly kind: 'pay';
      readonly outcome: TestOutcome;
      readonly medium: PhoneMedium;
      readonly phoneEnding: string;
      readonly email?: string | undefined;
    }
  | { readonly kind: 'decline' };

export type ExpireResult =
  | { readonly kind: 'expired' | 'alreadyExpired' | 'alreadyPaid' | 'notALink'; readonly entry: Entry }
  | { readonly kind: 'unknown' };

export interface LedgerOptions {
  readonly clock: Clock;
  readonly random: KeyedRandom;
  /** Maximum number of transactions; those that ended first are evicted first, live ones never. */
  readonly capacity?: number | undefined;
  /** The delay of "at once" for direct payments and payouts, in ms of the clock. */
  readonly settleDelayMs?: number | undefined;
  /** Called with a transaction after each change to it, before any response or notification shows the change. */
  readonly onSave?: ((entry: Entry) => void) | undefined;
}

const REASONS = {
  link: 'The payment was declined',
  direct: 'The payment was declined',
  payout: 'The recipient cannot receive this payout',
} as const;

const DECLINED = 'The payer declined';
const WITHDRAWN = 'The payer withdrew the request';

/**
 * Every transaction, in memory. A link is CREATED, PENDING during an attempt, then SUCCESSFUL or FAILED; after FAILED
 * it can be tried again. It is EXPIRED 24 hours after its creation, even while an attempt is PENDING. Direct payments
 * and payouts start PENDING, end SUCCESSFUL or FAILED, and never expire. SUCCESSFUL and EXPIRED are final.
 */
export class Ledger {
  /** Writes an entry to the journal, if there is one. Call it after changing an entry. */
  readonly save: (entry: Entry) => void;
  readonly #clock: Clock;
  readonly #random: KeyedRandom;
  readonly #settleDelayMs: number;
  readonly #store: TransactionStore;
  readonly #timers = new Map<Entry, () => void>();
  readonly #listeners = new Set<(entry: Entry, change: StatusChange) => void>();
  #created = 0;

  constructor({ clock, random, capacity = 100_000, settleDelayMs = 1000, onSave }: LedgerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.save = onSave ?? (() => undefined);
    this.#store = new TransactionStore(capacity);
    this.#settleDelayMs = settleDelayMs;
  }

  /** The number of transactions ever created, including evicted ones. */
  get created(): number {
    return this.#created;
  }

  /** Adds the transactions of an earlier run, oldest first; changes that have fallen due take effect soon after. */
  restore(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#store.makeRoom();
      this.#store.add(entry);
      if (isFinal(entry)) this.#store.markEnded(entry);
      this.#created = Math.max(this.#created, entry.sequence + 1);
      this.#schedule(entry);
    }
  }

  /** Calls `listener` on each status change after the initial status, in order. */
  onChange(listener: (entry: Entry, change: StatusChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Creates a payment link, payable for strictly less than 24 hours from now. @throws LedgerFullError */
  openLink(draft: Draft & { readonly method: 'link' }): Entry {
    const token = this.#random.text(32, ALPHANUMERIC, 'link', this.#created);
    const entry = this.#create(draft, 'CREATED', token);
    this.#schedule(entry);
    this.save(entry);
    return entry;
  }

  /** Creates a direct payment or a payout, PENDING until it reaches `outcome`. @throws LedgerFullError */
  openPending(draft: Draft & { readonly method: 'direct' | 'payout' }, outcome: TestOutcome): Entry {
    const entry = this.#create(draft, 'PENDING');
    this.#setSettlement(entry, outcome, entry.createdAt, this.#settleDelayMs);
    return entry;
  }

  find(transId: string): Entry | undefined {
    return this.#current(this.#store.byId(transId));
  }

  findByLinkToken(token: string): Entry | undefined {
    return this.#current(this.#store.byToken(token));
  }

  /** Every transaction, oldest first. */
  all(): Entry[] {
    return this.#store.all().map((entry) => this.#settleDue(entry));
  }

  /** The sum that payouts have taken from their service, or still may, in XAF. */
  get paidOut(): number {
    const payouts = this.all().filter(({ method, status }) => method === 'payout' && status !== 'FAILED');
    return payouts.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Every transaction with this userId, oldest first. */
  ofUser(userId: string): Entry[] {
    return this.#store.ofUser(userId).map((entry) => this.#settleDue(entry));
  }

  /** A payer's attempt at a link. Has no effect while an earlier attempt is PENDING. */
  attempt(transId: string, request: AttemptRequest): AttemptResult {
    const at = this.#clock.now();
    const entry = this.#current(this.#store.byId(transId), at);
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
    const phoneEnding = plan.kind === 'pay' ? plan.phoneEnding : undefined;
    entry.attempts.push({ at, action: request.action, ...(phoneEnding && { phoneEnding }) });
    this.#setStatus(entry, 'PENDING', at);
    if (plan.kind === 'decline') this.#setStatus(entry, 'FAILED', at, DECLINED);
    else this.#setSettlement(entry, plan.outcome, at, 0);
    const after = this.#settleDue(entry, at);
    if (after.status === 'SUCCESSFUL') return { kind: 'paid', entry };
    if (after.status === 'PENDING') return { kind: 'pending', entry };
    return { kind: 'declined', entry, reason: after.reason ?? REASONS.link };
  }

  /**
   * Withdraws a payer's attempt at a link while it is PENDING: it is FAILED and can't succeed later. Has no effect on
   * an attempt that has ended.
   *
   * @param number which attempt, counted from 1, so that an old page can't withdraw a newer one
   */
  withdraw(transId: string, number: number): void {
    const at = this.#clock.now();
    const entry = this.#current(this.#store.byId(transId), at);
    const attempt = entry?.attempts.at(-1);
    if (entry?.status !== 'PENDING' || attempt === undefined || entry.attempts.length !== number) return;
    attempt.withdrawn = true;
    this.#setStatus(entry, 'FAILED', at, WITHDRAWN);
  }

  /** Expires a link that is neither paid nor expired. */
  expire(transId: string): ExpireResult {
    const at = this.#clock.now();
    const entry = this.#current(this.#store.byId(transId), at);
    if (entry === undefined) return { kind: 'unknown' };
    if (entry.method !== 'link') return { kind: 'notALink', entry };
    if (entry.status === 'EXPIRED') return { kind: 'alreadyExpired', entry };
    if (entry.status === 'SUCCESSFUL') return { kind: 'alreadyPaid', entry };
    this.#setStatus(entry, 'EXPIRED', at);
    return { kind: 'expired', entry };
  }

  /** Ends a PENDING transaction now. Returns `false` when it isn't PENDING. */
  settle(entry: Entry, status: 'SUCCESSFUL' | 'FAILED', reason?: string): boolean {
    const at = this.#clock.now();
    if (this.#settleDue(entry, at).status !== 'PENDING') return false;
    this.#setStatus(entry, status, at, reason);
    return true;
  }

  /** Stops every timer. */
  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #create(draft: Draft, status: Status, linkToken?: string): Entry {
    this.#store.makeRoom();
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
    this.#store.add(entry);
    return entry;
  }

  #setSettlement(entry: Entry, outcome: TestOutcome, from: number, atOnceMs: number): void {
    if (outcome.kind === 'settles') {
      const afterMs = outcome.after === 'atOnce' ? atOnceMs : outcome.after;
      entry.settlement = { at: from + afterMs, status: outcome.status };
    }
    this.#schedule(entry);
    this.save(entry);
  }

  #current(entry: Entry | undefined, now?: number): Entry | undefined {
    return entry && this.#settleDue(entry, now);
  }

  /**
   * Applies the changes that have fallen due, each at its due time. Every read goes through here: a busy process runs
   * its timers late, and on a fast clock one late ms is hours.
   */
  #settleDue(entry: Entry, now = this.#clock.now()): Entry {
    const { settlement, expiresAt = Number.POSITIVE_INFINITY } = entry;
    if (settlement && settlement.at <= now && settlement.at < expiresAt) {
      this.#setStatus(entry, settlement.status, settlement.at);
    }
    if (expiresAt <= now && !isFinal(entry)) this.#setStatus(entry, 'EXPIRED', expiresAt);
    return entry;
  }

  #setStatus(entry: Entry, status: Status, at: number, reason?: string): void {
    const change = { status, at };
    entry.status = status;
    entry.history.push(change);
    entry.settlement = undefined;
    entry.reason = status === 'FAILED' ? (reason ?? REASONS[entry.method]) : undefined;
    if (status === 'SUCCESSFUL') {
      entry.confirmedAt = at;
      entry.financialTransId = this.#random.text(10, DIGITS, 'financial', entry.sequence);
    }
    if (isFinal(entry)) this.#store.markEnded(entry);
    this.#schedule(entry);
    for (const listener of this.#listeners) listener(entry, change);
    this.save(entry);
  }

  /** Sets the entry's one timer to its next settlement or expiry. */
  #schedule(entry: Entry): void {
    this.#timers.get(entry)?.();
    this.#timers.delete(entry);
    if (isFinal(entry)) return;
    const due = Math.min(entry.settlement?.at ?? Number.POSITIVE_INFINITY, entry.expiresAt ?? Number.POSITIVE_INFINITY);
    if (due === Number.POSITIVE_INFINITY) return;
    const run = () => {
      this.#timers.delete(entry);
      this.#settleDue(entry);
    };
    this.#timers.set(entry, this.#clock.at(due, run));
  }
}

/** Reads a payer's request. Unlike the endpoints, takes a phone number as people write it. */
function planAttempt(request: AttemptRequest): AttemptPlan | InvalidAttempt {
  if (request.action === 'decline') return { kind: 'decline' };
  const phone = readPhone(nineDigits(request.phone ?? '') ?? '', request.medium);
  if (phone.kind === 'invalid') return { kind: 'invalid', field: 'phone', message: phone.message };
  const email = request.email?.trim();
  if (email && readEmail(email) === undefined) {
    return { kind: 'invalid', field: 'email', message: 'email must be an e-mail address' };
  }
  return {
    kind: 'pay',
    outcome: outcomeOfNumber(phone.digits),
    medium: phone.medium,
    phoneEnding: phone.digits.slice(-3),
    ...(email && { email }),
  };
}
