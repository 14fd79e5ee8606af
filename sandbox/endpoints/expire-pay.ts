import { ALREADY_EXPIRED, expirePaySchema } from '../../src/provider/schemas.js';
import { Refusal, readBody, unknownTransaction } from '../answer.js';
import { type Endpoint, ownEntry, type World } from './endpoint.js';

/** `POST /expire-pay`: ends a link that is neither paid nor expired, also while an attempt is PENDING. */
export const expirePay = ({ ledger }: World): Endpoint => ({
  name: 'expire-pay',
  method: 'post',
  path: '/expire-pay',
  answer: ({ service, body, show }) => {
    const { transId } = readBody(expirePaySchema, body);
    if (ownEntry(ledger, service, transId) === undefined) throw unknownTransaction();
    const result = ledger.expire(transId);
    switch (result.kind) {
      case 'expired':
        return { status: 200, body: show(result.entry), entry: result.entry };
      case 'alreadyExpired':
        throw new Refusal(400, ALREADY_EXPIRED);
      case 'alreadyPaid':
        throw new Refusal(400, 'Link already paid');
      case 'notALink':
        throw new Refusal(400, 'Only a payment link can be expired');
      case 'unknown':
        throw unknownTransaction();
    }
  },
});
