import { patiently } from '../book/database.js';
import { fence } from '../book/fence.js';
import { newNumber } from '../book/rows.js';
import { type Attempt, keepOutcome } from '../book/sends.js';
import { type Turn, takeTurn } from '../book/turn.js';
import type { InitiationOutcome } from '../payments/words/outcome.js';
import type { PaymentState } from '../payments/words/payment-state.js';
import { toInitiatePay } from '../provider/requests.js';
import type { InitiatePayRequest } from '../provider/schemas.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { EngineContext } from './engine-context.js';
import { type Startable, startWorkflow, tryTemporal } from './ring.js';

/*
 * A payment link is asked for by whoever has written its fence: the process that takes the order. It moves no money,
 * and one that nobody was given can't be paid. See docs/decisions/0042-links-made-by-the-api.md.
 */

/** The call that the API makes to the provider to make a link. */
export interface LinkMaker {
  initiatePay(
    request: InitiatePayRequest,
    call: { readonly withinMs: number; readonly signal: AbortSignal },
  ): Promise<InitiationOutcome>;
}

/** Dependencies of making links. */
export interface LinkContext {
  readonly links: LinkMaker;
  /** Traces requests for links; they aren't traced by default. */
  readonly tracing?: Tracing | undefined;
}

/** Share of the time for the response that the provider has to make a link. The rest is for the book and Temporal. */
const LINK_SHARE = 0.8;

/**
 * Makes the link of a payment that nobody has begun, and starts the payment's workflow, which waits for its first poll.
 * Nothing is made when somebody else is at it.
 *
 * @returns the payment with its link, or with the reason why there is none yet
 * @throws {BookUnavailable} the keeper brings the payment on.
 */
export async function makeLink(
  context: EngineContext & LinkContext,
  payment: Startable,
  signal: AbortSignal,
): Promise<PaymentState | undefined> {
  const { book } = context;
  const { id } = payment;
  const begun = await takeTurn(book, id, {}, book.now());
  if (begun === undefined) return undefined;
  context.onTurn?.(begun);
  const { todo, token, attempt: number, after } = begun;
  const { order } = after;
  if (order.kind !== 'link' || todo.kind !== 'send' || token === undefined) {
    await tryTemporal(context, id, () => startWorkflow(context, payment));
    return after;
  }
  const attempt: Attempt = { id, token, attempt: number, hand: newNumber() };
  if ((await fence(book, attempt, {}, book.now())).kind !== 'fenced') return undefined;

  const request = toInitiatePay(order);
  const withinMs = context.answerWithinMs * LINK_SHARE;
  const ask = () => context.links.initiatePay(request, { withinMs, signal });
  const outcome = await (context.tracing?.run(id, 'requestLink', {}, ask, ({ kind }) => kind) ?? ask());
  const turn = await keep(context, attempt, outcome);
  if (turn === undefined) return undefined;
  context.onTurn?.(turn);
  const delayMs = turn.todo.kind === 'wait' && turn.todo.until !== undefined ? turn.todo.until - book.now() : 0;
  await tryTemporal(context, id, () => startWorkflow(context, payment, delayMs));
  return turn.after;
}

/** For how long an outcome is tried to be kept, in ms: a link that isn't in the book is lost. */
const KEEP_WITHIN_MS = 10_000;

/** Keeps what became of the request, and takes the turn after it. What comes next is for the payment's workflow. */
async function keep({ book }: EngineContext, attempt: Attempt, outcome: InitiationOutcome): Promise<Turn | undefined> {
  const { id, token } = attempt;
  return await patiently(async () => {
    await keepOutcome(book, attempt, outcome);
    return await takeTurn(book, id, { done: { kind: 'sent', token }, asksNothing: true }, book.now());
  }, KEEP_WITHIN_MS);
}
