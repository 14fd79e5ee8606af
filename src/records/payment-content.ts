import type { Logger } from 'pino';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { RecordCipher } from './cipher.js';
import type { RecordContent } from './payment-record.js';

/** The encrypted part of a payment's record. */
export class PaymentContents {
  constructor(
    private readonly cipher: RecordCipher,
    private readonly logger: Logger,
  ) {}

  seal(content: RecordContent): Promise<Buffer> {
    return this.cipher.encrypt(JSON.stringify(content));
  }

  /** Opens a payment's content; `undefined`, and a log line that says why, when it can't be read. */
  async open(id: PaymentId, sealed: Buffer | undefined): Promise<RecordContent | undefined> {
    if (sealed === undefined) return undefined;
    try {
      const content = JSON.parse(await this.cipher.decrypt(sealed)) as RecordContent;
      if (content.payment.id !== id) throw new Error("it is another payment's");
      return content;
    } catch (error) {
      this.logger.error({ err: error, paymentId: id }, "a record can't be read");
      return undefined;
    }
  }
}
