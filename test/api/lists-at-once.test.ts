import { expect, it } from '@jest/globals';
import { type Answered, KEYS } from '../support/api-under-test.js';
import { link, useStack } from '../support/payment-stack.js';

/** As many index queries a second as a Temporal server answers by default: the dev server answers any number. */
const stack = useStack({ dynamicConfig: { 'frontend.namespaceRPS.visibility': '10' } });

const AT_ONCE = 20;
const ROUNDS = 15;

it("a merchant's twenty lists at a time keep nobody else from lists, reviews and orders", async () => {
  const lists = { isOver: false, answered: 0 };
  const greedy = Array.from({ length: AT_ONCE }, async () => {
    while (!lists.isOver) {
      const { status } = await stack.api.ask('GET', '/v1/payments?status=CREATED&limit=50', { key: KEYS.rival });
      if (status === 200) lists.answered += 1;
    }
  });
  const answers: Answered[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      answers.push(await stack.api.ask('GET', '/v1/payments?limit=50', { key: KEYS.shop }));
      answers.push(await stack.api.ask('GET', '/v1/payments?status=REVIEW', { key: KEYS.operator }));
      answers.push(await stack.post('/v1/collections', link));
    }
  } finally {
    lists.isOver = true;
    await Promise.all(greedy);
  }
  expect(lists.answered).toBeGreaterThan(10 * AT_ONCE);
  expect(new Set(answers.map(({ status }) => status < 300))).toEqual(new Set([true]));
});
