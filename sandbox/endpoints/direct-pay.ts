import { directPaySchema } from '../../src/provider/schemas.js';
import { Refusal, readBody } from '../answer.js';
import { readPhone } from '../phone-number.js';
import { outcomeOfNumber } from '../test-outcome.js';
import type { Endpoint, World } from './endpoint.js';

/** `POST /direct-pay`: asks a payer's phone for the money; the number decides what it comes to. */
export const directPay = ({ ledger }: World): Endpoint => ({
  name: 'direct-pay',
  method: 'post',
  path: '/direct-pay',
  only: 'collection',
  answer: ({ service, body, date, listedFrom }) => {
    const { phone: number, name, medium, ...request } = readBody(directPaySchema, body);
    const phone = readPhone(number, medium);
    if (phone.kind === 'unreadable') throw new Refusal(400, phone.message);
    const entry = ledger.openPending(
      {
        ...request,
        service: service.kind,
        serviceName: service.name,
        method: 'direct',
        medium: phone.medium,
        payerName: name,
        webhook: service.webhookUrl,
      },
      outcomeOfNumber(phone.digits),
    );
    entry.listedFrom = listedFrom(entry.createdAt);
    return {
      status: 200,
      entry,
      body: {
        message: 'Payment request sent',
        transId: entry.transId,
        dateInitiated: date(entry.createdAt),
      },
    };
  },
});
