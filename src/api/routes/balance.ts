import { z } from 'zod';
import { shareAnswers } from '../../engine/shared-answers.js';
import { SERVICES } from '../../payments/words/order.js';
import type { BalanceAnswer } from '../../payments/words/outcome.js';
import { isoTime } from '../../payments/words/time.js';
import { balanceSchema } from '../../schemas/provider.js';
import { ApiError, providerUnavailable } from '../api-error.js';
import type { BalanceReader, KnownBalance, SharedBalance } from '../context.js';
import { authenticatedRoute } from '../route.js';

export const getBalance = authenticatedRoute({
  method: 'get',
  path: '/v1/balance',
  summary: 'The balance of a service at the provider',
  operationId: 'getBalance',
  tag: 'Balance',
  responses: { 200: { description: 'The balance, up to three seconds old.', schema: balanceSchema } },
  problems: ['provider_refused', 'provider_unavailable'],
  scopes: ['balance', 'review', 'approve'],
  query: z.strictObject({ service: z.enum(SERVICES) }),
  async handle({ query: { service } }, { providers }) {
    const { answer, asOf } = await providers[service].balance();
    const { service: serviceName, balance, currency } = requireBalance(answer);
    return {
      status: 200,
      json: {
        object: 'balance' as const,
        service,
        serviceName,
        balance,
        currency,
        asOf: isoTime(asOf),
      },
    };
  },
});

function requireBalance(answer: BalanceAnswer): Extract<BalanceAnswer, { kind: 'balance' }> {
  switch (answer.kind) {
    case 'balance':
      return answer;
    case 'refused':
    case 'unauthorized':
      throw new ApiError('provider_refused', `The provider refused the request for the balance: ${answer.message}`);
    case 'throttled':
      throw providerUnavailable('throttled', answer.retryAfterMs);
    case 'unavailable':
      throw providerUnavailable(answer.reason);
  }
}

/** A balance is reused for this long, in ms. It changes with each payment, but no decision depends on it. */
const REUSED_MS = 3_000;

/**
 * Makes one call for the balance at a time, shared by all requests of all merchants, and reuses its answer for
 * {@link REUSED_MS}.
 */
export function sharedBalance(reader: BalanceReader): SharedBalance {
  const balance = async (): Promise<KnownBalance> => {
    const asOf = Date.now();
    return { answer: await reader.balance(), asOf };
  };
  return { balance: shareAnswers(balance, REUSED_MS) };
}
