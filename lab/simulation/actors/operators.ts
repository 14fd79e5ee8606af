import type { Ledger } from '../../../sandbox/ledger.js';
import type { MadeDecision, PaymentRecord } from '../payment-record.js';
import { type Dice, diceOf } from '../plan/dice.js';
import { HOUR, MINUTE } from '../plan/durations.js';
import type { ApiAnswer, SeenPayment } from './api-client.js';
import type { BookedEntry, Cast } from './cast.js';
import type { Decision } from './decide.js';
import { isContradicted, rightly, wrongly } from './decide.js';

/** ms between two rounds of the operators. */
const ROUND_MS = 3 * HOUR;
/** Refusals of a right decision after which an operator insists on it. */
const PATIENCE = 3;
/** ms after a review's beginning within which somebody may meddle with it. */
const MEDDLING_MS = 100 * MINUTE;
/** ms by which a decision may come late. */
const LATE_MS = MINUTE;

/** What is put to the API. */
interface Proposal {
  readonly decision: Decision;
  readonly review: number;
  readonly forced: boolean;
}

/**
 * The operators: every few hours they go through the payments under review and decide each by what the provider's books
 * say, which they know from its support. At times they first make a mistake, which Sanaga has to refuse.
 *
 * Beside them there are those who meddle: at any moment, on a review that is over, twice at once, by force.
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
    const { cast } = this;
    const { id } = record.planned;
    this.#inbox.set(id, record);
    const nth = record.notices.length;
    const dice = diceOf(cast.seed, 'meddling', id, nth);
    if (!dice.chance('now', 0.3)) return;
    const at = cast.now() + dice.between('when', 0, MEDDLING_MS);
    cast.timeline.exactly(at, () => this.meddle(record, `review ${nth}`));
  }

  /** Somebody decides whatever comes to mind. */
  async meddle(record: PaymentRecord, occasion: string): Promise<void> {
    const { cast } = this;
    const dice = diceOf(cast.seed, 'meddler', record.planned.id, occasion);
    const payment = await this.#see(record);
    if (payment === undefined) return;
    const current = payment.review?.number ?? 1;
    const review = dice.chance('another review', 0.2)
      ? Math.max(
          1,
          current +
            dice.pick('which', [
              [2, -1],
              [1, 1],
            ]),
        )
      : current;
    const propose = (label: string): Promise<unknown> => {
      const decision = anyDecision(dice, label, cast.transactionsOf(record));
      const forced = dice.chance(`${label} forced`, 0.4);
      return this.#decide(record, payment, { decision, review, forced }, 'meddler');
    };
    await Promise.all(dice.chance('twice', 0.3) ? [propose('one'), propose('other')] : [propose('one')]);
  }

  /** Somebody doubts a payment, and has it compared with the provider's records. */
  async recheck(record: PaymentRecord): Promise<void> {
    const answer = await this.cast.api.post('operator', `/v1/payments/${record.planned.id}/refresh`);
    this.cast.tally.add(`operator:refresh:${answer.status}`);
    if (answer.status === 500) record.wrongAnswers.push('a refresh was answered 500');
  }

  async #lookAt(record: PaymentRecord): Promise<void> {
    const { cast } = this;
    const { id } = record.planned;
    const payment = await this.#see(record);
    if (payment === undefined) return;
    if (payment.status !== 'REVIEW' || record.terminated) {
      this.#inbox.delete(id);
      return;
    }
    record.reviews++;
    const review = payment.review?.number ?? 0;
    const transactions = cast.transactionsOf(record);
    const dice = diceOf(cast.seed, 'review', id, record.reviews);
    const mistake =
      record.reviews <= 2 && dice.chance('mistake', 0.3)
        ? wrongly(dice, transactions, cast.now())
        : undefined;
    if (mistake !== undefined) {
      const proposal = { decision: mistake, review, forced: false };
      const made = await this.#decide(record, payment, proposal, 'mistaken');
      if (made.outcome !== 'refused') return;
    }
    this.#chase(payment, transactions, dice);
    const decision = rightly(dice, payment, cast.transactionsOf(record));
    if (decision === undefined) return;
    const refusals = record.decisions.filter(
      (made) => made.review === review && made.action === decision.action && made.outcome === 'refused',
    );
    const forced = refusals.length >= PATIENCE && decision.action !== 'resend';
    await this.#decide(record, payment, { decision, review, forced }, 'operator');
  }

  async #see(record: PaymentRecord): Promise<SeenPayment | undefined> {
    const { payment } = await this.cast.api.get('operator', `/v1/payments/${record.planned.id}`);
    if (payment?.status === 'REVIEW') record.reviewsSeen.push(this.cast.now());
    return payment;
  }

  async #decide(
    record: PaymentRecord,
    shown: SeenPayment,
    { decision, review, forced }: Proposal,
    who: string,
  ): Promise<MadeDecision> {
    const { cast } = this;
    const at = cast.now();
    const isWrong = isContradicted(record.planned.way, decision, cast.transactionsOf(record));
    const why = `round ${this.#rounds}: as the provider's support told us`;
    const body = { ...decision, review, why, ...(forced && { force: true }) };
    const answer = await cast.api.post('operator', `/v1/payments/${record.planned.id}/resolve`, body);
    const outcome = outcomeOf(answer);
    const made: MadeDecision = { at, action: decision.action, review, forced, outcome, isWrong };
    record.decisions.push(made);
    const objection = outcome === 'done' ? objectionTo(made, shown) : undefined;
    if (objection !== undefined) record.wrongAnswers.push(objection);
    if (answer.status === 500) record.wrongAnswers.push('a decision was answered 500');
    const manner = [...(forced ? ['forced'] : []), ...(isWrong ? ['wrong'] : [])].join(' ');
    cast.tally.add(`${who}:${manner}${manner && ' '}${decision.action}:${answer.status}`);
    return made;
  }

  /** Has the provider decide at last what would stay PENDING for ever. */
  #chase(payment: SeenPayment, transactions: readonly BookedEntry[], dice: Dice): void {
    if (payment.transId === undefined) return;
    for (const { entry } of transactions) {
      if (entry.status !== 'PENDING' || entry.settlement !== undefined) continue;
      this.ledger.settle(entry, dice.chance('chased', 0.5) ? 'SUCCESSFUL' : 'FAILED');
      this.cast.tally.add('operator:chased');
    }
  }
}

function outcomeOf({ status }: ApiAnswer): MadeDecision['outcome'] {
  if (status === 200) return 'done';
  return status === 202 || status === 0 || status >= 500 ? 'open' : 'refused';
}

/** Why a decision should have been refused, given the payment as it was shown right before. */
function objectionTo({ at, action, review, forced }: MadeDecision, shown: SeenPayment): string | undefined {
  const number = shown.review?.number;
  if (number !== undefined && review < number) return `review ${review} was decided, which was over`;
  const from = Date.parse(shown.review?.decideFrom ?? '');
  return action !== 'match' && !forced && at + LATE_MS < from
    ? `${action} was taken before its time`
    : undefined;
}

function anyDecision(dice: Dice, label: string, transactions: readonly BookedEntry[]): Decision {
  const nth = dice.between(`${label} which transaction`, 0, transactions.length);
  const transId = transactions[nth]?.transId ?? `T${dice.between(`${label} wrong`, 1, 1e9)}`;
  return dice.pick<Decision>(`${label} decision`, [
    [3, { action: 'resend' }],
    [3, { action: 'fail' }],
    [3, { action: 'match', transId }],
  ]);
}
