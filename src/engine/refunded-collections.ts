import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { type Standing, standingOf, sumOf } from '../payments/machine/refunds.js';
import type { PaymentId, TransId } from '../payments/words/payment-id.js';
import type { Records } from '../records/records.js';
import { Descriptions } from './descriptions.js';
import { findPayment } from './find-payment.js';
import { Links } from './links.js';
import { createNotificationLimits } from './notification-limits.js';
import { deliverHint, type HintContext } from './provider-notifications.js';
import { viewPayment } from './read-payment.js';
import { readRefunds } from './refunds.js';

/** How a worker reaches the collections of the refunds that it sends. */
export interface CollectionsOptions {
  readonly client: Client;
  readonly records?: Records | undefined;
  readonly taskQueue: string;
  readonly logger: Logger;
}

/** A refund that is about to be sent; its amount is in XAF. */
interface Refund {
  readonly id: PaymentId;
  readonly refundOf: PaymentId;
  readonly amount: number;
}

/** Makes what tells, right before a refund is sent, whether its collection still stands. */
export function refundedCollections({ client, ...options }: CollectionsOptions) {
  const context: HintContext = {
    client,
    ...options,
    descriptions: new Descriptions(client),
    limits: createNotificationLimits(),
    madeLinks: new Links(),
  };
  return {
    standingOf: (refund: Refund): Promise<Standing> => readStanding(context, refund),

    /** Has the collection ask the provider: a contradiction brings it to REVIEW. A notification does the same. */
    async doubt(collection: PaymentId, transId: TransId): Promise<void> {
      await deliverHint(context, collection, { transId });
    },
  };
}

/** @throws {Unavailable | RecordsUnavailable | RecordUnreadable} */
async function readStanding(context: HintContext, { id, refundOf, amount }: Refund): Promise<Standing> {
  const found = await findPayment(context, refundOf);
  if (found === undefined) return { kind: 'doubtful', why: `the collection ${refundOf} can't be found` };
  const { state } = await viewPayment(context, found);
  const kept = await readRefunds(context, found, { isIndexAsked: false });
  // Its reservation is gone, and so are those of others: the index is asked, which takes few questions in a second.
  const isKept = kept.counted.some((one) => one.id === id);
  const { counted } = isKept ? kept : await readRefunds(context, found);
  return standingOf(state, amount, sumOf(counted.filter((one) => one.id !== id)));
}
