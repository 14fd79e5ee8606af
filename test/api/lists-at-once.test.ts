import { expect, it } from '@jest/globals';
import { type Answered, KEYS, WEBHOOK_TOKEN } from '../support/api-under-test.js';
import { link, useStack } from '../support/payment-stack.js';

/** As many index queries a second as a Temporal server answers by default: the dev server answers any number. */
const stack = useStack({ dynamicConfig: { 'frontend.namespaceRPS.visibility': '10' } });

const AT_ONCE = 20;
const ROUNDS = 15;

/** Asks for lists and reviews, and orders. @returns the statuses of what went wrong */
async function failures(rounds: number): Promise<readonly number[]> {
  const answers: Answered[] = [];
  for (let round = 0; round < rounds; round++) {
    answers.push(await stack.api.ask('GET', '/v1/payments?limit=50', { key: KEYS.shop }));
    answers.push(await stack.api.ask('GET', '/v1/payments?status=REVIEW', { key: KEYS.operator }));
    answers.push(await stack.post('/v1/collections', link));
  }
  return answers.map(({ status }) => status).filter((status) => status >= 300);
}

it("a merchant's twenty lists at a time keep nobody else from lists, reviews and orders", async () => {
  const lists = { isOver: false, answered: 0 };
  const greedy = Array.from({ length: AT_ONCE }, async () => {
    while (!lists.isOver) {
      const { status } = await stack.api.ask('GET', '/v1/payments?status=CREATED&limit=50', { key: KEYS.rival });
      if (status === 200) lists.answered += 1;
    }
  });
  try {
    expect(await failures(ROUNDS)).toEqual([]);
  } finally {
    lists.isOver = true;
    await Promise.all(greedy);
  }
  expect(lists.answered).toBeGreaterThan(10 * AT_ONCE);
});

it('made-up notifications of a hundred transactions each keep nobody from lists, reviews and orders', async () => {
  const flood = { isOver: false, made: 0 };
  const flooding = Array.from({ length: 5 }, async () => {
    while (!flood.isOver) {
      const body = Array.from({ length: 100 }, () => ({ transId: `made-up-${flood.made++}`, status: 'SUCCESSFUL' }));
      await stack.api.ask('POST', `/webhooks/provider/${WEBHOOK_TOKEN}`, { body });
    }
  });
  try {
    expect(await failures(ROUNDS)).toEqual([]);
  } finally {
    flood.isOver = true;
    await Promise.all(flooding);
  }
  expect(flood.made).toBeGreaterThan(1_000);
});
