import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { eraseWhatIsOver } from '../book/erasing.js';
import { MINUTE_MS } from '../payments/words/time.js';
import { repeat } from '../process/repeat.js';

/** Erases payers' data from payments that were under way when it was asked for, until `stop` is aborted. */
export async function runEraser(book: Book, logger: Logger, stop: AbortSignal): Promise<void> {
  const work = async () => {
    const erased = await eraseWhatIsOver(book, book.now(), undefined, (error, paymentId) =>
      logger.error({ err: error, paymentId }, "a payer's data can not be erased from a payment"),
    );
    if (erased.length > 0) logger.info({ payments: erased }, "payers' data was erased, as it was asked for");
  };
  await repeat({ work, everyMs: MINUTE_MS, logger, failure: "payers' data is not erased at the moment" }, stop);
}
