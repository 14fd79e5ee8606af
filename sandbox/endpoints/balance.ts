import type { Endpoint, EndpointContext } from './endpoint.js';

const MAX_BALANCE_XAF = 10_000_000;

/** `GET /balance`: a different random balance on each request, as in the provider's own sandbox. */
export const balance = ({ random }: EndpointContext): Endpoint => {
  let requests = 0;
  return {
    name: 'balance',
    method: 'get',
    path: '/balance',
    handle: ({ service }) => ({
      status: 200,
      body: {
        service: service.name,
        balance: Math.floor(random.fraction('balance', service.kind, requests++) * MAX_BALANCE_XAF),
        currency: 'XAF',
      },
    }),
  };
};
