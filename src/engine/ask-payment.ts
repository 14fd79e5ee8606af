import { type AuditedCaller, writeAudit } from '../book/audit.js';
import type { Message } from '../book/content.js';
import { post, replyTo } from '../book/inbox.js';
import { type FoundPayment, findPayment } from '../book/payments.js';
import { takeTurn } from '../book/turn.js';
import type { Refusal, Reply } from '../payments/machine/replies.js';
import { objectionTo } from '../payments/machine/requests.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { EngineContext } from './engine-context.js';
import { PaymentNotFound } from './errors.js';
import { ringWorkflow, tryTemporal } from './ring.js';

/** What merchants and operators ask of a payment. */
export type PaymentRequest = Exclude<Message, { readonly kind: 'hint' | 'looked' }>;

/** What came of a request, and the payment then. */
export type RequestResult = { readonly payment: FoundPayment } & (
  | { readonly kind: 'done' }
  /** The payment had ended before. */
  | { readonly kind: 'ended' }
  /** It was not finished within the time for the response. */
  | { readonly kind: 'underway' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
);

/**
 * Asks something of a payment, and waits for its reply as long as the response to a request may take. What a worker
 * isn't needed for is done at once: the message goes into the book, and the payment's turn is taken here.
 *
 * @param before the payment as it was read
 * @param caller who asks, to be written down; nobody where Sanaga itself asks
 * @throws {BookUnavailable | SealBroken | PaymentNotFound}
 */
export async function askPayment(
  context: EngineContext,
  before: FoundPayment,
  request: PaymentRequest,
  caller: AuditedCaller | undefined,
): Promise<RequestResult> {
  const { book, answerWithinMs, shutdown } = context;
  const { id } = before;
  // A final payment may still be checked for a day, and takes no other request.
  if (before.final && request.kind !== 'recheck') return { kind: 'ended', payment: before };
  const arrivedAt = Date.now();
  const refusal = objectionTo(before.kept.state, { ...request, request: 0 }, book.now());
  if (refusal !== undefined) return { kind: 'refused', refusal, payment: before };

  if (caller !== undefined) {
    await writeAudit(book, { ...caller, did: request.kind, target: id, detail: request }, book.now());
  }
  const number = await post(book, id, request, book.now());
  await takeTurnHere(context, before);
  return await shutdown.commands.within(arrivedAt + answerWithinMs - Date.now(), async (signal) => {
    const find = (payment: FoundPayment) => resultOf(context, payment, number);
    const result = await context.changes.until(id, find, signal);
    return result ?? { kind: 'underway', payment: await mustFind(context, id) };
  });
}

/** Takes a payment's turn, and has its workflow take the next one: it may have something to do, or another time. */
async function takeTurnHere(context: EngineContext, payment: FoundPayment): Promise<void> {
  const turn = await takeTurn(context.book, payment.id, { asksNothing: true }, context.book.now());
  if (turn !== undefined) context.onTurn?.(turn);
  await tryTemporal(context, payment.id, () => ringWorkflow(context, payment));
}

/** The payment was read before its reply: it is read again, so that it isn't older. */
async function resultOf(
  context: EngineContext,
  { id }: FoundPayment,
  number: number,
): Promise<RequestResult | undefined> {
  const reply = await replyTo(context.book, id, number);
  return reply && toResult(reply, await mustFind(context, id));
}

function toResult(reply: Reply, payment: FoundPayment): RequestResult {
  if (reply.kind === 'done') return { kind: 'done', payment };
  const { request: _, kind, ...refusal } = reply;
  return { kind, refusal, payment };
}

async function mustFind({ book }: EngineContext, id: PaymentId): Promise<FoundPayment> {
  const found = await findPayment(book, id);
  if (found === undefined) throw new PaymentNotFound();
  return found;
}
