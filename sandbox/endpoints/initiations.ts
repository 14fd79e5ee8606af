import {
  directPaySchema,
  initiatePaySchema,
  type PayoutRequest,
  payoutSchema,
} from '../../src/provider/wire.js';
import type { Entry, Medium } from '../entry.js';
import type { KeyedRandom } from '../keyed-random.js';
import { type PhoneMedium, readPhone } from '../phone-number.js';
import { outcomeOfAddress, outcomeOfNumber, type TestOutcome } from '../test-outcome.js';
import {
  ApiError,
  type Endpoint,
  type EndpointContext,
  type EndpointRequest,
  type EndpointResponse,
  readBody,
  type Service,
} from './endpoint.js';

/** `POST /initiate-pay`: creates a link to the checkout page, payable for 24 hours. */
export const initiatePay = ({ ledger, linkTo }: EndpointContext): Endpoint => ({
  name: 'initiate-pay',
  method: 'post',
  path: '/initiate-pay',
  only: 'collection',
  handle: (request) => {
    const order = readBody(initiatePaySchema, request.body);
    const entry = ledger.openLink({ ...order, ...draftOf(request.service), method: 'link' });
    const link = linkTo(entry.linkToken ?? '');
    return initiated(entry, request, { message: 'Payment link created', link });
  },
});

/** `POST /direct-pay`: asks for the payment on the payer's phone. The number decides the outcome. */
export const directPay = ({ ledger }: EndpointContext): Endpoint => ({
  name: 'direct-pay',
  method: 'post',
  path: '/direct-pay',
  only: 'collection',
  handle: (request) => {
    const { phone, name, medium, ...order } = readBody(directPaySchema, request.body);
    const account = phoneAccount(phone, medium);
    const entry = ledger.openPending(
      {
        ...order,
        ...draftOf(request.service),
        method: 'direct',
        medium: account.medium,
        payerName: name,
      },
      account.outcome,
    );
    return initiated(entry, request, { message: 'Payment request sent' });
  },
});

/** `POST /payout`: sends money to a phone, or to a platform account; a phone sent with `platform` is ignored. */
export const payout = ({ ledger, random }: EndpointContext): Endpoint => ({
  name: 'payout',
  method: 'post',
  path: '/payout',
  only: 'payout',
  handle: (request) => {
    const body = readBody(payoutSchema, request.body);
    const { phone: _notStored, name, ...order } = body;
    const account = payoutAccount(body, random, ledger.created);
    const entry = ledger.openPending(
      {
        ...order,
        ...draftOf(request.service),
        method: 'payout',
        medium: account.medium,
        payerName: name,
      },
      account.outcome,
    );
    return initiated(entry, request, { message: 'Payout initiated' });
  },
});

/** An account that money comes from or goes to, and the outcome for it. */
interface Account {
  readonly medium: Medium;
  readonly outcome: TestOutcome;
}

/** @throws ApiError 400 when the number is invalid */
function phoneAccount(number: string, medium: PhoneMedium | undefined): Account {
  const phone = readPhone(number, medium);
  if (phone.kind === 'invalid') throw new ApiError(400, phone.message);
  return { medium: phone.medium, outcome: outcomeOfNumber(phone.digits) };
}

function payoutAccount(request: PayoutRequest, random: KeyedRandom, sequence: number): Account {
  if (request.medium !== 'platform') return phoneAccount(request.phone ?? '', request.medium);
  const chance = random.fraction('platform', request.externalId ?? sequence);
  return { medium: 'platform', outcome: outcomeOfAddress(request.email ?? '', chance) };
}

const draftOf = ({ kind, name, webhookUrl }: Service) => ({
  service: kind,
  serviceName: name,
  webhook: webhookUrl,
});

function initiated(
  entry: Entry,
  { date, listedFrom }: EndpointRequest,
  body: { readonly message: string; readonly link?: string },
): EndpointResponse {
  entry.listedFrom = listedFrom(entry.createdAt);
  return {
    status: 200,
    entry,
    body: { ...body, transId: entry.transId, dateInitiated: date(entry.createdAt) },
  };
}
