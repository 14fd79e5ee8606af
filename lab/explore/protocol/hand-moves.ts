import type { Input } from './book.js';
import { done, type Explored, goOn, nameOf, news, unrung, withHand } from './hand.js';
import { NotAsked, type Todo } from './payment.js';
import type { Protocol } from './protocol.js';
import { fences, lists, posts } from './send-moves.js';
import { writeOutcome } from './transactions.js';
import { turn } from './turn.js';
import {
  type At,
  type Hand,
  type Move,
  type Rule,
  spend,
  type Transaction,
  type Trouble,
  type World,
} from './world.js';

/** Lists what a hand may do next. The first is what it does if nothing goes wrong. */
export function movesOf(world: World, hand: Hand, explored: Explored): Move[] {
  const { protocol } = explored;
  const { at } = hand;
  switch (at.kind) {
    case 'turn':
      return turns(world, hand, at, explored);
    case 'ask':
      return asks(world, hand, at, explored);
    case 'list':
      return lists(world, hand, at, explored);
    case 'fence':
      return isKeptBack(world, protocol) ? [] : fences(world, hand, at, explored);
    case 'post':
      return posts(world, hand, at, explored);
    case 'posted': {
      const { attempt, outcome, token } = at;
      const book = writeOutcome(world.book, { attempt, outcome, by: hand.id }, world.now, protocol);
      const to = goOn({ ...world, book }, hand, done(token, { kind: 'sent' }));
      return [{ label: `${nameOf(hand)} writes what came of attempt ${attempt}: ${outcome}`, to }];
    }
    case 'setTimer': {
      const broken: readonly Rule[] = world.isRung ? ['bell'] : [];
      const to = goOn(world, hand, { ...at, kind: 'asleep' });
      return [{ label: `${nameOf(hand)} sets its timer, and sleeps`, to, broken }];
    }
    case 'lookAtBell': {
      const quiet: At = { ...at, kind: protocol.setsTimerFirst ? 'asleep' : 'setTimer' };
      if (!world.isRung) return [{ label: `${nameOf(hand)} looks: nobody has rung`, to: goOn(world, hand, quiet) }];
      return [{ label: `${nameOf(hand)} looks: the bell was rung`, to: goOn(unrung(world), hand, news()) }];
    }
    case 'asleep': {
      const label = `${nameOf(hand)} wakes`;
      if (world.isRung) return [{ label: `${label} by the bell`, to: goOn(unrung(world), hand, news()) }];
      const isDue = at.until !== undefined && at.until <= world.now;
      return isDue ? [{ label: `${label} by its timer`, to: goOn(world, hand, news()) }] : [];
    }
  }
}

/** Nobody sends who hasn't beaten since the book was away; and who beats sees that it has gone back. */
function isKeptBack({ isBehind }: World, { beatsFirst }: Protocol): boolean {
  return isBehind && beatsFirst;
}

/** A turn's effect on the world, whoever takes it. */
export function takeTurn(world: World, input: Input, told: number, { protocol }: Explored) {
  const stamp = world.stamp + 1;
  const isCompared = !isKeptBack(world, protocol);
  const turned = turn(world.book, input, { now: world.now, stamp, told, isCompared, protocol });
  const broken: Rule[] = [];
  if (turned.decided.length > 0 && canLeave(world, protocol)) broken.push('decided');
  const cameInDoubt = turned.book.row.phase.kind === 'searching' && world.book.row.phase.kind === 'sending';
  if (cameInDoubt && isUnread(world)) broken.push('doubt');
  let to: World = { ...world, stamp, book: turned.book };
  for (const what of turned.decided) {
    const { told: _, ...rest } = to;
    to = { ...rest, isUnlooked: false, toResend: to.toResend + (what === 'resend' ? 1 : 0) };
  }
  if (turned.ended === undefined) return { to, turned, broken };
  const differs = to.told !== undefined && to.told !== turned.ended;
  if (differs) broken.push('told');
  return { to: { ...to, told: turned.ended }, turned, broken };
}

/** Reports whether a request may still leave that was decided before. */
function canLeave({ hands, now }: World, { mayLeave }: Protocol): boolean {
  return hands.some(({ at }) => at.kind === 'post' && mayLeave(at, now));
}

/** Reports whether the attempt's fence was written by a hand that hasn't read the list yet. */
function isUnread({ book, hands }: World): boolean {
  const { attempt } = book.row;
  const fence = book.fences.find((one) => one.attempt === attempt);
  return hands.some(({ id, at }) => at.kind === 'list' && fence?.by === id && !fence.isAfterList);
}

function turns(world: World, hand: Hand, at: Extract<At, { kind: 'turn' }>, explored: Explored): Move[] {
  const { protocol } = explored;
  const label = `${nameOf(hand)} takes a turn (${wordsOf(at.input)})`;
  const { row } = world.book;
  if (!protocol.locksRow && at.read === undefined) {
    return [{ label: `${nameOf(hand)} reads the row for a turn`, to: goOn(world, hand, { ...at, read: row }) }];
  }
  try {
    const read = { ...world, book: { ...world.book, row: at.read ?? row } };
    const { to, turned, broken } = takeTurn(read, at.input, hand.told, explored);
    const next = { ...hand, told: turned.book.row.version, input: at.input };
    const { phase } = turned.book.row;
    const words = `${label}: ${phase.kind === 'ended' ? phase.as : phase.kind}`;
    const follows = follow(turned.todo, turned.token, protocol);
    const isOver = hand.isGivenUp && follows?.kind !== 'ask';
    const moves: Move[] = [
      {
        label: words,
        to: withHand(to, hand, follows && !isOver ? { ...next, at: follows } : undefined),
        broken,
      },
    ];
    if (world.left.lostCommits > 0) {
      const lost = spend(withHand(to, hand, { ...hand, input: at.input }), 'lostCommits');
      moves.push({ label: `${words}, and doesn't hear of it`, to: lost, broken });
    }
    if (!protocol.tellsAfterCommit && turned.ended !== undefined && !at.hasTold) {
      const told = { ...world, told: turned.ended };
      const early = goOn(told, hand, { ...at, hasTold: true });
      moves.push({ label: `${nameOf(hand)} says ${turned.ended}, and has yet to commit it`, to: early });
    }
    return moves;
  } catch (error) {
    if (!(error instanceof NotAsked)) throw error;
    return [{ label: `${label}: ${error.message}`, to: world, broken: ['asked'] }];
  }
}

function wordsOf(input: Input): string {
  return input.kind === 'done' ? input.done.kind : input.kind;
}

/** What a hand does after a turn; nothing after the last. */
function follow(todo: Todo, token: number | undefined, { reads }: Protocol): At | undefined {
  switch (todo.kind) {
    case 'ask':
      return token === undefined ? undefined : { kind: 'ask', question: todo.question, token };
    case 'send': {
      if (token === undefined) return undefined;
      const { attempt } = todo;
      return reads === 'beforeFence'
        ? { kind: 'list', attempt, token }
        : { kind: 'fence', attempt, token, listedAt: Number.NaN };
    }
    case 'wait':
      return { kind: 'lookAtBell', until: todo.until };
    case 'end':
      return undefined;
  }
}

/** Asks the provider, unless the question is the row's no longer. */
function asks(world: World, hand: Hand, at: Extract<At, { kind: 'ask' }>, { protocol }: Explored): Move[] {
  const { now, book } = world;
  const { question, token } = at;
  if (!protocol.isAwaited(book.row, token)) {
    return [{ label: `${nameOf(hand)} doesn't ask: the row has moved on`, to: goOn(world, hand, news()) }];
  }
  if (question === 'list') {
    const isShown = world.transactions.some(({ listedFrom }) => listedFrom <= now);
    const to = goOn(world, hand, done(token, { kind: 'list', isShown, at: now }));
    return [{ label: `${nameOf(hand)} reads the list: ${isShown ? 'it is there' : 'nothing'}`, to }];
  }
  const [transaction] = world.transactions;
  if (transaction === undefined) return [{ label: `${nameOf(hand)} asks about nothing`, to: world, broken: ['asked'] }];
  const answered = (status: Transaction['status'], from: World): Move => {
    const transactions = from.transactions.map((one) => ({ ...one, status }));
    const to = goOn({ ...from, transactions }, hand, done(token, { kind: 'status', status, at: now }));
    return { label: `${nameOf(hand)} asks for the status: ${status}`, to };
  };
  if (transaction.status !== 'pending') return [answered(transaction.status, world)];
  return [
    answered('succeeded', world),
    ...troubled(world, ['pending', 'fails'], (trouble, from) =>
      answered(trouble === 'pending' ? 'pending' : 'failed', from),
    ),
  ];

  function troubled(from: World, kinds: readonly Trouble[], make: (kind: Trouble, from: World) => Move): Move[] {
    return from.left.troubles === 0 ? [] : kinds.map((kind) => make(kind, spend(from, 'troubles')));
  }
}
