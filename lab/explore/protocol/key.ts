import type { Book, Input, Token } from './book.js';
import type { Protocol } from './protocol.js';
import type { At, Hand, World } from './world.js';

/**
 * Names a world: times are relative to now, hands have no order, and of tokens and versions only what can be compared
 * is left.
 */
export function keyOf(world: World, protocol: Protocol): string {
  const { now, book, hands, copy, api, told, transactions, left } = world;
  const name = (token: Token) => nameOf(token, world, protocol);
  const text = [
    bookText(book, world, name),
    hands
      .map((one) => handText(one, world, name))
      .sort()
      .join('/'),
    copy === undefined
      ? ''
      : `${bookText(copy.book, world, name)}/${copy.hands.map((one) => handText(one, world, name)).sort()}`,
    transactions.map(({ listedFrom, status }) => `${Math.max(0, listedFrom - now)}${status}`).join(),
    `${api ?? ''},${told ?? ''},${world.toResend}`,
    [world.isRung, world.isUnknown, world.isBehind, world.isUnlooked].map(Number).join(''),
    Object.values(left).join(),
  ];
  return text.join('|');
}

/** A token is compared with the row's, now or after the book has gone back. */
function nameOf(token: Token, { book, copy }: World, { tokenFor }: Protocol): string {
  // Tokens that are numbered may come again.
  if (tokenFor(1, 0) !== 0) return String(token - book.row.version);
  if (token === book.row.asked) return '=';
  return token === copy?.book.row.asked ? 'c' : 'x';
}

function bookText({ row, fences, inbox, gap }: Book, world: World, name: (token: Token) => string): string {
  const { now } = world;
  const { phase, attempt, reviews, isSentOver, asked, wakeAt } = row;
  const times = 'until' in phase ? Math.max(0, phase.until - now) : '';
  const words =
    phase.kind === 'searching'
      ? `${phase.onSilence}${Math.max(-1, phase.since - now)}`
      : phase.kind === 'ended'
        ? phase.as
        : '';
  const due = wakeAt === undefined ? '-' : Math.max(-1, wakeAt - now);
  return [
    `${phase.kind}${times}${words},${attempt},${reviews},${Number(isSentOver)},${asked === undefined ? '' : name(asked)},${due},${gap}`,
    fences
      .map((one) => {
        const by = world.hands.some(({ id }) => id === one.by) ? 'h' : '-';
        return `${one.attempt}${by}${Number(one.isAfterList)}${Math.max(-1, one.leavesBy - now)}${one.outcome ?? ''}${Number(one.isTaken)}`;
      })
      .join(),
    inbox
      .filter(({ reply }) => reply === undefined)
      .map(({ kind, review }) => `${kind}${review}`)
      .join(),
  ].join(';');
}

function handText({ id, at, told, input, isGivenUp }: Hand, world: World, name: (token: Token) => string): string {
  const { book, copy } = world;
  const own = [...book.fences, ...(copy?.book.fences ?? [])]
    .filter(({ by }) => by === id)
    .map(({ attempt }) => attempt);
  const ahead = [book, copy?.book].map((one) => (one?.gap === 'none' ? Math.max(0, told - one.row.version) : 0));
  const repeated = at.kind === 'ask' && world.left.losses > 0 ? inputText(input, world.now, name) : '';
  return `${atText(at, world.now, name)}${own}${ahead.join()}${Number(isGivenUp ?? false)}${repeated}`;
}

function atText(at: At, now: number, name: (token: Token) => string): string {
  switch (at.kind) {
    case 'turn':
      return `t${inputText(at.input, now, name)}${Number(at.hasTold ?? false)}${at.read === undefined ? '' : `r${at.read.phase.kind}${at.read.attempt}${name(at.read.asked ?? 0)}`}`;
    case 'ask':
      return `a${at.question}${name(at.token)}`;
    case 'list':
      return `l${at.attempt}${name(at.token)}`;
    case 'fence':
      return `f${at.attempt}${name(at.token)}${at.listedAt === now ? 0 : 1}`;
    case 'post':
      return `p${at.attempt}${name(at.token)}${Math.max(-1, at.leavesBy - now)}`;
    case 'posted':
      return `o${at.attempt}${name(at.token)}${at.outcome}`;
    default:
      return `${at.kind[0]}${at.kind.length}${at.until === undefined ? '-' : Math.max(0, at.until - now)}`;
  }
}

function inputText(input: Input, now: number, name: (token: Token) => string): string {
  if (input.kind !== 'done') return input.kind;
  const { done } = input;
  const at = 'at' in done ? done.at - now : '';
  const what = done.kind === 'list' ? Number(done.isShown) : done.kind === 'status' ? done.status : '';
  return `${done.kind}${name(input.token)}${what}${at}`;
}
