import type { Endpoint, World } from './endpoint.js';

/** The largest balance that the sandbox makes up, in XAF. */
const LARGEST_BALANCE = 10_000_000;

/** `GET /balance`: another random balance at each request, as the provider's sandbox does. */
export const balance = ({ random }: World): Endpoint => {
  let asked = 0;
  return {
    name: 'balance',
    method: 'get',
    path: '/balance',
    answer: ({ service }) => ({
      status: 200,
      body: {
        service: service.name,
        balance: Math.floor(random.fraction('balance', service.kind, asked++) * LARGEST_BALANCE),
        currency: 'XAF',
      },
    }),
  };
};
