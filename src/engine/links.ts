import { type Beginning, beginPayment, type LinkRequest } from '../payments/machine/beginning.js';
import { step } from '../payments/machine/machine.js';
import type { LinkOrder, PaymentTerms } from '../payments/words/order.js';
import type { ExpiryAnswer, InitiationOutcome } from '../payments/words/outcome.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { HOUR_MS } from '../payments/words/time.js';
import { toInitiatePay } from '../provider/requests.js';
import type { InitiatePayRequest } from '../provider/schemas.js';

/*
 * A payment link is asked for by the API itself, and its payment begins with the provider's answer. A link moves no
 * money, and one that nobody was given can't be paid: nothing is lost if this process ends between the two. What moves
 * money is only ever sent by an activity. See docs/decisions/0042-links-made-by-the-api.md.
 *
 * This module knows neither Temporal nor HTTP, so that every interleaving of two processes can be explored
 * (lab/explore/beginnings.ts).
 */

/** The calls that the API makes to the provider to change something. */
export interface LinkMaker {
  initiatePay(
    request: InitiatePayRequest,
    call: { readonly withinMs: number; readonly signal: AbortSignal },
  ): Promise<InitiationOutcome>;
  expirePay(transId: string): Promise<ExpiryAnswer>;
}

/** A requested link, and the payment's state with the answer. */
export interface RequestedLink extends Beginning {
  readonly request: LinkRequest;
  /** Time until the payment has something to do, in ms; `undefined` when it has something to do now. */
  readonly idleMs: number | undefined;
}

/**
 * Asks the provider for a link, once. The payment machine interprets its answer.
 *
 * @param withinMs how long the provider may take. Beyond that it hangs, as its breaker counts, which a signal doesn't
 *   say.
 */
export async function requestLink(
  links: LinkMaker,
  order: LinkOrder,
  terms: PaymentTerms,
  withinMs: number,
  signal: AbortSignal,
): Promise<RequestedLink> {
  const sentAt = Date.now();
  const outcome = await links.initiatePay(toInitiatePay(order), { withinMs, signal });
  const answeredAt = Date.now();
  return requestedLink(order, terms, { outcome, sentAt, answeredAt });
}

/**
 * Makes the payment's state from the answer to the request for its link, for a workflow that is started with it at
 * once.
 */
export function requestedLink(order: LinkOrder, terms: PaymentTerms, request: LinkRequest): RequestedLink {
  const { outcome, answeredAt } = request;
  const beginning = beginPayment(order, terms, answeredAt, request);
  const { todo } = step(beginning.payment, { kind: 'begin' }, answeredAt);
  const isIdle = outcome.kind === 'accepted' && todo.kind === 'wait' && todo.until !== undefined;
  return { ...beginning, request, idleMs: isIdle ? todo.until - answeredAt : undefined };
}

/** Dependencies of making one payment's link. */
export interface LinkOperations<Made, Found> {
  /** No other request can have the payment's id. */
  readonly isUnique: boolean;
  /** Finds the payment in the records or Temporal. */
  find(): Promise<Found | undefined>;
  /** Asks the provider for a link. */
  ask(): Promise<Made>;
  /** Reports whether the answer has a link. The payment's workflow handles any other. */
  isLink(made: Made): boolean;
  /**
   * Starts the payment with its link.
   *
   * @returns false when its id was started before
   * @throws when it isn't known whether it was started, or it can't be
   */
  start(made: Made): Promise<boolean>;
  /** Reports whether a failed start may have succeeded, or may succeed later. */
  mayHaveStarted(error: unknown): boolean;
  /** Finds the payment whose id was started before. @throws when it isn't known */
  findStarted(): Promise<Found>;
  /** Reports whether a payment was started with this link. */
  isStartedWith(found: Found, made: Made): boolean;
  /** Expires a link that nobody was given. If that fails, it expires by itself within a day. */
  expire(made: Made): void;
  /** @returns false when the process is to stop */
  pause(ms: number): Promise<boolean>;
}

/** Holder of the link that a request asks for. */
export type Opened<Made, Found> =
  | { readonly kind: 'found'; readonly found: Found }
  /** `isNew` if this very request has asked for it. */
  | { readonly kind: 'started'; readonly made: Made; readonly isNew: boolean }
  /** The answer has no link, and no payment was started yet. */
  | { readonly kind: 'noLink'; readonly made: Made };

interface KeptLink<Made> {
  readonly made: Made;
  readonly at: number;
  /** Its payment was started, so somebody may have been given it. */
  isStarted: boolean;
  /** A failed start may have succeeded: another process may have given somebody the link. */
  isUncertain: boolean;
  /** A hint for it has arrived. */
  hasHint: boolean;
}

/** Time for which a link is remembered, in ms. Most are paid within minutes. */
const REMEMBERED_MS = HOUR_MS;

/**
 * Largest number of links remembered, each with its payment's initial state, some kB. Beyond it, the oldest is
 * forgotten.
 */
const MAX_REMEMBERED = 5_000;

/**
 * Pauses between tries to start a payment whose start has failed, in ms: the first, doubled each time, and the longest.
 */
const START_AGAIN_MS = { first: 1_000, max: 30_000 } as const;

/** After this many, some ten minutes, the link is expired. */
const MAX_STARTS = 24;

/**
 * The links that this process has made. Requests for one payment take turns, so that only the first asks for a link.
 * Its answer is remembered with the payment's initial state. When the payment's start has failed or Temporal has lost
 * it, it can be started again with the same link: by a repeated request, by the provider's notification, or, until
 * Temporal is known to have it, by this process itself.
 */
export class Links<Made> {
  readonly #turns = new Map<PaymentId, Promise<unknown>>();
  readonly #kept = new Map<PaymentId, KeptLink<Made>>();

  /**
   * Finds the payment, or starts it with a link: one that this process made before, or a new one. A request that finds
   * it started with another link expires its own.
   *
   * @throws what an operation throws. The payment may have started then, and is started later if it can be.
   */
  async open<Found>(id: PaymentId, operations: LinkOperations<Made, Found>): Promise<Opened<Made, Found>> {
    return await this.#inTurn(id, async () => {
      const found = operations.isUnique ? undefined : await operations.find();
      if (found !== undefined) return { kind: 'found', found };
      const before = this.#find(id);
      const made = before?.made ?? (await operations.ask());
      if (!operations.isLink(made)) return { kind: 'noLink', made };
      const kept = before ?? this.#keep(id, made);
      try {
        const other = await this.#start(id, kept, operations);
        if (other !== undefined) return { kind: 'found', found: other };
        return { kind: 'started', made, isNew: before === undefined };
      } catch (error) {
        if (operations.mayHaveStarted(error)) kept.isUncertain = true;
        if (before === undefined) void this.#startLater(id, kept, operations, error);
        throw error;
      }
    });
  }

  /** Resolves when no request in this process waits for the payment's link, whatever its result. */
  async untilOpened(id: PaymentId): Promise<void> {
    await this.#turns.get(id)?.catch(() => undefined);
  }

  /** Returns the link that this process made within the last hour. */
  find(id: PaymentId): Made | undefined {
    return this.#find(id)?.made;
  }

  /**
   * Returns the link as {@link find} does, for the first hint alone: after that, the payment has begun, and may even
   * have ended.
   */
  takeForFirstHint(id: PaymentId): Made | undefined {
    const kept = this.#find(id);
    if (kept === undefined || kept.hasHint) return undefined;
    kept.hasHint = true;
    return kept.made;
  }

  /** Starts the payment. @returns the one that another request has started */
  async #start<Found>(
    id: PaymentId,
    kept: KeptLink<Made>,
    operations: LinkOperations<Made, Found>,
  ): Promise<Found | undefined> {
    const isFirst = await operations.start(kept.made);
    const found = isFirst ? undefined : await operations.findStarted();
    if (found === undefined || operations.isStartedWith(found, kept.made)) {
      kept.isStarted = true;
    } else {
      this.#forget(id, kept);
      // A link that somebody was given may be paid at this moment.
      if (!kept.isStarted && !kept.isUncertain) operations.expire(kept.made);
    }
    return found;
  }

  /** Tries to start a payment whose start has failed until that can't help any more, and then expires its link. */
  async #startLater<Found>(
    id: PaymentId,
    kept: KeptLink<Made>,
    operations: LinkOperations<Made, Found>,
    failure: unknown,
  ): Promise<void> {
    let error = failure;
    for (let tries = 0; tries < MAX_STARTS && operations.mayHaveStarted(error); tries++) {
      if (!(await operations.pause(Math.min(START_AGAIN_MS.first * 2 ** tries, START_AGAIN_MS.max)))) break;
      try {
        await this.#inTurn(id, () => this.#start(id, kept, operations));
        return;
      } catch (again) {
        error = again;
      }
    }
    if (kept.isStarted) return;
    this.#forget(id, kept);
    // When nobody can tell, the payment counts as started.
    const isThere = await operations.find().then(
      (found) => found !== undefined,
      () => true,
    );
    if (!isThere) operations.expire(kept.made);
  }

  #forget(id: PaymentId, kept: KeptLink<Made>): void {
    if (this.#kept.get(id) === kept) this.#kept.delete(id);
  }

  async #inTurn<T>(id: PaymentId, task: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id);
    const turn = before === undefined ? task() : before.then(task, task);
    this.#turns.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }

  #keep(id: PaymentId, made: Made): KeptLink<Made> {
    const kept = { made, at: Date.now(), isStarted: false, isUncertain: false, hasHint: false };
    this.#kept.set(id, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_REMEMBERED && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }

  #find(id: PaymentId): KeptLink<Made> | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined || Date.now() - kept.at < REMEMBERED_MS) return kept;
    this.#kept.delete(id);
    return undefined;
  }
}
