import { beforeAll, expect, it, jest } from '@jest/globals';
import { eventually, ORDER_SLOTS, payout, useStack } from '../support/payment-stack.js';

const stack = useStack({ providerTimeoutMs: 3_000 });
const direct = { method: 'direct', amount: 500, phone: '670000000' };

/** What has come of the payouts that the worker wanted to send. */
const outcomes: string[] = [];
let underWay = 0;

beforeAll(() => {
  const { payout: service } = stack.providers;
  const send = service.payout;
  jest.spyOn(service, 'payout').mockImplementation(async (...given) => {
    underWay += 1;
    const outcome = await send(...given);
    underWay -= 1;
    outcomes.push(outcome.kind);
    return outcome;
  });
});
const count = (kind: string) => outcomes.filter((outcome) => outcome === kind).length;
const pay = (times: number) =>
  Promise.all(Array.from({ length: times }, () => stack.post('/v1/payouts', payout)));

it('payouts that hang leave half of what the worker can send to collections, and none is lost', async () => {
  stack.sandbox.faults.add({ fault: 'timeoutBeforeCommit', endpoint: 'payout', rate: 1 });
  await pay(ORDER_SLOTS);
  const until = (holds: () => boolean) => eventually(async () => ({ outcomes, underWay }), holds);
  await until(() => count('ambiguous') === ORDER_SLOTS);

  const later = await pay(2 * ORDER_SLOTS);
  await until(() => underWay === ORDER_SLOTS / 2 && count('notSent') >= ORDER_SLOTS);
  await stack.begun('/v1/collections', direct);
  expect(underWay).toBeLessThanOrEqual(ORDER_SLOTS / 2);

  stack.sandbox.faults.clear();
  const isSent = async (id: string) => (await stack.read(id)).body.transId !== undefined;
  const sent = () => Promise.all(later.map(({ body }) => isSent(body.id)));
  await eventually(sent, (all) => all.filter(Boolean).length >= ORDER_SLOTS);
}, 60_000);
