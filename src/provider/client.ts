import { z } from 'zod';
import { MAX_SEARCH_LIMIT } from '../payments/words/limits.js';
import type { Service } from '../payments/words/order.js';
import type {
  BalanceAnswer,
  ExpiryAnswer,
  InitiationOutcome,
  ListAnswer,
  SearchAnswer,
  StatusAnswer,
} from '../payments/words/outcome.js';
import { type CallOptions, LIST, ProviderCalls, type ProviderClientOptions, postOf, SINGLE } from './calls.js';
import {
  interpretBalance,
  interpretExpiry,
  interpretInitiation,
  interpretList,
  interpretSearch,
  interpretStatus,
} from './interpret.js';
import { userIdOf } from './requests.js';
import {
  type DirectPayRequest,
  type InitiatePayRequest,
  initiationSchema,
  linkInitiationSchema,
  type PayoutRequest,
  phoneMediumSchema,
} from './schemas.js';

/**
 * One of the provider's services. Each call resolves to one of its typed outcomes, whatever the provider or the network
 * does; it rejects only when it was called wrongly. While the provider hangs, questions (all but initiatePay,
 * directPay and payout) are `unavailable` at once, and a link is `notSent`: see `Breaker`. What moves money is
 * sent all the same, as long as it leaves some of {@link ProviderClientOptions.orderSlots}; if not, it is `notSent`:
 * see `Bulkhead`.
 */
export interface ProviderClient {
  readonly service: Service;
  /** `POST /initiate-pay`: makes a link to a checkout page. Collections only. Amounts in XAF. */
  initiatePay(request: InitiatePayRequest, call?: CallOptions): Promise<InitiationOutcome>;
  /** `POST /direct-pay`: asks for the money on the payer's phone. Collections only. Amounts in XAF. */
  directPay(request: DirectPayRequest, call?: CallOptions): Promise<InitiationOutcome>;
  /** `POST /payout`: sends money. Payouts only. Amounts in XAF. */
  payout(request: PayoutRequest, call?: CallOptions): Promise<InitiationOutcome>;
  /** `GET /payment-status/{transId}`. The provider answers 6 a minute for one transaction; the caller keeps count. */
  paymentStatus(transId: string, call?: CallOptions): Promise<StatusAnswer>;
  /** `POST /expire-pay`: expires a link before its 24 hours are over. */
  expirePay(transId: string, call?: CallOptions): Promise<ExpiryAnswer>;
  /**
   * `GET /transaction/{userId}`: every transaction that was made for a payment, in any order. Sanaga sends a payment's
   * own id as externalId, so an element that can't be read and names another externalId belongs to another payment, and
   * is left out. Any other that can't be read makes the list unavailable.
   *
   * @param isDirect whether it is a payment straight to a phone, which is listed under a userId of its own
   */
  transactionsOf(paymentId: string, isDirect: boolean, call?: CallOptions): Promise<ListAnswer>;
  /** `GET /search`. Rejects with a ZodError on a query that the provider would silently ignore. */
  search(query: SearchQuery, call?: CallOptions): Promise<SearchAnswer>;
  /** `GET /balance`, in XAF. */
  balance(call?: CallOptions): Promise<BalanceAnswer>;
  /** Ends every connection. Call it when the process stops. */
  close(): void;
}

/**
 * Makes the client of one of the provider's two services.
 *
 * @example
 * const client = createProviderClient({ service: 'payout', url, apiUser, apiKey, timeoutMs: 15_000 });
 * const outcome = await client.payout({ amount: 500, phone, externalId: id });
 *
 * @throws TypeError or RangeError on settings that can't be used
 */
export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const calls = new ProviderCalls(options);
  return {
    service: options.service,
    close: () => calls.close(),
    async initiatePay(request, call) {
      return interpretInitiation(await calls.initiate('initiate-pay', request, call), linkInitiationSchema);
    },
    async directPay(request, call) {
      return interpretInitiation(await calls.initiate('direct-pay', request, call), initiationSchema);
    },
    async payout(request, call) {
      return interpretInitiation(await calls.initiate('payout', request, call), initiationSchema);
    },
    async paymentStatus(transId, call) {
      return interpretStatus(await calls.getById('payment-status', transId, SINGLE, call), transId);
    },
    async expirePay(transId, call) {
      return interpretExpiry(await calls.ask(postOf('expire-pay', { transId }, call)), transId);
    },
    async transactionsOf(paymentId, isDirect, call) {
      const userId = userIdOf(paymentId, isDirect);
      return interpretList(await calls.getById('transaction', userId, LIST, call), paymentId);
    },
    async search(query, call) {
      return interpretSearch(await calls.get(searchPath(query), LIST, call));
    },
    async balance(call) {
      return interpretBalance(await calls.get('balance', SINGLE, call));
    },
  };
}

/** The filters of `GET /search`. The provider's dates are calendar dates; amounts are in XAF. */
const searchQuerySchema = z.strictObject({
  status: z.enum(['created', 'successful', 'failed', 'expired']).optional(),
  medium: phoneMediumSchema.optional(),
  start: z.iso.date().optional(),
  end: z.iso.date().optional(),
  amt: z.int().optional(),
  limit: z.int().min(1).max(MAX_SEARCH_LIMIT).optional(),
  sort: z.enum(['asc', 'desc']).optional(),
});
export type SearchQuery = z.infer<typeof searchQuerySchema>;

/**
 * The path of a search, including its query.
 *
 * @throws ZodError on a wrong value: the provider ignores those, and would list the wrong transactions
 */
export function searchPath(query: SearchQuery): string {
  const parameters = Object.entries(searchQuerySchema.parse(query))
    .filter(([, value]) => value !== undefined)
    // Not URLSearchParams: it encodes a space as `+`, which not every server decodes.
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parameters.length === 0 ? 'search' : `search?${parameters.join('&')}`;
}
