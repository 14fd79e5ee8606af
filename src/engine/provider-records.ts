import type { PaymentId } from '../payments/words/payment-id.js';
import { lookUpdate, type ProviderView } from '../workflows/messages.js';
import { updateOrReopen } from './reopen-payment.js';
import type { UpdateContext } from './update-payment.js';

/** A look is shared with later readers for this long, in ms. */
const REUSED_MS = 5_000;

/** Time that a reader waits for the provider, in ms. */
const WAIT_MS = 5_000;

/** Largest number of looks remembered. Beyond it, the oldest is forgotten. */
const MAX_KEPT = 1_000;

/**
 * The provider's current records of payments, for operators. The payment's workflow asks, so that it counts each
 * question, whichever process it comes from; one that has ended is reopened for it. Operators who look within five
 * seconds share an answer, which saves events and limits nothing.
 */
export class ProviderRecords {
  readonly #kept = new Map<PaymentId, { readonly at: number; readonly view: Promise<ProviderView | undefined> }>();

  /**
   * @returns `undefined` when the payment didn't answer within the time
   * @throws {EngineError | Stopped} as {@link updateOrReopen} does.
   */
  look(context: UpdateContext, id: PaymentId): Promise<ProviderView | undefined> {
    const kept = this.#kept.get(id);
    if (kept !== undefined && Date.now() - kept.at < REUSED_MS) return kept.view;
    const view = look(context, id);
    // The next reader tries a failed look again.
    const forget = () => this.#kept.get(id)?.view === view && this.#kept.delete(id);
    view.then((seen) => seen ?? forget(), forget);
    this.#kept.delete(id);
    this.#kept.set(id, { at: Date.now(), view });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return view;
  }
}

async function look(context: UpdateContext, id: PaymentId): Promise<ProviderView | undefined> {
  const answerWithinMs = Math.min(context.answerWithinMs, WAIT_MS);
  const answer = await updateOrReopen<ProviderView>({ ...context, answerWithinMs }, id, {
    name: 'look',
    send: (handle, updateId) => handle.executeUpdate(lookUpdate, { updateId }),
    sendWithStart: (startWorkflowOperation, updateId) =>
      context.client.workflow.executeUpdateWithStart(lookUpdate, { updateId, startWorkflowOperation }),
  });
  return answer?.value;
}
