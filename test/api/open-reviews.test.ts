import { describe, expect, it } from '@jest/globals';
import { startApi, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { sumOf } from '../support/metrics-page.js';
import { HASTY_MS, useStack } from '../support/payment-stack.js';

const stack = useStack();

/** A payout of which nobody knows whether the provider took it, under review. */
async function reviewed() {
  const hasty = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  const api = await stack.startMore({ terms: hasty, answerWithinMs: HASTY_MS });
  const id = await stack.doubtfulPayout(api);
  const { body: payment } = await eventually(
    () => stack.read(id),
    (answer) => answer.body.status === 'REVIEW',
  );
  return payment;
}

/** Returns the metrics of an API that has just started, once there are as many reviews. */
async function shown(count: number) {
  const reads = async () => {
    const page = await (await stack.startMore()).metrics();
    return { open: sumOf(page, 'sanaga_reviews_open'), age: sumOf(page, 'sanaga_review_oldest_age_seconds') };
  };
  return await eventually(reads, ({ open }) => open === count);
}

describe('the metrics of open reviews', () => {
  it('are 0 while there are none', async () => {
    expect(await shown(0)).toEqual({ open: 0, age: 0 });
  });

  it('count them, and tell the age of the oldest; a decision takes a review away', async () => {
    const [first, second] = [await reviewed(), await reviewed()];
    const ageOf = ({ review }: { review: { since: string } }) => (Date.now() - Date.parse(review.since)) / 1_000;
    const both = [ageOf(first), ageOf(second)] as const;
    const { age } = await shown(2);
    expect(age).toBeGreaterThanOrEqual(both[0]);
    expect(age).toBeLessThanOrEqual(ageOf(first));

    await stack.decide(first.id, { action: 'fail', why: 'not in the portal' });
    expect((await shown(1)).age).toBeLessThanOrEqual(ageOf(second));
  });

  it('need no worker', async () => {
    await stack.withoutWorker(async () => {
      expect((await shown(1)).age).toBeGreaterThan(0);
    });
  });

  it('are no number while the book is away: not 0, which would be a promise', async () => {
    const api = await startApi();
    const page = await api.metrics();
    expect(sumOf(page, 'sanaga_reviews_open')).toBeNaN();
    expect(sumOf(page, 'sanaga_review_oldest_age_seconds')).toBeNaN();
    await api.stop();
  });
});
