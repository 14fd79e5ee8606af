import { pick, randomOf } from '../../lab/explore/random.js';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { takeOverdue } from '../../src/book/due.js';
import { BEGINNING, listEvents, placeNotifications, placeOf, readOnAfter } from '../../src/book/feed.js';
import { type Beat, beat, keepBeat } from '../../src/book/gaps.js';
import { post } from '../../src/book/inbox.js';
import { takeTurn } from '../../src/book/turn.js';
import type { Decision } from '../../src/payments/words/decision.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { digestOf } from '../../src/payments/words/order-digest.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { directOrder, MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { WalkingProvider } from './walking-provider.js';
import { type Around, MAX_PER_DAY, WalkingRun } from './walking-run.js';

/** What a backup has. */
const TABLES = ['payments', 'states', 'sends', 'inbox', 'notifications', 'days', 'gaps', 'beats'];

/**
 * A walk at random through what a book, its runs and the provider can do: runs and their twins stop, are lost or
 * repeat themselves at each step, answers are lost, people decide anything, and the book goes back to a backup.
 */
export class Walk implements Around {
  now = Date.UTC(2026, 10, 28, 22, 30);
  readonly provider: WalkingProvider;
  readonly orders = new Map<PaymentId, PaymentOrder>();
  readonly runs: WalkingRun[] = [];
  /** What has happened, for a person who looks for the cause of a failure. */
  readonly log: string[] = [];
  /** Events that the merchant has read in its feed, by their ids. */
  readonly read = new Set<string>();
  #place = BEGINNING;
  /** Ordered, and not in the book any more. */
  #lost: readonly PaymentId[] = [];
  #told: Beat | undefined;
  #hasBackup = false;
  #restores = 0;
  readonly #random: () => number;

  constructor(
    readonly book: Book,
    seed: number,
    private readonly goesBack: boolean,
  ) {
    this.#random = randomOf(seed);
    this.provider = new WalkingProvider(this);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const picked = pick(choices, this.#random);
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }

  say(text: string): void {
    this.log.push(`${new Date(this.now).toISOString()} ${text}`);
  }

  async step(): Promise<void> {
    const move = this.#random();
    const running = this.runs.filter(({ isOver }) => !isOver);
    if (move < 0.06) await this.#order();
    else if (move < 0.7 && running.length > 0) await this.pick(running).step();
    else if (move < 0.8) await this.#ask();
    else if (move < 0.86) await this.pass(this.pick([500, 2_000, 7_000, 30_000, 3 * MINUTE]));
    else if (move < 0.88) await this.pass(20 * MINUTE);
    else if (move < 0.92) await this.#readFeed();
    else if (move < 0.96 && running.length > 0) this.#runAgain(this.pick(running));
    else if (move < 0.968) await this.#backUp();
    else if (move < 0.978) await this.#goBack();
    else this.#ring();
  }

  /** Has what is due done, as the keeper does, until each payment in the book has ended, or waits for a person. */
  async end(): Promise<void> {
    for (let round = 0; round < 300; round++) {
      await this.pass(this.pick([MINUTE, 10 * MINUTE, 90 * MINUTE]));
      await this.#beat();
      for (const id of await takeOverdue(this.book, MINUTE, 1_000, this.now)) await this.#runOf(id).goOn();
      if (round > 30 && (await this.open()).length === 0) break;
    }
    await this.#readFeed();
  }

  /** Payments that neither have ended nor wait for a person. */
  open() {
    return this.book.query("SELECT id FROM payments WHERE NOT final AND status <> 'REVIEW' AND held_for = '{}'");
  }

  #known(): PaymentId[] {
    return [...this.orders.keys()].filter((id) => !this.#lost.includes(id));
  }

  #runOf(id: PaymentId): WalkingRun {
    return this.runs.findLast((run) => run.id === id && !run.isOver) ?? this.#begin(id);
  }

  #begin(id: PaymentId): WalkingRun {
    const run = new WalkingRun(this, id);
    this.runs.push(run);
    return run;
  }

  /** Another run of a payment begins. The one before may go on, as a worker that was only frozen. */
  #runAgain(run: WalkingRun): void {
    if (this.chance(0.5)) run.isOver = true;
    this.#begin(run.id);
  }

  #ring(): void {
    const idle = this.#known().filter((id) => !this.runs.some((run) => run.id === id && !run.isOver));
    if (idle.length > 0) this.#begin(this.pick(idle));
  }

  /** Time passes. Mostly, a worker beats. */
  async pass(ms: number): Promise<void> {
    this.now += ms;
    this.provider.age();
    if (this.chance(0.6)) await this.#beat();
  }

  async #beat(): Promise<void> {
    const counted = await beat(this.book, this.#told, this.now);
    if (counted.hasGoneBack) this.say('the gap is found');
    this.#told = counted;
    await keepBeat(this.book, counted);
  }

  async #order(): Promise<void> {
    const kind = this.pick(['payout', 'payout', 'approval', 'direct', 'refund', 'refund']);
    const id = paymentId(`${kind === 'direct' ? 'col' : 'pay'}_${this.orders.size + 1}`);
    const collections = this.#known().filter((one) => this.orders.get(one)?.kind === 'direct');
    if (kind === 'refund' && collections.length === 0) return;
    const amount = this.pick(kind === 'refund' ? [1_000, 2_000, 4_000] : [5_000, 9_000]);
    const payout = { ...payoutOrder, id, amount };
    const orders: Record<string, () => PaymentOrder> = {
      payout: () => ({ ...payout, ...(this.chance(0.3) && { sendAt: this.now + 3 * 60 * MINUTE }) }),
      approval: () => ({ ...payout, approval: true, orderedBy: 'Ada' }),
      direct: () => ({ ...directOrder, id }),
      refund: () => ({ ...payout, refundOf: this.pick(collections) }),
    };
    const order = orders[kind]?.();
    if (order !== undefined) await this.#claim(order);
  }

  async #claim(order: PaymentOrder): Promise<void> {
    const { id, kind, amount } = order;
    const ambiguousPolicy = this.chance(0.2) ? 'resend' : 'review';
    const request = { merchant: 'shop', fingerprint: 'body', requestId: 'request', maxPerDay: MAX_PER_DAY };
    const claimed = await claim(this.book, { order, terms: { ...terms, ambiguousPolicy }, ...request }, this.now);
    this.say(`${id} is ordered: ${kind} of ${amount}: ${claimed.kind}`);
    if (claimed.kind !== 'claimed') return;
    this.orders.set(id, order);
    this.#lost = this.#lost.filter((one) => one !== id);
    // The API may die before it starts the workflow.
    if (this.chance(0.9)) this.#begin(id);
  }

  /** Somebody asks something of a payment, or the provider tells something of it. */
  async #ask(): Promise<void> {
    const known = this.#known();
    if (known.length === 0) return;
    const id = this.pick(known);
    const kind = this.pick(['expire', 'approve', 'rejectPayout', 'refresh', 'decide', 'recheck', 'hint'] as const);
    this.say(`${id} is asked to ${kind}`);
    const order = this.orders.get(id);
    switch (kind) {
      case 'expire':
      case 'refresh':
        await post(this.book, id, { kind }, this.now);
        break;
      case 'recheck': {
        const [row] = await this.book.query('SELECT final FROM payments WHERE id = $1', [id]);
        if (row?.final === true) await post(this.book, id, { kind }, this.now);
        break;
      }
      case 'approve':
        if (order?.kind !== 'payout') return;
        await post(this.book, id, { kind, by: this.pick(['Ben', 'Ada']), digest: digestOf(order) }, this.now);
        break;
      case 'rejectPayout':
        await post(this.book, id, { kind, by: 'Ben', why: 'no' }, this.now);
        break;
      case 'hint': {
        const [one] = this.provider.all(id);
        if (one === undefined) return;
        const status = this.pick(['SUCCESSFUL', 'FAILED', 'PENDING'] as const);
        await post(this.book, id, { kind, transId: one.transId, status }, this.now);
        break;
      }
      case 'decide':
        await this.#decide(id);
    }
    if (this.chance(0.7)) await takeTurn(this.book, id, { asksNothing: true }, this.now);
  }

  /** An operator decides at random; once the book has gone back, not to send again what the book has forgotten. */
  async #decide(id: PaymentId): Promise<void> {
    const turn = await takeTurn(this.book, id, { asksNothing: true }, this.now);
    if (turn?.after.phase.kind !== 'review') return;
    const [one] = this.provider.all(id);
    const decisions: readonly Decision[] = [
      { action: 'fail' },
      ...(this.#restores === 0 ? [{ action: 'resend' } as const] : []),
      ...(one === undefined ? [] : [{ action: 'match', transId: one.transId } as const]),
    ];
    const decision = this.pick(decisions);
    const resolution = { review: turn.after.phase.number, decision, by: 'Op', why: 'seen', force: false } as const;
    await post(this.book, id, { kind: 'decide', resolution }, this.now);
  }

  async #backUp(): Promise<void> {
    if (!this.goesBack) return;
    for (const table of TABLES) {
      await this.book.query(`DROP TABLE IF EXISTS was_${table}`);
      await this.book.query(`CREATE TABLE was_${table} AS SELECT * FROM ${table}`);
    }
    this.#hasBackup = true;
    this.say('the book is backed up');
  }

  /** The book is restored from its backup. Merchants repeat most requests that it has lost. */
  async #goBack(): Promise<void> {
    if (!this.#hasBackup) return;
    await this.book.query(`TRUNCATE ${TABLES.join(', ')}, erasures CASCADE`);
    for (const table of TABLES) {
      await this.book.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM was_${table}`);
    }
    this.#restores++;
    this.now += 2 * MINUTE;
    this.say('the book goes back');
    const there = (await this.book.query('SELECT id FROM payments')).map(({ id }) => id);
    this.#lost = [...this.orders.keys()].filter((id) => !there.includes(id));
    for (const id of this.#lost) {
      const order = this.orders.get(id);
      const isRefund = order?.kind === 'payout' && order.refundOf !== undefined;
      if (order !== undefined && !isRefund && this.chance(0.6)) await this.#claim(order);
    }
  }

  /** The merchant reads on in its feed, from where it has been. */
  async #readFeed(): Promise<void> {
    await placeNotifications(this.book);
    const after = await readOnAfter(this.book, this.#place);
    for (const event of await listEvents(this.book, { after }, 1_000)) {
      this.read.add(event.id);
      this.#place = placeOf(event);
    }
  }
}
