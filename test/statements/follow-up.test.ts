import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { listUnmatched } from '../../src/book/unmatched.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import type { Finding } from '../../src/reconciliation/reconciliation.js';
import { followUpFindings } from '../../src/statements/follow-up.js';
import { Hand, World } from '../book/hand.js';
import { newBook, type TestBook } from '../support/books.js';
import { MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';

const DAY = '2026-11-28';

let made: TestBook;
let book: Book;
const world = new World();
let number = 0;

beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
});
afterAll(() => made.drop());

/** A hand to whom the provider doesn't show its list. */
class SilentHand extends Hand {
  override async perform(): Promise<void> {
    await super.perform();
    if (this.done?.kind !== 'listed') return;
    this.done = { ...this.done, answer: { kind: 'unavailable', reason: 'it is down' } };
  }
}

/** A payout that is over. */
async function paid(): Promise<PaymentId> {
  const order = { ...payoutOrder, id: paymentId(`pay_${++number}`) };
  world.now = Date.now();
  await claim(book, { order, terms, merchant: 'shop', fingerprint: 'body', requestId: 'request' }, world.now);
  world.status = 'SUCCESSFUL';
  for (let turns = 0; turns < 3; turns++, world.now += 20 * MINUTE) await new Hand(book, world, order.id).run();
  world.now = Date.now();
  return order.id;
}

const differs = (id: PaymentId, status: 'SUCCESSFUL' | 'REVIEW' = 'SUCCESSFUL'): Finding => ({
  ...{ kind: 'status_differs', service: 'payout', paymentId: id, merchant: 'shop', status, text: 'it differs' },
});
const unknown = (transId: string, providerStatus: 'SUCCESSFUL' | 'FAILED'): Finding => ({
  ...{
    kind: 'only_at_provider',
    service: 'payout',
    transId: transId as TransId,
    providerStatus,
    text: 'nobody knows it',
  },
});

/** Rings by taking the turns of a run. */
const ring = async (id: PaymentId) => {
  world.now = Date.now();
  await new Hand(book, world, id).run();
};

const followUp = (findings: readonly Finding[]) => followUpFindings({ book, ring }, DAY, findings, () => undefined);

describe("a day's findings", () => {
  it('have each payment that differs look again, once, and say what has come of it', async () => {
    const [stands, contradicted] = [await paid(), await paid()];
    const taken = world.taken.get(contradicted) ?? [];
    world.taken.set(contradicted, []);
    const differences = await followUp([
      differs(stands),
      differs(contradicted),
      differs(stands),
      differs(stands, 'REVIEW'),
    ]);
    world.taken.set(contradicted, taken);
    expect(differences.map(({ handling, statusAfter }) => [handling, statusAfter])).toEqual([
      ['checked', 'SUCCESSFUL'],
      ['checked', expect.stringMatching(/REVIEW|SUCCESSFUL/)],
      ['checked', 'SUCCESSFUL'],
      ['under_review', undefined],
    ]);
    const asked = await book.query('SELECT count(*) AS count FROM inbox WHERE payment_id = $1', [stands]);
    expect(asked).toEqual([{ count: '1' }]);
  });

  it('say why a payment could not be compared', async () => {
    const id = await paid();
    const silent = async () => {
      world.now = Date.now();
      await new SilentHand(book, world, id).run();
    };
    const [difference] = await followUpFindings({ book, ring: silent }, DAY, [differs(id)], () => undefined);
    expect(difference).toMatchObject({ handling: 'not_checked', problem: expect.any(String) });
  });

  it('say so of a payment that can not be read, and have the others checked', async () => {
    const [broken, sound] = [await paid(), await paid()];
    await book.query("UPDATE states SET sealed = 'x' WHERE id = $1", [broken]);
    const differences = await followUp([differs(broken), differs(sound)]);
    expect(differences).toMatchObject([
      { handling: 'not_checked', problem: expect.stringContaining("can't be read") },
      { handling: 'checked', statusAfter: 'SUCCESSFUL' },
    ]);
  });

  it('put what no payment knows before an operator, once', async () => {
    const findings = [unknown('T-1', 'FAILED'), unknown('T-2', 'SUCCESSFUL')];
    expect((await followUp(findings)).map(({ handling }) => handling)).toEqual(['unmatched', 'unmatched']);
    await followUp(findings);
    expect((await listUnmatched(book)).map(({ transId, statement }) => [transId, statement])).toEqual([
      ['T-1', DAY],
      ['T-2', DAY],
    ]);
    const many = Array.from({ length: 60 }, (_, index) =>
      unknown(`T-many-${index}`, index < 50 ? 'FAILED' : 'SUCCESSFUL'),
    );
    const handled = await followUp(many);
    expect(handled.filter(({ handling }) => handling === 'unmatched')).toHaveLength(50);
    expect(handled.slice(50).every(({ handling }) => handling === 'unmatched')).toBe(true);
  });
});
