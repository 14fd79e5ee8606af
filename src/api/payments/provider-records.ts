import type { ListAnswer, NoAnswer, StatusAnswer } from '../../payments/outcome.js';
import type { PaymentId } from '../../payments/payment-id.js';

/** What is asked of one of the provider's services on behalf of a person who looks. It changes nothing. */
export interface RecordsReader {
  transactionsOf(paymentId: string, isDirect: boolean): Promise<ListAnswer>;
  paymentStatus(transId: string): Promise<StatusAnswer>;
}

/** An answer, and when the provider was asked, in ms since the epoch. */
export interface Answered<Answer> {
  readonly answer: Answer;
  readonly asOf: number;
}

/** How long a list is reused, in ms. */
const LIST_REUSED_MS = 5_000;

/**
 * How long a status is reused, in ms. The provider answers six questions a minute about one transaction. The payment itself
 * takes three of them, and a person who looks takes one, however often the page is loaded.
 */
const STATUS_REUSED_MS = 60_000;

/** How long a reader waits for the provider, in ms. The answer is kept for the next one all the same. */
const WAIT_MS = 5_000;

/** Answers that are kept. Beyond that, the oldest is forgotten. */
const MAX_KEPT = 1_000;

/**
 * What the provider shows of payments at this moment, for operators. Questions are shared by all who look, and never
 * reach the payment: what is seen here decides nothing.
 */
export class ProviderRecords {
  readonly #lists: SharedAnswers<ListAnswer>;
  readonly #directLists: SharedAnswers<ListAnswer>;
  readonly #statuses: SharedAnswers<StatusAnswer>;

  constructor(reader: RecordsReader, waitMs: number = WAIT_MS) {
    const listed = (isDirect: boolean) =>
      new SharedAnswers((id) => reader.transactionsOf(id, isDirect), LIST_REUSED_MS, waitMs);
    this.#lists = listed(false);
    this.#directLists = listed(true);
    this.#statuses = new SharedAnswers((transId) => reader.paymentStatus(transId), STATUS_REUSED_MS, waitMs);
  }

  /** The provider's list of a payment's transactions. */
  list(id: PaymentId, isDirect: boolean): Promise<Answered<ListAnswer>> {
    return (isDirect ? this.#directLists : this.#lists).get(id);
  }

  /** The status of one transaction, up to a minute old. */
  status(transId: string): Promise<Answered<StatusAnswer>> {
    return this.#statuses.get(transId);
  }
}

type Unavailable = Extract<NoAnswer, { readonly kind: 'unavailable' }>;

interface Shared<Answer> {
  readonly asOf: number;
  readonly answer: Promise<Answer>;
}

class SharedAnswers<Answer> {
  readonly #kept = new Map<string, Shared<Answer>>();

  constructor(
    private readonly ask: (key: string) => Promise<Answer>,
    private readonly reusedMs: number,
    private readonly waitMs: number,
  ) {}

  async get(key: string): Promise<Answered<Answer | Unavailable>> {
    const { asOf, answer } = this.#fresh(key) ?? this.#ask(key);
    return { asOf, answer: await this.#inTime(answer) };
  }

  #fresh(key: string): Shared<Answer> | undefined {
    const kept = this.#kept.get(key);
    return kept !== undefined && Date.now() - kept.asOf < this.reusedMs ? kept : undefined;
  }

  #ask(key: string): Shared<Answer> {
    const shared = { asOf: Date.now(), answer: this.ask(key) };
    // Without this, a failure that nobody waits for any longer would end the process.
    shared.answer.catch(() => undefined);
    this.#kept.delete(key);
    this.#kept.set(key, shared);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return shared;
  }

  async #inTime(answer: Promise<Answer>): Promise<Answer | Unavailable> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Unavailable>((resolve) => {
      const reason = `no answer within ${this.waitMs / 1_000} seconds`;
      timer = setTimeout(() => resolve({ kind: 'unavailable', reason }), this.waitMs);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
