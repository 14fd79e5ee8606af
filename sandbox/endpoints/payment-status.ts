import { unknownTransaction } from '../answer.js';
import { takeStatusCall } from '../status-limit.js';
import { type Endpoint, ownEntry, type World } from './endpoint.js';

/** `GET /payment-status/{transId}`: the transaction, at most 6 times a minute. */
export const paymentStatus = ({ ledger, clock }: World): Endpoint => ({
  name: 'payment-status',
  method: 'get',
  path: '/payment-status/:parameter',
  answer: ({ service, parameter, show }) => {
    const entry = ownEntry(ledger, service, parameter);
    if (entry === undefined) throw unknownTransaction();
    takeStatusCall(entry, clock);
    return { status: 200, body: show(entry), entry };
  },
});
