import type { Input } from './book.js';
import { addHand, type Explored } from './hand.js';
import { takeTurn } from './hand-moves.js';
import type { MessageKind } from './payment.js';
import { writeGap, writeMessage } from './transactions.js';
import { type At, type Hand, type Move, spend, type World } from './world.js';

/** Lists what may happen around the hands: the API, the keeper, time, and faults. */
export function surroundings(world: World, explored: Explored): Move[] {
  return [
    ...beats(world, explored),
    ...api(world, explored),
    ...keeper(world),
    ...time(world),
    ...losses(world, explored),
    ...forgeries(world),
    ...restores(world, explored),
  ];
}

/** Whoever beats first after the book has gone back finds it older than Temporal, and records that. */
export function beats(world: World, { protocol }: Explored): Move[] {
  if (!world.isBehind) return [];
  const to = { ...world, isBehind: false, book: writeGap(world.book, world.now, protocol) };
  return [{ label: 'a process beats, and finds the book older than Temporal', to }];
}

function api(world: World, explored: Explored): Move[] {
  const { protocol, setting } = explored;
  if (world.api === undefined) {
    if (world.left.messages === 0) return [];
    return (setting.messages ?? []).flatMap((kind) => (isSensible(world, kind) ? [write(world, kind, explored)] : []));
  }
  const { api: _, ...rest } = world;
  const moves: Move[] = [{ label: 'the API rings', to: ring(rest) }];
  const mayTurn = world.api === 'wrote' && world.book.row.asked === undefined;
  if (mayTurn) {
    const { to, turned, broken } = takeTurn(world, { kind: 'news' }, 0, explored);
    const { phase } = turned.book.row;
    moves.push({ label: `the API takes a turn itself: ${phase.kind}`, to: { ...to, api: 'turned' }, broken });
    if (!protocol.tellsAfterCommit && turned.ended !== undefined) {
      const told = { ...rest, told: turned.ended };
      moves.push({ label: `the API says ${turned.ended}, and dies before it commits that`, to: told });
    }
  }
  if (world.left.losses > 0) moves.push({ label: 'the API dies before it rings', to: spend(rest, 'losses') });
  return moves;
}

/** A decision is made on a review alone, and an approval is given to what waits for one. */
function isSensible({ book }: World, kind: MessageKind): boolean {
  const { phase } = book.row;
  if (kind === 'resend' || kind === 'fail') return phase.kind === 'review';
  return true;
}

function write(world: World, kind: MessageKind, { protocol }: Explored): Move {
  const book = writeMessage(world.book, kind, world.now, protocol);
  return { label: `somebody asks: ${kind}`, to: spend({ ...world, book, api: 'wrote' }, 'messages') };
}

/** A signal; with the start of a run, if there is none. */
function ring(world: World): World {
  if (world.hands.some(({ isGivenUp }) => !isGivenUp)) return { ...world, isRung: true };
  return begin(world) ?? world;
}

function begin(world: World): World | undefined {
  return addHand(world, { at: { kind: 'turn', input: { kind: 'begin' } }, told: 0, input: { kind: 'begin' } });
}

/** The keeper rings what was due a tick ago. */
export function keeper(world: World): Move[] {
  const { wakeAt } = world.book.row;
  if (wakeAt === undefined || wakeAt >= world.now || world.isRung) return [];
  return [{ label: 'the keeper rings', to: ring(world) }];
}

function time(world: World): Move[] {
  if (world.left.ticks === 0) return [];
  return [{ label: 'time passes', to: spend({ ...world, now: world.now + 1 }, 'ticks') }];
}

/** A worker is lost, and another goes on from what Temporal has of it; or the run is reset, or begun anew. */
function losses(world: World, { setting }: Explored): Move[] {
  if (world.left.losses === 0) return [];
  const lost = world.hands.flatMap((hand): Move[] => {
    if (hand.isGivenUp || isResting(hand)) return [];
    const to = addHand(givenUp(world), { ...hand, at: again(hand) });
    return to === undefined
      ? []
      : [{ label: `hand ${hand.id} is given up, and another goes on`, to: spend(to, 'losses') }];
  });
  const begun = begin(setting.isDoubled ? world : givenUp(world));
  return begun === undefined ? lost : [...lost, { label: 'a run begins', to: spend(begun, 'losses') }];
}

/** Somebody completes the activity that sends, as if it had sent nothing; whoever carries it out doesn't know. */
function forgeries(world: World): Move[] {
  if (world.left.forgeries === 0) return [];
  return world.hands.flatMap((hand): Move[] => {
    const { at } = hand;
    const isSending = at.kind === 'list' || at.kind === 'fence' || at.kind === 'post' || at.kind === 'posted';
    if (!isSending || hand.isGivenUp) return [];
    const input: Input = { kind: 'done', token: at.token, done: { kind: 'told' } };
    const to = addHand(givenUp(world), { ...hand, at: { kind: 'turn', input } });
    const label = `somebody says that hand ${hand.id} has sent nothing`;
    return to === undefined ? [] : [{ label, to: spend(to, 'forgeries') }];
  });
}

/** Hands that sleep hold nothing: they are gone. */
function givenUp(world: World): World {
  const hands = world.hands.flatMap((hand) => (isResting(hand) ? [] : [{ ...hand, isGivenUp: true } as const]));
  return { ...world, hands };
}

function isResting({ at }: Hand): boolean {
  return at.kind === 'asleep' || at.kind === 'lookAtBell' || at.kind === 'setTimer';
}

/** What the workflow does when the worker of a hand was lost: a send is doubted, anything else is repeated. */
function again({ at, input }: Hand): At {
  switch (at.kind) {
    case 'list':
    case 'fence':
    case 'post':
    case 'posted':
      return { kind: 'turn', input: { kind: 'done', token: at.token, done: { kind: 'doubted' } } };
    case 'turn':
      return { kind: 'turn', input: at.input };
    default:
      return { kind: 'turn', input };
  }
}

/** Both stores are copied, and each may go back to its copy. It is away for a while then. */
function restores(world: World, { setting }: Explored): Move[] {
  const moves: Move[] = [];
  const { copy, left } = world;
  if (left.copies > 0) {
    const to = { ...world, copy: { book: world.book, hands: world.hands } };
    moves.push({ label: 'both stores are copied', to: spend(to, 'copies') });
  }
  if (copy === undefined) return moves;
  const later = { ...world, now: world.now + 1 };
  const hasRun = world.hands.some(({ isGivenUp }) => !isGivenUp);
  if (left.bookBack > 0 && (hasRun || !setting.hasRun)) {
    const back = {
      ...later,
      book: copy.book,
      isBehind: setting.isUnseen !== true,
      isUnlooked: copy.book !== world.book,
    };
    moves.push({ label: 'the book goes back to its copy', to: spend(back, 'bookBack') });
  }
  if (left.temporalBack > 0) {
    const woken = copy.hands.reduce<World | undefined>(
      (before, hand) => before && addHand(before, { ...hand, at: dispatched(hand) }),
      later,
    );
    if (woken !== undefined) moves.push({ label: 'Temporal goes back to its copy', to: spend(woken, 'temporalBack') });
  }
  return moves;
}

/** Temporal hands out again what it doesn't know to be done: a send, too. */
function dispatched({ at, input }: Hand): At {
  switch (at.kind) {
    case 'list':
    case 'fence':
    case 'post':
    case 'posted':
      return { kind: 'list', attempt: at.attempt, token: at.token };
    case 'ask':
      return { kind: 'turn', input };
    default:
      return at;
  }
}
