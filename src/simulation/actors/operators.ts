import type { Entry } from '../../sandbox/entry.js';
import type { Ledger } from '../../sandbox/ledger.js';
import type { PaymentRecord } from '../payment-record.js';
import { type Dice, diceOf } from '../plan/dice.js';
import { HOUR } from '../plan/durations.js';
import type { SeenPayment } from './api-client.js';
import type { Cast } from './cast.js';

export type Decision =
  | { readonly action: 'resend' | 'fail' }
  | { readonly action: 'match'; readonly transId: string };

/** ms between two rounds of the operators. */
const ROUND_MS = 3 * HOUR;

/**
 * The operators: every few hours they go through the payments under review and decide each by what the provider's books
 * say, which they know from its support. At times they first make a mistake, which Sanaga has to refuse.
 */
export class Operators {
  readonly #inbox = new Map<string, PaymentRecord>();
  #rounds = 0;

  constructor(
    private readonly cast: Cast,
    private readonly ledger: Pick<Ledger, 'settle'>,
  ) {}

  /** Begins their rounds. */
  begin(): void {
    this.cast.timeline.at(this.cast.now() + ROUND_MS, async () => {
      this.#rounds++;
      for (const record of [...this.#inbox.values()]) await this.#lookAt(record);
      this.begin();
    });
  }

  /** Puts a payment before them. */
  bring(record: PaymentRecord): void {
    this.#inbox.set(record.planned.id, record);
  }

  async #lookAt(record: PaymentRecord): Promise<void> {
    const { cast } = this;
    const { id } = record.planned;
    const { payment } = await cast.api.get('operator', `/v1/payments/${id}`);
    if (payment === undefined) return;
    if (payment.status !== 'REVIEW') {
      this.#inbox.delete(id);
      return;
    }
    record.reviews++;
    const transactions = cast.transactionsOf(record);
    const dice = diceOf(cast.seed, 'review', id, record.reviews);
    const mistake =
      record.reviews <= 2 && dice.chance('mistake', 0.3)
        ? mistaken(dice, transactions, cast.now())
        : undefined;
    if (mistake !== undefined) {
      const taken = await this.#decide(record, payment, mistake);
      cast.tally.add(taken ? 'operator:mistakeTaken' : 'operator:mistakeRefused');
      if (taken) return;
    }
    this.#chase(payment, transactions, dice);
    const decision = rightly(dice, payment, this.cast.transactionsOf(record));
    if (decision !== undefined) await this.#decide(record, payment, decision);
  }

  async #decide(record: PaymentRecord, { review }: SeenPayment, decision: Decision): Promise<boolean> {
    const { cast } = this;
    const why = `round ${this.#rounds}: as the provider's support told us`;
    const { status } = await cast.api.post('operator', `/v1/payments/${record.planned.id}/resolve`, {
      ...decision,
      review: review?.number,
      why,
    });
    cast.tally.add(`operator:${decision.action}:${status}`);
    return status >= 200 && status < 300;
  }

  /** Has the provider decide at last what would stay PENDING for ever. */
  #chase(payment: SeenPayment, transactions: readonly Entry[], dice: Dice): void {
    if (payment.transId === undefined) return;
    for (const entry of transactions) {
      if (entry.status !== 'PENDING' || entry.settlement !== undefined) continue;
      this.ledger.settle(entry, dice.chance('chased', 0.5) ? 'SUCCESSFUL' : 'FAILED');
      this.cast.tally.add('operator:chased');
    }
  }
}

/** What the provider's books call for; nothing when its own transaction is being followed already. */
function rightly(dice: Dice, payment: SeenPayment, transactions: readonly Entry[]): Decision | undefined {
  const entry =
    transactions.find(({ status }) => status === 'SUCCESSFUL') ??
    transactions.find(({ status }) => status === 'PENDING') ??
    transactions.at(-1);
  if (entry === undefined) return { action: dice.chance('resend', 0.3) ? 'resend' : 'fail' };
  return payment.transId === entry.transId ? undefined : { action: 'match', transId: entry.transId };
}

/** A decision that the provider's books contradict, where they show it to whoever asks now. */
function mistaken(dice: Dice, transactions: readonly Entry[], now: number): Decision | undefined {
  const wrongId: Decision = { action: 'match', transId: `T${dice.between('wrong', 1, 1e9)}` };
  const [entry] = transactions;
  if (entry === undefined) return wrongId;
  if (entry.listedFrom > now) return undefined;
  return dice.pick<Decision>('which mistake', [
    [2, { action: 'resend' }],
    [entry.status === 'FAILED' ? 0 : 2, { action: 'fail' }],
    [1, wrongId],
  ]);
}
