import { identifierSchema } from '../../src/provider/schemas.js';
import { Refusal } from '../answer.js';
import type { Endpoint, World } from './endpoint.js';

/** `GET /transaction/{userId}`: all of a user's transactions, most recent first (the sandbox's choice), unpaged. */
export const userListing = ({ ledger, clock }: World): Endpoint => ({
  name: 'transaction',
  method: 'get',
  path: '/transaction/:parameter',
  answer: ({ service, parameter, showAll }) => {
    if (!identifierSchema.safeParse(parameter).success) {
      throw new Refusal(400, 'userId: must be 1 to 100 of a-z, A-Z, 0-9, - and _');
    }
    const now = clock.now();
    const shown = ledger
      .ofUser(parameter)
      .filter(({ service: owner, listedFrom }) => owner === service.kind && listedFrom <= now)
      .reverse();
    return { status: 200, body: showAll(shown) };
  },
});
