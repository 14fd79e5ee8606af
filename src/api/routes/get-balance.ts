import { z } from 'zod';
import type { BalanceAnswer } from '../../payments/outcome.js';
import { ApiError, providerUnavailable } from '../problem.js';
import { keyedRoute } from '../route.js';

const query = z.strictObject({ service: z.enum(['collection', 'payout']) });

export const getBalance = keyedRoute({
  method: 'get',
  path: '/v1/balance',
  summary: 'The balance of one of the two services at the provider',
  scopes: ['balance'],
  query,
  async answer({ query: { service } }, { providers }) {
    const { service: serviceName, balance, currency } = known(await providers[service].balance());
    return { status: 200, json: { object: 'balance', service, serviceName, balance, currency } };
  },
});

function known(answer: BalanceAnswer): Extract<BalanceAnswer, { kind: 'balance' }> {
  switch (answer.kind) {
    case 'balance':
      return answer;
    case 'refused':
    case 'unauthorized':
      throw new ApiError('provider_refused', `The provider refused to tell the balance: ${answer.message}`);
    case 'throttled':
      throw providerUnavailable('throttled', answer.retryAfterMs);
    case 'unavailable':
      throw providerUnavailable(answer.reason);
  }
}
