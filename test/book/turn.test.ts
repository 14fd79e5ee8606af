import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Book } from '../../src/book/book.js';
import { type Claim, claim } from '../../src/book/claim.js';
import { post, replyTo } from '../../src/book/inbox.js';
import { recordPeople } from '../../src/book/people.js';
import { keepOutcome } from '../../src/book/sends.js';
import { type Turn, takeTurn } from '../../src/book/turn.js';
import type { PaymentOrder } from '../../src/payments/words/order.js';
import { digestOf } from '../../src/payments/words/order-digest.js';
import { newBook, type TestBook } from '../support/books.js';
import { MINUTE, paymentId, payoutOrder, terms } from '../support/orders.js';
import { Hand, World } from './hand.js';

let made: TestBook;
let book: Book;
let world: World;
let number = 0;

beforeAll(async () => {
  made = await newBook();
  ({ book } = made);
});
afterAll(() => made.drop());
beforeEach(() => {
  world = new World();
});

const claimOf = (order: PaymentOrder, changes: Partial<Claim> = {}): Claim => ({
  order,
  terms,
  merchant: 'shop',
  fingerprint: 'body',
  requestId: 'request',
  ...changes,
});

async function newPayout(changes: object = {}, given = terms): Promise<PaymentOrder> {
  const order = { ...payoutOrder, id: paymentId(`pay_${++number}`), ...changes };
  expect(await claim(book, claimOf(order, { terms: given }), world.now)).toEqual({ kind: 'claimed' });
  return order;
}

const columns = async (id: string) => (await book.query('SELECT * FROM payments WHERE id = $1', [id]))[0];
const sends = (id: string) =>
  book.query('SELECT attempt, outcome, taken FROM sends WHERE payment_id = $1 ORDER BY attempt', [id]);

describe('a turn', () => {
  it('sends a payout once, follows it and ends, telling its merchant', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    expect((await hand.run()).todo.kind).toBe('wait');
    expect(await columns(id)).toMatchObject({ status: 'CREATED', final: false, transId: `T1-${id}` });
    world.status = 'SUCCESSFUL';
    world.now += 10 * MINUTE;
    await hand.run();
    expect(await columns(id)).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect(world.requests(id)).toBe(1);
    expect(await book.query('SELECT type, position FROM notifications WHERE payment_id = $1', [id])).toEqual([
      { type: 'payment.succeeded', position: undefined },
    ]);
  });

  it('answers the same when it is repeated, and changes nothing', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    const { todo, token, attempt, version } = await hand.takeTurn();
    const asFirst = { todo, token, attempt, version };
    expect(await takeTurn(book, id, {}, world.now)).toMatchObject(asFirst);
    expect(await takeTurn(book, id, { done: { token: 99, kind: 'sent' } }, world.now)).toMatchObject(asFirst);
  });

  it.each([
    { what: 'is held', changes: { approval: true, orderedBy: 'Ada' }, status: 'PENDING', afterMs: 0, todo: 'wait' },
    { what: 'is followed', changes: {}, status: 'PENDING', afterMs: 0, todo: 'wait' },
    { what: 'was asked about in vain', changes: {}, status: 'PENDING', afterMs: 10 * MINUTE, todo: 'wait' },
    { what: 'has ended', changes: {}, status: 'SUCCESSFUL', afterMs: 10 * MINUTE, todo: 'end' },
  ] as const)('writes nothing when a payment that $what is rung for nothing', async (given) => {
    const { id } = await newPayout(given.changes);
    const hand = new Hand(book, world, id);
    await hand.run();
    world.status = given.status;
    world.now += given.afterMs;
    const { version } = await hand.run();
    const row = () => book.query('SELECT xmin, states.* FROM states WHERE id = $1', [id]);
    const before = await row();
    world.now += 1_000;
    for (const taking of [{}, { asksNothing: true }, { begins: true }] as const) {
      const turn = await takeTurn(book, id, taking, world.now);
      expect(turn).toMatchObject({ todo: { kind: given.todo }, version, at: world.now });
      expect(turn?.after).toBe(turn?.before);
    }
    expect(await row()).toEqual(before);
  });

  it('drops an answer to another version, whatever it says', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    await hand.run();
    world.now += 5 * MINUTE;
    const { todo, token = 0 } = await hand.takeTurn();
    expect(todo.kind).toBe('askStatus');
    const old = { token: token - 1, kind: 'status', at: world.now } as const;
    const answer = { kind: 'unknown', message: 'no', statusCode: 404 } as const;
    expect(await takeTurn(book, id, { done: { ...old, answer } }, world.now)).toMatchObject({ todo, token });
  });

  it('closes an attempt that was never fenced, so that its hand sends nothing any more', async () => {
    const { id } = await newPayout();
    const frozen = new Hand(book, world, id);
    await frozen.takeTurn();
    const next = new Hand(book, world, id);
    await next.takeTurn();
    expect(await sends(id)).toEqual([{ attempt: 1, outcome: 'closed', taken: true }]);
    expect(await frozen.fence()).toEqual({ kind: 'stale' });
    world.now += MINUTE;
    await next.run();
    expect(world.requests(id)).toBe(1);
  });

  it('doubts an attempt that was fenced, and takes its outcome when that comes late', async () => {
    const { id } = await newPayout();
    const frozen = new Hand(book, world, id);
    await frozen.takeTurn();
    expect(await frozen.fence()).toEqual({ kind: 'fenced' });
    const next = new Hand(book, world, id);
    await next.takeTurn();
    expect(next.turn?.todo.kind).not.toBe('send');
    await frozen.post();
    await next.run();
    expect(await columns(id)).toMatchObject({ status: 'PENDING', transId: `T1-${id}` });
    expect(world.requests(id)).toBe(1);
  });

  it.each([
    { kind: 'notSent', reason: 'forged' },
    { kind: 'rejected', message: 'forged', statusCode: 400 },
    { kind: 'withheld', failureCode: 'not_sent', reason: 'forged' },
    { kind: 'accepted', transId: 'T-forged' },
  ])('believes nobody but the fence that a request was $kind', async (outcome) => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    const { token } = await hand.takeTurn();
    await hand.fence();
    hand.done = Object.assign({ token: token ?? 0, kind: 'sent' } as const, { outcome });
    expect((await hand.takeTurn()).after.phase).toMatchObject({ kind: 'searching' });
    await hand.run();
    expect(await columns(id)).toMatchObject({ status: 'CREATED', final: false, transId: undefined });
    expect(await sends(id)).toEqual([{ attempt: 1, outcome: undefined, taken: false }]);
  });

  it('keeps why a hand has sent nothing, unless somebody else may have', async () => {
    const { id } = await newPayout();
    const [hand, other] = [new Hand(book, world, id), new Hand(book, world, id)];
    await hand.takeTurn();
    other.turn = hand.turn;
    await hand.fence();
    await other.keepUnsent({ kind: 'notSent', reason: 'its own list was unread' });
    expect(await sends(id)).toEqual([{ attempt: 1, outcome: undefined, taken: false }]);
    await hand.keepUnsent({ kind: 'notSent', reason: 'frozen' });
    expect((await takeTurn(book, id, {}, world.now))?.after.phase).toMatchObject({ kind: 'waiting' });
    await other.keepUnsent({ kind: 'withheld', failureCode: 'not_sent', reason: 'late' });
    expect(await sends(id)).toEqual([{ attempt: 1, outcome: 'notSent', taken: true }]);
  });

  it('has no list count before what may still leave has left, nor anybody decide', async () => {
    const { id } = await newPayout({}, { ...terms, ambiguousGraceMs: 0, resolveAfterMs: 0, ambiguousPolicy: 'resend' });
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    await hand.fence();
    const lostAt = world.now;
    const next = new Hand(book, world, id);
    await next.takeTurn();
    // The longest that a request may be on its way after its fence.
    const leavesBy = lostAt + 5_000 + terms.providerTimeoutMs;
    for (; world.now < leavesBy; world.now += 1_000) {
      await next.run();
      expect(await columns(id)).toMatchObject({ status: 'CREATED' });
      expect(world.requests(id)).toBe(0);
    }
    await next.run();
    expect(world.requests(id)).toBe(1);
  });

  it('takes the outcome of a lost hand from its fence', async () => {
    const { id } = await newPayout();
    const lost = new Hand(book, world, id);
    await lost.takeTurn();
    await lost.fence();
    await lost.post();
    await new Hand(book, world, id).run();
    expect(await columns(id)).toMatchObject({ status: 'CREATED', transId: `T1-${id}` });
    expect(await sends(id)).toEqual([{ attempt: 1, outcome: 'accepted', taken: true }]);
  });

  it('keeps the first outcome of an attempt', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    await hand.fence();
    await hand.post();
    await keepOutcome(book, hand.attempt, { kind: 'notSent', reason: 'never' });
    await hand.run();
    expect(await columns(id)).toMatchObject({ status: 'CREATED', transId: `T1-${id}` });
  });

  it('replies to a message in the transaction that takes it, without a worker', async () => {
    const { id } = await newPayout({ approval: true, orderedBy: 'Ada' });
    await new Hand(book, world, id).run();
    const asked = await post(book, id, { kind: 'rejectPayout', by: 'Ben', why: 'wrong amount' }, world.now);
    expect(await replyTo(book, id, asked)).toBeUndefined();
    await takeTurn(book, id, {}, world.now);
    expect(await replyTo(book, id, asked)).toEqual({ request: asked, kind: 'done' });
    expect(await columns(id)).toMatchObject({ status: 'FAILED', final: true, dayCounts: '0' });
  });

  it('sends a held payout only once it is approved', async () => {
    const order = await newPayout({ approval: true, orderedBy: 'Ada' });
    const hand = new Hand(book, world, order.id);
    await hand.run();
    expect(world.requests(order.id)).toBe(0);
    const digest = digestOf(order as never);
    await recordPeople(book.query, [{ merchant: 'shop', person: 'Ben', keyId: 'two' }], 0);
    await post(book, order.id, { kind: 'approve', by: 'Ben', digest }, world.now);
    await hand.run();
    expect(world.requests(order.id)).toBe(1);
  });

  it('leaves messages alone while an answer is awaited', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    const asked = await post(book, id, { kind: 'refresh' }, world.now);
    await takeTurn(book, id, {}, world.now);
    expect(await replyTo(book, id, asked)).toBeUndefined();
    await hand.perform();
    await hand.run();
    expect(await replyTo(book, id, asked)).toEqual({ request: asked, kind: 'done' });
  });

  it('takes any number of messages, a part at a time', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    await hand.run();
    const sealed = await book.seals.seal({ table: 'inbox', id }, { message: { kind: 'hint', transId: 'T9' } });
    await book.query('INSERT INTO inbox (payment_id, at, sealed) SELECT $1, $2, $3 FROM generate_series(1, 1200)', [
      ...[id, new Date(world.now), sealed],
    ]);
    const asked = await post(book, id, { kind: 'refresh' }, world.now);
    const left = async () => Number((await book.query('SELECT count(*) FROM inbox WHERE taken_in IS NULL'))[0]?.count);
    const turn = await takeTurn(book, id, { asksNothing: true }, world.now);
    expect([turn?.todo, await left()]).toMatchObject([{ kind: 'wait', until: world.now }, 701]);
    for (let turns = 0; (await left()) > 0 && turns < 9; turns++) {
      await hand.takeTurn();
      await hand.perform();
    }
    await hand.run();
    expect([await left(), await replyTo(book, id, asked)]).toEqual([0, { request: asked, kind: 'done' }]);
  });

  it('leaves nothing due behind messages that just fill a part', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    const { todo } = await hand.run();
    const sealed = await book.seals.seal({ table: 'inbox', id }, { message: { kind: 'looked', transId: 'T9' } });
    await book.query('INSERT INTO inbox (payment_id, at, sealed) SELECT $1, $2, $3 FROM generate_series(1, 500)', [
      ...[id, new Date(world.now), sealed],
    ]);
    expect((await takeTurn(book, id, {}, world.now))?.todo).toMatchObject({ kind: 'wait', until: world.now });
    expect((await takeTurn(book, id, {}, world.now))?.todo).toEqual(todo);
    const until = todo.kind === 'wait' ? todo.until : undefined;
    expect(await book.query('SELECT wake_at FROM states WHERE id = $1', [id])).toEqual([
      { wakeAt: new Date(until ?? 0) },
    ]);
  });

  it('lets a late report wait while another request may be on its way, and loses neither', async () => {
    const order = { ...payoutOrder, id: paymentId(`pay_${++number}`) };
    const { id } = order;
    await claim(book, claimOf(order, { terms: { ...terms, ambiguousPolicy: 'resend' } }), world.now);
    const frozen = new Hand(book, world, id);
    await frozen.takeTurn();
    await frozen.fence();
    const next = new Hand(book, world, id);
    while ((await next.takeTurn()).todo.kind !== 'send') {
      const { todo } = next.turn as Turn;
      if (todo.kind === 'wait') world.now = todo.until ?? world.now;
      else await next.perform();
    }
    expect(await next.fence()).toEqual({ kind: 'fenced' });
    await frozen.post();
    const { todo, token, version } = next.turn as Turn;
    expect(await takeTurn(book, id, {}, world.now)).toMatchObject({ todo, token, version });
    await next.post();
    next.done = { token: token ?? 0, kind: 'sent' };
    expect((await next.takeTurn()).after.phase.kind).toBe('following');
    world.now += 10 * MINUTE;
    world.status = 'SUCCESSFUL';
    await next.run();
    expect(await columns(id)).toMatchObject({ status: 'REVIEW', final: false });
    expect(await sends(id)).toEqual([
      { attempt: 1, outcome: 'accepted', taken: true },
      { attempt: 2, outcome: 'accepted', taken: true },
    ]);
  });

  it('sends what a limit that was lowered since has room for, and counts what has left', async () => {
    const hands: Hand[] = [];
    const merchant = `shop_${number}`;
    for (let one = 0; one < 3; one++) {
      const order = { ...payoutOrder, id: paymentId(`pay_${++number}`) };
      expect(await claim(book, claimOf(order, { merchant, maxPerDay: 15_000 }), world.now)).toEqual({
        kind: 'claimed',
      });
      const hand = new Hand(book, world, order.id);
      await hand.takeTurn();
      hands.push(hand);
    }
    const lowered = { maxPerDay: 10_000 };
    const left = [];
    for (const hand of hands) left.push((await hand.fence(lowered)).kind);
    expect(left).toEqual(['fenced', 'fenced', 'doubtful']);
  });

  it('withdraws a payment before it was started, without a worker', async () => {
    const { id } = await newPayout();
    const asked = await post(book, id, { kind: 'expire' }, world.now);
    await takeTurn(book, id, {}, world.now);
    expect(await replyTo(book, id, asked)).toEqual({ request: asked, kind: 'done' });
    expect(await columns(id)).toMatchObject({ status: 'FAILED', final: true, dayCounts: '0' });
    expect((await new Hand(book, world, id).run()).todo.kind).toBe('end');
    expect(world.requests(id)).toBe(0);
  });

  it.each([
    { kind: 'unauthorized', message: 'no', statusCode: 401 },
    { kind: 'notSent', reason: 'connection refused' },
  ] as const)('withdraws a payment of which a request came to nothing for sure ($kind)', async (outcome) => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    await hand.takeTurn();
    await hand.fence();
    await keepOutcome(book, hand.attempt, outcome);
    await hand.takeTurn();
    const asked = await post(book, id, { kind: 'expire' }, world.now);
    await takeTurn(book, id, {}, world.now);
    expect(await replyTo(book, id, asked)).toMatchObject({ kind: 'done' });
    expect(await columns(id)).toMatchObject({ status: 'FAILED', dayCounts: '0' });
  });

  it('is withdrawn by what came while its list was read, which could not be', async () => {
    const { id } = await newPayout();
    const hand = new Hand(book, world, id);
    for (let tries = 0; tries < 3; tries++, world.now += MINUTE) {
      expect((await hand.takeTurn()).todo.kind).toBe('send');
      await hand.keepUnsent({ kind: 'notSent', isUnread: true, reason: 'the list is away' });
      if (tries < 2) expect((await hand.takeTurn()).todo.kind).toBe('wait');
    }
    const asked = await post(book, id, { kind: 'expire' }, world.now);
    await hand.takeTurn();
    expect(await replyTo(book, id, asked)).toEqual({ request: asked, kind: 'done' });
    expect(await columns(id)).toMatchObject({ status: 'FAILED', final: true, dayCounts: '0' });
    expect(world.requests(id)).toBe(0);
  });

  it('refuses a state that was put back, or moved from another payment', async () => {
    const { id } = await newPayout();
    const [before] = await book.query('SELECT sealed FROM states WHERE id = $1', [id]);
    await new Hand(book, world, id).run();
    await book.query('UPDATE states SET sealed = $2 WHERE id = $1', [id, before?.sealed as Buffer]);
    await expect(takeTurn(book, id, {}, world.now)).rejects.toThrow('was changed, or belongs to another row');
  });
});
