import type { Payment } from '../../payments/payment.js';
import { recheckUpdate, refreshUpdate } from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { viewPayment } from '../payment-view.js';
import { currentState, type Found } from '../payments/find-payment.js';
import { ownPayment } from '../payments/own-payment.js';
import { updateOrReopen } from '../payments/reopen-payment.js';
import { tellPayment } from '../payments/tell-payment.js';
import { refusalOf } from '../payments/temporal-calls.js';
import { notChecked } from '../problem.js';
import { type Answer, keyedRoute } from '../route.js';
import { refusal } from './refusal.js';

/**
 * Answers with the payment as it stands once the provider has been asked. A final payment is left alone, unless an
 * operator asks: then it is compared with the provider's records anew.
 */
export const refreshPayment = keyedRoute({
  method: 'post',
  path: '/v1/payments/:id/refresh',
  summary: 'Ask the provider now, as far as its limit allows',
  scopes: ['read', 'review'],
  async answer(call, api) {
    const found = await ownPayment(api, call);
    if (!call.caller.scopes.has('review')) return await refresh(api, found);
    const { payment } = await currentState(api, found);
    return payment.final ? await recheck(api, payment) : await refresh(api, found);
  },
});

async function refresh(api: Api, found: Found): Promise<Answer> {
  const told = await tellPayment(api, found, (handle) =>
    api.updates.send(found.id, 'refresh', (updateId) => handle.executeUpdate(refreshUpdate, { updateId })),
  );
  const json = viewPayment(told.result.payment, api.ui);
  if (told.kind === 'refused') throw refusal(told.why, json, told.words);
  const isUnderway = told.kind === 'underway' && !told.result.payment.final;
  return { status: isUnderway ? 202 : 200, json };
}

async function recheck(api: Api, before: Payment): Promise<Answer> {
  const json = viewPayment(before, api.ui);
  try {
    const waited = await updateOrReopen(api, before.id, {
      name: 'recheck',
      reopenable(state) {
        if (state !== undefined) return state;
        throw refusal('resolution_refused', json, 'its workflow was stopped, and checks nothing any more');
      },
      send: (handle, updateId) => handle.executeUpdate(recheckUpdate, { updateId }),
      sendWithStart: (startWorkflowOperation, updateId) =>
        api.client.workflow.executeUpdateWithStart(recheckUpdate, { updateId, startWorkflowOperation }),
    });
    if (waited === undefined) return { status: 202, json };
    return { status: 200, json: viewPayment(waited.value.payment, api.ui) };
  } catch (error) {
    throw refusalOf(error) === 'NotChecked' ? notChecked(json) : error;
  }
}
