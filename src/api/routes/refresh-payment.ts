import { refreshUpdate } from '../../workflows/messages.js';
import { viewPayment } from '../payment-view.js';
import { ownPayment } from '../payments/own-payment.js';
import { tellPayment } from '../payments/tell-payment.js';
import { keyedRoute } from '../route.js';
import { refusal } from './refusal.js';

export const refreshPayment = keyedRoute({
  method: 'post',
  path: '/v1/payments/:id/refresh',
  summary: 'Ask the provider now, as far as its limit allows',
  scopes: ['read', 'review'],
  async answer(call, api) {
    const found = await ownPayment(api, call);
    const told = await tellPayment(api, found, (handle) =>
      api.updates.send(found.id, 'refresh', (updateId) => handle.executeUpdate(refreshUpdate, { updateId })),
    );
    const json = viewPayment(told.result.payment, api.ui);
    if (told.kind === 'refused') throw refusal(told.why, json, told.words);
    const isUnderway = told.kind === 'underway' && !told.result.payment.final;
    return { status: isUnderway ? 202 : 200, json };
  },
});
