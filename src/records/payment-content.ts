import type { Logger } from 'pino';
import { z } from 'zod';
import { stateSchemas } from '../payments/machine/state-schema.js';
import { toPayment } from '../payments/views/to-payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { rejectionOf } from '../payments/words/payment-state.js';
import type { RecordCipher } from './cipher.js';
import type { Row } from './database.js';
import { inReviewUnlessFinal, type KeptPayment, type PaymentRecord, type RecordContent } from './payment-record.js';
import { contentRow, toRun } from './rows.js';
import { damaged } from './versioned-json.js';

const { state, timeline } = stateSchemas();

/** The shape of {@link KeptPayment}. */
const keptPayment = z.looseObject({
  state,
  timeline: z.optional(timeline),
  requestId: z.string(),
  fingerprint: z.string().optional(),
});

/** The encrypted part of a payment's record. */
export class PaymentContents {
  constructor(
    private readonly cipher: RecordCipher,
    private readonly logger: Logger,
  ) {}

  seal({ state, timeline, requestId, fingerprint }: KeptPayment): Promise<Buffer> {
    return this.cipher.seal({ state, timeline, requestId, fingerprint });
  }

  /** Reads a row of a payment, as {@link open} does. */
  async recordOf(row: Row): Promise<PaymentRecord> {
    const run = toRun(row);
    const { erasedAt, content } = contentRow.parse(row);
    return { ...run, isErased: erasedAt !== undefined, content: await this.open(run.id, run.stopped, content) };
  }

  /**
   * Opens a payment's content; `undefined`, and a log line that says why, when it can't be read: no other record is
   * lost with it.
   *
   * @param stopped as {@link PaymentRun} has it
   */
  async open(id: PaymentId, stopped: boolean, sealed: Buffer | undefined): Promise<RecordContent | undefined> {
    if (sealed === undefined) return undefined;
    try {
      const kept = await this.cipher.open(sealed, keptPayment);
      if (kept.state.order.id !== id) throw damaged("it is another payment's");
      const payment = toPayment(kept.state);
      return {
        ...kept,
        payment: stopped ? inReviewUnlessFinal(payment) : payment,
        rejection: rejectionOf(kept.state),
      };
    } catch (error) {
      this.logger.error({ err: error, paymentId: id }, "a record can't be read");
      return undefined;
    }
  }
}
