import { initiatePaySchema } from '../../src/provider/schemas.js';
import { Refusal, readBody } from '../answer.js';
import type { Endpoint, World } from './endpoint.js';

/** A payer's browser is sent to this address: nothing but the web's own schemes will do. */
const WEB_ADDRESS = /^https?:\/\//i;

/** `POST /initiate-pay`: creates a link to the checkout page, payable for 24 hours. */
export const initiatePay = ({ ledger, linkTo }: World): Endpoint => ({
  name: 'initiate-pay',
  method: 'post',
  path: '/initiate-pay',
  only: 'collection',
  answer: ({ service, body, date, listedFrom }) => {
    const request = readBody(initiatePaySchema, body);
    if (request.redirectUrl !== undefined && !WEB_ADDRESS.test(request.redirectUrl)) {
      throw new Refusal(400, 'redirectUrl: must be an http or https address');
    }
    const entry = ledger.openLink({
      ...request,
      service: service.kind,
      serviceName: service.name,
      method: 'link',
      webhook: service.webhookUrl,
    });
    entry.listedFrom = listedFrom(entry.createdAt);
    return {
      status: 200,
      entry,
      body: {
        message: 'Payment link created',
        link: linkTo(entry.linkToken ?? ''),
        transId: entry.transId,
        dateInitiated: date(entry.createdAt),
      },
    };
  },
});
