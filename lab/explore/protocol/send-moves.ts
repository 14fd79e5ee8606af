import { done, type Explored, goOn, nameOf, news } from './hand.js';
import type { Outcome } from './payment.js';
import { writeFence } from './transactions.js';
import { type At, type Hand, type Move, type Rule, spend, type World } from './world.js';

/** Reads the list before it sends. */
export function lists(world: World, hand: Hand, at: Extract<At, { kind: 'list' }>, { protocol }: Explored): Move[] {
  const { attempt, token } = at;
  const { now, transactions } = world;
  if (transactions.some(({ listedFrom }) => listedFrom <= now)) {
    const to = goOn(world, hand, done(token, { kind: 'shown' }));
    return [{ label: `${nameOf(hand)} reads the list before it sends: it is there`, to }];
  }
  const next: At =
    protocol.reads === 'afterFence'
      ? { kind: 'post', attempt, token, leavesBy: now }
      : { kind: 'fence', attempt, token, listedAt: now };
  return [{ label: `${nameOf(hand)} reads the list before it sends: nothing`, to: goOn(world, hand, next) }];
}

export function fences(world: World, hand: Hand, at: Extract<At, { kind: 'fence' }>, { protocol }: Explored): Move[] {
  const { attempt, token, listedAt } = at;
  const { now } = world;
  const who = nameOf(hand);
  const isMine = world.book.fences.some((one) => one.attempt === attempt && one.by === hand.id);
  if (protocol.reads === 'beforeFence' && !isMine && !protocol.isFresh(listedAt, now)) {
    const to = goOn(world, hand, { kind: 'list', attempt, token });
    return [{ label: `${who} has an old list, and reads it again`, to }];
  }
  const { book, fenced } = writeFence(
    world.book,
    { attempt, token, by: hand.id, isAfterList: !Number.isNaN(listedAt) },
    now,
    protocol,
  );
  const after = { ...world, book };
  switch (fenced) {
    case 'movedOn':
      return [{ label: `${who} writes no fence: the row has moved on`, to: goOn(after, hand, news()) }];
    case 'taken': {
      const to = goOn(after, hand, done(token, { kind: 'doubted' }));
      return [{ label: `${who} finds the fence of attempt ${attempt} written by another`, to }];
    }
    case 'written':
    case 'mine': {
      const leavesBy = book.fences.find((one) => one.attempt === attempt)?.leavesBy ?? now;
      const next: At =
        protocol.reads === 'afterFence' ? { kind: 'list', attempt, token } : { kind: 'post', attempt, token, leavesBy };
      const label = `${who} writes the fence of attempt ${attempt}`;
      const moves: Move[] = [{ label, to: goOn(after, hand, next) }];
      if (world.left.lostCommits > 0 && fenced === 'written') {
        moves.push({ label: `${label}, and doesn't hear of it`, to: spend(after, 'lostCommits') });
      }
      return moves;
    }
  }
}

/** The request leaves, and the provider does with it what it will; or its time is over, and it never leaves. */
export function posts(world: World, hand: Hand, at: Extract<At, { kind: 'post' }>, explored: Explored): Move[] {
  const { attempt, token, leavesBy } = at;
  const { protocol, setting } = explored;
  const who = nameOf(hand);
  const answered = (from: World, outcome: Outcome) => goOn(from, hand, { kind: 'posted', attempt, token, outcome });
  if (!protocol.mayLeave({ leavesBy }, world.now)) {
    return [{ label: `${who} is too late to send attempt ${attempt}`, to: answered(world, 'notSent') }];
  }
  const broken = leavingBreaks(world);
  const leaves = (from: World, words: string, outcome: Outcome, listedFrom?: number): Move => {
    const transactions =
      listedFrom === undefined ? from.transactions : [...from.transactions, { listedFrom, status: 'pending' } as const];
    const isUnknown = from.isUnknown || outcome === 'ambiguous';
    const sent = { ...from, transactions, isUnknown, toResend: Math.max(0, from.toResend - 1) };
    return { label: `attempt ${attempt} of ${who} leaves, ${words}`, to: answered(sent, outcome), broken };
  };
  const late = world.now + (setting.lag ?? 1);
  const moves = [leaves(world, 'and is taken', 'accepted', world.now)];
  if (world.left.troubles === 0) return moves;
  const from = spend(world, 'troubles');
  for (const trouble of setting.troubles ?? []) {
    if (trouble === 'lags') moves.push(leaves(from, 'and is taken; the list lags', 'accepted', late));
    if (trouble === 'rejected') moves.push(leaves(from, 'and is rejected', 'rejected'));
    if (trouble === 'throttled') {
      moves.push(leaves(from, 'and is throttled', 'throttled'));
      moves.push(leaves(from, 'and is throttled, but taken; the list lags', 'throttled', late));
    }
    if (trouble === 'lost') {
      moves.push(leaves(from, 'and its answer is lost', 'ambiguous'));
      moves.push(leaves(from, 'and is taken; its answer is lost, and the list lags', 'ambiguous', late));
    }
    if (trouble === 'noConnection') {
      moves.push({ label: `${who} gets no connection for attempt ${attempt}`, to: answered(from, 'notSent') });
    }
  }
  return moves;
}

/** The rules that are broken when a request leaves now. */
function leavingBreaks(world: World): Rule[] {
  const broken: Rule[] = [];
  const mayHaveMoved = world.transactions.length > 0 || world.isUnknown;
  if (mayHaveMoved && world.toResend === 0) broken.push('once');
  if (world.told !== undefined && world.told !== 'succeeded') broken.push('final');
  if (world.isUnlooked) broken.push('gap');
  return broken;
}
