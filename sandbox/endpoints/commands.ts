import {
  ALREADY_EXPIRED,
  directPaySchema,
  expirePaySchema,
  initiatePaySchema,
  type PayoutRequest,
  payoutSchema,
} from '../../src/provider/schemas.js';
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
  LOW_BALANCE,
  ownEntry,
  readBody,
  type Service,
  unknownTransaction,
} from './endpoint.js';

/** `POST /initiate-pay`: creates a link to the checkout page, payable for 24 hours. */
export const initiatePay = ({ ledger, linkTo }: EndpointContext): Endpoint => ({
  name: 'initiate-pay',
  method: 'post',
  path: '/initiate-pay',
  only: 'collection',
  handle: (request) => {
    const order = readBody(initiatePaySchema, request.body);
    const entry = ledger.openLink({ ...order, ...serviceFields(request.service), method: 'link' });
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
    const draft = { ...order, ...serviceFields(request.service), medium: account.medium, payerName: name };
    const entry = ledger.openPending({ ...draft, method: 'direct' }, account.outcome);
    return initiated(entry, request, { message: 'Payment request sent' });
  },
});

/**
 * `POST /payout`: sends money to a phone, or to a platform account; a phone sent with `platform` is ignored. It is
 * refused when the service holds too little.
 */
export const payout = ({ ledger, random, payoutFunds }: EndpointContext): Endpoint => ({
  name: 'payout',
  method: 'post',
  path: '/payout',
  only: 'payout',
  handle: (request) => {
    const body = readBody(payoutSchema, request.body);
    const { phone: _notStored, name, ...order } = body;
    const account = payoutAccount(body, random, ledger.created);
    if (payoutFunds !== undefined && order.amount > payoutFunds - ledger.paidOut) {
      throw new ApiError(400, LOW_BALANCE);
    }
    const draft = { ...order, ...serviceFields(request.service), medium: account.medium, payerName: name };
    const entry = ledger.openPending({ ...draft, method: 'payout' }, account.outcome);
    return initiated(entry, request, { message: 'Payout initiated' });
  },
});

/** `POST /expire-pay`: expires a link that is neither paid nor expired, even while an attempt is PENDING. */
export const expirePay = ({ ledger }: EndpointContext): Endpoint => ({
  name: 'expire-pay',
  method: 'post',
  path: '/expire-pay',
  handle: ({ service, body, show }) => {
    const { transId } = readBody(expirePaySchema, body);
    const result = ledger.expire(ownEntry(ledger, service, transId).transId);
    switch (result.kind) {
      case 'expired':
        return { status: 200, body: show(result.entry), entry: result.entry };
      case 'alreadyExpired':
        throw new ApiError(400, ALREADY_EXPIRED);
      case 'alreadyPaid':
        throw new ApiError(400, 'Link already paid');
      case 'notALink':
        throw new ApiError(400, 'Only a payment link can be expired');
      case 'unknown':
        throw unknownTransaction();
    }
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

/** The fields of a transaction that come from its service. */
const serviceFields = ({ kind, name, webhookUrl }: Service) => ({
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
  const dateInitiated = date(entry.createdAt);
  return { status: 200, entry, body: { ...body, transId: entry.transId, dateInitiated } };
}
