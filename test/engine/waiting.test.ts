import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { measureWaiting } from '../../src/engine/waiting.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { newBook, type TestBook } from '../support/books.js';
import { CLOSED_URL } from '../support/local-servers.js';
import { DAY, HOUR, linkOrder, paymentId, payoutOrder, terms } from '../support/orders.js';
import { testEncryption } from '../support/test-encryption.js';

let made: TestBook;
let registry: Registry;

beforeAll(async () => {
  made = await newBook();
  const now = Date.now();
  const order = async (
    changed: Partial<PaymentOrder> & { readonly id: PaymentOrder['id'] },
    ago: number,
    of = payoutOrder,
  ) => {
    const wanted = { order: { ...of, ...changed } as PaymentOrder, terms, merchant: 'shop' };
    expect(await claim(made.book, { ...wanted, fingerprint: 'f', requestId: 'r' }, now - ago)).toEqual({
      kind: 'claimed',
    });
  };
  await order({ id: paymentId('pay_approval'), approval: true }, 3 * HOUR);
  await order({ id: paymentId('pay_both'), approval: true, sendAt: now + DAY }, 2 * HOUR);
  await order({ id: paymentId('pay_date'), sendAt: now + DAY }, HOUR);
  await order({ id: paymentId('pay_stuck'), sendAt: now - 2 * HOUR }, 3 * DAY);
  await order({ id: paymentId('col_old') }, 26 * HOUR, linkOrder as never);
  await order({ id: paymentId('col_new') }, HOUR, linkOrder as never);
  registry = new Registry();
  measureWaiting(registry, made);
});
afterAll(() => made.drop());

async function gauge(name: string, label = ''): Promise<number> {
  const text = await registry.metrics();
  return Number(new RegExp(`^${name}${label} (\\S+)$`, 'm').exec(text)?.[1]);
}

describe('the gauges of what payments wait for', () => {
  it('count approvals and dates, those for both in each', async () => {
    expect(await gauge('sanaga_held_payouts', '\\{for="approval"\\}')).toBe(2);
    expect(await gauge('sanaga_held_payouts', '\\{for="date"\\}')).toBe(3);
  });

  it('say for how long the oldest has waited for an approval, and when the first ends', async () => {
    expect(await gauge('sanaga_approval_oldest_age_seconds')).toBeCloseTo((3 * HOUR) / 1_000, -2);
    expect(await gauge('sanaga_approval_nearest_end_seconds')).toBeCloseTo((7 * DAY - 3 * HOUR) / 1_000, -2);
  });

  it('count what is old and waits for nobody, or for a date that is over', async () => {
    expect(await gauge('sanaga_payments_unfinished')).toBe(2);
  });

  it('are 0 where nothing waits', async () => {
    expect(await gauge('sanaga_reviews_open')).toBe(0);
    expect(await gauge('sanaga_review_oldest_age_seconds')).toBe(0);
    expect(await gauge('sanaga_delivery_oldest_age_seconds')).toBe(0);
  });

  it('are NaN, and not 0, while the book is away', async () => {
    const away = new Book(`postgresql://nobody@${new URL(CLOSED_URL).host}/none`, testEncryption);
    registry = new Registry();
    measureWaiting(registry, { book: away });
    expect(await gauge('sanaga_reviews_open')).toBeNaN();
    expect(await registry.metrics()).toContain('sanaga_delivery_oldest_age_seconds Nan');
    await away.close();
  });
});
