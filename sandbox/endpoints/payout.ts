import { type PayoutRequest, payoutSchema } from '../../src/provider/schemas.js';
import { Refusal, readBody } from '../answer.js';
import type { Medium } from '../entry.js';
import type { KeyedRandom } from '../keyed-random.js';
import { readPhone } from '../phone-number.js';
import { outcomeOfAddress, outcomeOfNumber, type TestOutcome } from '../test-outcome.js';
import type { Endpoint, World } from './endpoint.js';

interface Destination {
  readonly medium: Medium;
  readonly outcome: TestOutcome;
}

/** Where the money goes and what comes of it: by the address for a platform account, by the number otherwise. */
function destination(request: PayoutRequest, random: KeyedRandom, sequence: number): Destination {
  if (request.medium === 'platform') {
    const chance = random.fraction('platform', request.externalId ?? sequence);
    return { medium: 'platform', outcome: outcomeOfAddress(request.email ?? '', chance) };
  }
  const phone = readPhone(request.phone ?? '', request.medium);
  if (phone.kind === 'unreadable') throw new Refusal(400, phone.message);
  return { medium: phone.medium, outcome: outcomeOfNumber(phone.digits) };
}

/** `POST /payout`: sends money to a phone or to a platform account. A phone sent along with `platform` is ignored. */
export const payout = ({ ledger, random }: World): Endpoint => ({
  name: 'payout',
  method: 'post',
  path: '/payout',
  only: 'payout',
  answer: ({ service, body, date, listedFrom }) => {
    const read = readBody(payoutSchema, body);
    const { medium, outcome } = destination(read, random, ledger.created);
    const { phone: _notKept, name, ...request } = read;
    const entry = ledger.openPending(
      {
        ...request,
        service: service.kind,
        serviceName: service.name,
        method: 'payout',
        medium,
        payerName: name,
        webhook: service.webhookUrl,
      },
      outcome,
    );
    entry.listedFrom = listedFrom(entry.createdAt);
    return {
      status: 200,
      entry,
      body: { message: 'Payout initiated', transId: entry.transId, dateInitiated: date(entry.createdAt) },
    };
  },
});
