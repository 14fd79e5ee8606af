import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { claim } from '../../src/book/claim.js';
import { post, replyTo } from '../../src/book/inbox.js';
import { recordPeople } from '../../src/book/people.js';
import { takeTurn } from '../../src/book/turn.js';
import type { PayoutOrder } from '../../src/payments/words/order.js';
import { digestOf } from '../../src/payments/words/order-digest.js';
import type { PersonsKey } from '../../src/payments/words/person.js';
import { newBook, type TestBook } from '../support/books.js';
import { MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { Hand, World } from './hand.js';

let made: TestBook;
let book: Book;
let world: World;
let number = 0;
beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
  world = new World();
});
afterEach(() => made.drop());

/** What a merchants' file says: the persons of keys. */
type File = Readonly<Record<string, string>>;

const keysIn = (file: File): PersonsKey[] =>
  Object.entries(file).map(([keyId, person]) => ({ merchant: 'shop', person, keyId }));
const keysOf = (file: File, person: string) => Object.keys(file).filter((key) => file[key] === person);

/** The file is read, a minute after the one before. */
async function read(file: File): Promise<File> {
  world.now += MINUTE;
  await recordPeople(book.query, keysIn(file), world.now);
  return file;
}

/** Somebody orders a payout that takes an approval. */
async function order(file: File, person: string): Promise<PayoutOrder> {
  world.now += MINUTE;
  const orderedByKeys = keysOf(file, person);
  const ordered = {
    ...payoutOrder,
    id: paymentId(`pay_${++number}`),
    approval: true,
    orderedBy: person,
    orderedByKeys,
  };
  const wanted = { order: { ...ordered, approval: true as const }, terms, merchant: 'shop', people: keysIn(file) };
  expect(await claim(book, { ...wanted, fingerprint: 'f', requestId: 'r' }, world.now)).toEqual({ kind: 'claimed' });
  await new Hand(book, world, ordered.id).run();
  return wanted.order;
}

/** @returns `sent`, or why the approval was refused */
async function approve(payout: PayoutOrder, file: File, by: string): Promise<string> {
  world.now += MINUTE;
  const message = { kind: 'approve', by, keys: keysOf(file, by), digest: digestOf(payout) } as const;
  const asked = await post(book, payout.id, message, world.now);
  await takeTurn(book, payout.id, {}, world.now);
  const reply = await replyTo(book, payout.id, asked);
  if (reply?.kind === 'refused') return reply.words;
  const hand = new Hand(book, world, payout.id);
  // The turn has decided an attempt that nobody makes: the run closes it, and makes the next.
  await hand.run();
  world.now += MINUTE;
  await hand.run();
  return world.requests(payout.id) === 1 ? 'sent' : 'not sent';
}

const OWN = expect.stringMatching(/who has ordered the payout|has ordered the payout/);

describe('a payout that takes an approval', () => {
  it('is approved by another person, whom the file has named all the time', async () => {
    const file = await read({ one: 'Ada', two: 'Ben' });
    expect(await approve(await order(file, 'Ada'), file, 'Ben')).toBe('sent');
  });

  it.each<[string, File, File]>([
    ['got another name before the order', { one: 'Ada', two: 'Ada', six: 'Ben' }, { one: 'Ada', two: 'Annie' }],
    ['is written otherwise since', { one: 'Ada', two: 'ADA' }, { one: 'Ada', two: 'Annie' }],
    ['was removed, and came back under another name', { one: 'Ada', two: 'Ada' }, { one: 'Ada', two: 'Lovelace' }],
  ])('is not approved with a key of who has ordered it, which %s', async (_, before, file) => {
    await read(before);
    await read({ one: 'Ada' });
    await read(file);
    const payout = await order(file, 'Ada');
    expect(await approve(payout, file, file.two ?? '')).toEqual(OWN);
    expect(world.requests(payout.id)).toBe(0);
  });

  it('is not approved by somebody who has a name of who has ordered it, at one remove', async () => {
    await read({ one: 'Ada', two: 'Ada' });
    await read({ one: 'Ada', two: 'Annie' });
    const file = await read({ one: 'Ada', three: 'Annie' });
    expect(await approve(await order(file, 'Ada'), file, 'Annie')).toEqual(OWN);
  });

  it('is not approved by whom the file did not name when it was ordered', async () => {
    const before = await read({ one: 'Ada', two: 'Ben' });
    const payout = await order(before, 'Ada');
    const file = await read({ ...before, three: 'Carl' });
    expect(await approve(payout, file, 'Carl')).toContain('no key was that of Carl when the payout was ordered');
    expect(await approve(payout, file, 'Ben')).toBe('sent');
    expect(await approve(await order(file, 'Ada'), file, 'Carl')).toBe('sent');
  });

  it('is approved by another person, though both had keys that named nobody', async () => {
    await read({ one: 'shop', two: 'shop' });
    const file = await read({ one: 'Ada', two: 'Ben' });
    expect(await approve(await order(file, 'Ada'), file, 'Ben')).toBe('sent');
  });

  it('does not leave once its approver turns out to be who has ordered it', async () => {
    const file = await read({ one: 'Ada', two: 'Annie' });
    const payout = await order(file, 'Ada');
    const message = { kind: 'approve', by: 'Annie', keys: ['two'], digest: digestOf(payout) } as const;
    await post(book, payout.id, message, world.now);
    const hand = new Hand(book, world, payout.id);
    expect((await hand.takeTurn()).todo.kind).toBe('send');
    await recordPeople(book.query, [{ merchant: 'shop', person: 'Annie', keyId: 'one' }], world.now);
    expect(await hand.fence()).toEqual({ kind: 'doubtful', why: 'nobody but who ordered the payout has approved it' });
  });
});
