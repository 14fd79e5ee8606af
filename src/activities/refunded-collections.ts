import type { Book } from '../book/book.js';
import { post } from '../book/inbox.js';
import { findPayment } from '../book/payments.js';
import { refundedByOthers } from '../book/rows.js';
import { standingOf } from '../payments/machine/refunds.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { RefundedCollections } from './refund-check.js';

/** Reads refunds' collections in the book. What they say counts again at the fence, where it can't change. */
export function refundedCollections(book: Book, ring: (id: PaymentId) => Promise<void>): RefundedCollections {
  return {
    async standingOf({ id, amount, refundOf }) {
      const collection = await findPayment(book, refundOf);
      if (collection === undefined) return { kind: 'doubtful', why: `the collection ${refundOf} isn't known` };
      return standingOf(collection.kept.state, amount, await refundedByOthers(book.query, refundOf, id));
    },
    async doubt(collection, transId) {
      await post(book, collection, { kind: 'hint', transId }, book.now());
      await ring(collection);
    },
  };
}
