import { beforeAll, expect, it, jest } from '@jest/globals';
import { stillBeginning } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { ORDER_SLOTS, payout, useStack } from '../support/payment-stack.js';

const stack = useStack({ providerTimeoutMs: 3_000 });
const direct = { method: 'direct', amount: 500, phone: '670000000' };
/** Number of requests that a hanging service is sent at a time. */
const MAX = 7;

/** Results of the tries to send payouts. */
const tries: { readonly id: string | undefined; readonly kind: string }[] = [];
let underWay = 0;

beforeAll(() => {
  const { payout: service } = stack.providers;
  const send = service.payout;
  jest.spyOn(service, 'payout').mockImplementation(async (...given) => {
    underWay += 1;
    const outcome = await send(...given);
    underWay -= 1;
    tries.push({ id: given[0].externalId, kind: outcome.kind });
    return outcome;
  });
});
const count = (kind: string) => tries.filter((one) => one.kind === kind).length;
const wasSent = (id: string) => tries.some((one) => one.id === id && one.kind !== 'notSent');

/** Orders payouts, which are answered once the provider has, or later. @returns their ids */
async function pay(times: number): Promise<readonly string[]> {
  const made = await Promise.all(Array.from({ length: times }, () => stack.post('/v1/payouts', payout)));
  return made.map((answer) => (answer.status === 201 ? answer.body.id : stillBeginning(answer)));
}

it('payouts that hang leave some of what the worker can send to collections, and each is sent once', async () => {
  stack.sandbox.faults.add({ fault: 'timeoutBeforeCommit', endpoint: 'payout', rate: 1 });
  const until = (holds: () => boolean) => eventually(async () => ({ tries, underWay }), holds);
  const first = pay(ORDER_SLOTS);
  await until(() => count('ambiguous') === ORDER_SLOTS);

  const later = pay(2 * ORDER_SLOTS);
  await until(() => underWay === MAX && count('notSent') >= ORDER_SLOTS);
  await stack.begun('/v1/collections', direct);
  expect(underWay).toBeLessThanOrEqual(MAX);

  stack.sandbox.faults.clear();
  const held = await later;
  await until(() => held.every(wasSent));
  for (const id of [...(await first), ...held]) {
    expect(tries.filter((one) => one.id === id && one.kind !== 'notSent')).toHaveLength(1);
    expect(stack.transactionsOf(id).length).toBeLessThanOrEqual(1);
  }
});
