import type { Ledger } from '../../sandbox/ledger.js';
import { HOUR_MS, MINUTE_MS } from '../../src/payments/words/time.js';
import { type SeededRandom, seededRandom } from '../plan/seeded-random.js';
import type { SeenPayment } from './api-client.js';
import type { LedgerTransaction, SimulationContext } from './context.js';
import {
  anyDecision,
  isContradicted,
  type OperatorDecision,
  putDecision,
  rightDecision,
  wrongDecision,
} from './decisions.js';
import type { MadeDecision, ObservedPayment } from './observed-payment.js';

/** Time between two rounds of the operators, in ms. */
const ROUND_MS = 3 * HOUR_MS;
/** Refusals of a right decision after which an operator forces it. */
const MAX_REFUSALS = 3;
/** Meddlers act within this time of a review's start, in ms. */
const MEDDLING_MS = 100 * MINUTE_MS;

/**
 * The operators of the simulation: every few hours they go through the payments under review, which they know by
 * notifications, and decide each by the provider's books, which they know from its support. At times they first make a
 * mistake, which Sanaga has to refuse.
 *
 * Beside them there are meddlers, who decide at any moment, on a review that is over, twice at once, by force.
 */
export class Operators {
  readonly #inbox = new Map<string, ObservedPayment>();
  #rounds = 0;

  constructor(
    private readonly context: SimulationContext,
    private readonly ledger: Pick<Ledger, 'settle'>,
  ) {}

  /** Starts their rounds. */
  start(): void {
    this.context.timeline.at(this.context.now() + ROUND_MS, async () => {
      this.#rounds++;
      for (const record of [...this.#inbox.values()]) await this.#review(record);
      this.start();
    });
  }

  /** Adds a payment to those that they go through. */
  bring(record: ObservedPayment): void {
    const { context } = this;
    const { id } = record.planned;
    this.#inbox.set(id, record);
    const nth = record.notifications.length;
    const random = seededRandom(context.seed, 'meddling', id, nth);
    if (!random.chance('now', 0.3)) return;
    const at = context.now() + random.between('when', 0, MEDDLING_MS);
    context.timeline.exactly(at, () => this.meddle(record, `review ${nth}`));
  }

  /** Somebody makes any decision at all. */
  async meddle(record: ObservedPayment, occasion: string): Promise<void> {
    const { context } = this;
    const random = seededRandom(context.seed, 'meddler', record.planned.id, occasion);
    const payment = await this.#see(record);
    if (payment === undefined) return;
    const current = payment.review?.number ?? 1;
    const another = () =>
      random.pick('which', [
        [2, -1],
        [1, 1],
      ]);
    const review = random.chance('another review', 0.2) ? Math.max(1, current + another()) : current;
    const propose = async (label: string): Promise<void> => {
      const decision = anyDecision(random, label, context.transactionsOf(record));
      const forced = random.chance(`${label} forced`, 0.4);
      await this.#decide(record, payment, { decision, review, forced }, 'meddler');
    };
    await Promise.all(random.chance('twice', 0.3) ? [propose('one'), propose('other')] : [propose('one')]);
  }

  /** Somebody has a payment compared with the provider's records. */
  async recheck(record: ObservedPayment): Promise<void> {
    const answer = await this.context.api.post('operator', `/v1/payments/${record.planned.id}/refresh`);
    this.context.actions.add(`operator: refresh ${answer.status}`);
    if (answer.status === 500) record.wrongAnswers.push('a refresh was answered 500');
  }

  async #review(record: ObservedPayment): Promise<void> {
    const { context } = this;
    const { id } = record.planned;
    const payment = await this.#see(record);
    if (payment === undefined) return;
    if (payment.status !== 'REVIEW') {
      this.#inbox.delete(id);
      return;
    }
    record.reviews++;
    const review = payment.review?.number ?? 0;
    const transactions = context.transactionsOf(record);
    const random = seededRandom(context.seed, 'review', id, record.reviews);
    const mistake =
      record.reviews <= 2 && random.chance('mistake', 0.3)
        ? wrongDecision(random, transactions, context.now())
        : undefined;
    if (mistake !== undefined) {
      const proposal = { decision: mistake, review, forced: false };
      const made = await this.#decide(record, payment, proposal, 'mistaken');
      if (made.outcome !== 'refused') return;
    }
    this.#chase(payment, transactions, random);
    const decision = rightDecision(random, payment, context.transactionsOf(record));
    if (decision === undefined) return;
    const refusals = record.decisions.filter(
      (made) => made.review === review && made.action === decision.action && made.outcome === 'refused',
    );
    const forced = refusals.length >= MAX_REFUSALS && decision.action !== 'resend';
    await this.#decide(record, payment, { decision, review, forced }, 'operator');
  }

  async #see(record: ObservedPayment): Promise<SeenPayment | undefined> {
    const { payment } = await this.context.api.get('operator', `/v1/payments/${record.planned.id}`);
    if (payment?.status === 'REVIEW') record.reviewsSeen.push(this.context.now());
    return payment;
  }

  async #decide(
    record: ObservedPayment,
    shown: SeenPayment,
    proposal: { readonly decision: OperatorDecision; readonly review: number; readonly forced: boolean },
    who: string,
  ): Promise<MadeDecision> {
    const { context } = this;
    const transactions = context.transactionsOf(record);
    const isWrong = isContradicted(record.planned.way, proposal.decision, transactions);
    const why = `round ${this.#rounds}: as the provider's support told us`;
    return await putDecision(record, shown, { ...proposal, isWrong, why }, who, context);
  }

  /** Has the provider settle what would stay PENDING for ever. */
  #chase(payment: SeenPayment, transactions: readonly LedgerTransaction[], random: SeededRandom): void {
    if (payment.transId === undefined) return;
    for (const { entry } of transactions) {
      if (entry.status !== 'PENDING' || entry.settlement !== undefined) continue;
      this.ledger.settle(entry, random.chance('chased', 0.5) ? 'SUCCESSFUL' : 'FAILED');
      this.context.actions.add('operator: chased');
    }
  }
}
