import { payoutBody, toPayoutOrder } from '../orders/payout-body.js';
import { keyedRoute } from '../route.js';
import { answerBegun } from './answer-begun.js';

export const createPayout = keyedRoute({
  method: 'post',
  path: '/v1/payouts',
  summary: 'Send money to a recipient',
  scopes: ['payouts'],
  body: payoutBody,
  answer: (call, api) => answerBegun('payout', toPayoutOrder, call, api),
});
