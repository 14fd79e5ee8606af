import type { SmallModel, WorldMove } from '../breadth-first.js';
import type { File, Order, Ordered } from './book.js';
import { MONEY_RULES, type MoneyRules } from './rules.js';
import { approve, claim, endUnsent, fence, goBy, othersOf, settle, sum, withOrder } from './transactions.js';
import {
  beginIn,
  type Change,
  COLLECTED,
  type Fault,
  type MoneySetting,
  OWNERS,
  type Request,
  spend,
  type World,
} from './world.js';

interface Move extends WorldMove<World> {
  readonly broken?: readonly Fault[] | undefined;
}

/** The model of what counts for money, in a world; `only`: the rules to look for, instead of all. */
export function moneyModel(rules: MoneyRules, setting: MoneySetting, only?: readonly Fault[]): SmallModel<World> {
  const isWanted = (fault: Fault) => only?.includes(fault) ?? true;
  return {
    begin: beginIn(setting),
    movesFrom: (world) =>
      [
        ...claims(world, setting, rules),
        ...world.book.orders.flatMap((order, index) =>
          order === undefined ? [] : fates(world, order, index, setting, rules),
        ),
        ...falls(world),
        ...changes(world, setting),
        ...days(world),
      ].map((move) => ({ ...move, broken: move.broken?.filter(isWanted) })),
    brokenIn: (world) => untrue(world).filter(isWanted),
    keyOf: (world) => JSON.stringify(world),
  };
}

function claims(world: World, { orders }: MoneySetting, rules: MoneyRules): Move[] {
  const written = world.readings.flatMap((reading): Move[] => {
    if (reading.kind !== 'claim') return [];
    const rest = { ...world, readings: world.readings.filter((one) => one !== reading) };
    return [takeClaim(rest, reading.ordered, reading.others, rules)];
  });
  if (world.left.claims === 0) return written;
  const begun = orders.map((ordered): Move => {
    const spent = spend(world, 'claims');
    const others = othersOf(world.book, ordered.index, rules);
    if (rules.locksCollection) return takeClaim(spent, ordered, others, rules);
    const reading = { kind: 'claim', ordered, others } as const;
    const to = { ...spent, readings: [...spent.readings, reading] };
    return { label: `order ${ordered.index} of ${ordered.amount} looks for room`, to };
  });
  return [...written, ...begun];
}

function takeClaim(world: World, ordered: Ordered, others: number, rules: MoneyRules): Move {
  const { file, day, book } = world;
  const { index, amount } = ordered;
  const claimed = claim(book, ordered, { file, day, others }, rules);
  const first = world.first.map((one, at) => (at === index && claimed.answer === 'taken' ? (one ?? amount) : one));
  const to = { ...world, book: claimed.book, first };
  const taken = sum(claimed.book.orders.map((one) => (one?.isRefund ? MONEY_RULES.countsFor(one) : 0)));
  const isTooMuch = ordered.isRefund && claimed.answer === 'taken' && taken > book.collection.collected;
  return { label: `order ${index} of ${amount}: ${claimed.answer}`, to, broken: isTooMuch ? ['room'] : [] };
}

/** What may become of an order. */
function fates(world: World, order: Order, index: number, setting: MoneySetting, rules: MoneyRules): Move[] {
  const moves: Move[] = [];
  const { book, left } = world;
  if (rules.mayWithdraw(order)) {
    const withdrawn = { ...world, book: endUnsent(book, index) };
    moves.push({ label: `order ${index} is withdrawn`, to: withdrawn });
  }
  switch (order.phase) {
    case 'waiting':
      return [...moves, ...approvals(world, order, index, rules), ...fences(world, order, index, rules)];
    case 'fenced':
      return [...moves, ...answers(world, index, rules)];
    case 'doubt': {
      const shown = world.requests.flatMap((request, transaction) =>
        request.moved === 'yes' && (setting.isCareless || request.index === index) ? [transaction] : [],
      );
      if (shown.length === 0) {
        const to = { ...world, book: withOrder(book, index, { phase: 'review' }) };
        return [...moves, { label: `the list shows nothing of order ${index}`, to }];
      }
      const found = shown.map((transaction) => ({
        label: `the list shows transaction ${transaction} for order ${index}`,
        to: { ...world, book: goBy(book, index, transaction, rules) },
      }));
      return [...moves, ...found];
    }
    case 'review': {
      if (left.decisions === 0) return moves;
      const decided = spend(world, 'decisions');
      const again = withOrder(book, index, { phase: 'waiting' });
      return [
        ...moves,
        { label: `a person fails order ${index}`, to: { ...decided, book: endUnsent(book, index) } },
        { label: `a person sends order ${index} again`, to: { ...decided, book: again } },
      ];
    }
    default:
      return moves;
  }
}

function approvals(world: World, order: Order, index: number, rules: MoneyRules): Move[] {
  const { file, book } = world;
  if (order.approvedBy !== undefined) return [];
  return file.names.flatMap((name, key): Move[] => {
    if (name === undefined) return [];
    const approved = approve(book, index, key, file, rules);
    const label = `key ${key}, called ${name}, approves order ${index}`;
    if (approved !== undefined) return [{ label, to: { ...world, book: approved } }];
    const isMixed = book.people.some((one) => one.name === 'ben' && OWNERS[one.key] !== 'Ben');
    const isRefusedWrongly = OWNERS[key] === 'Ben' && !isMixed;
    return [{ label: `${label}: refused`, to: world, broken: isRefusedWrongly ? ['approver'] : [] }];
  });
}

/** A request's fence is written, if all allows it; under its day's lock, or else in two steps. */
function fences(world: World, order: Order, index: number, rules: MoneyRules): Move[] {
  const { book, day, file } = world;
  const left = book.days[rules.dayOf(day, order)] ?? 0;
  const reading = world.readings.find((one) => one.kind === 'fence' && one.index === index);
  if (!rules.locksDay && reading === undefined) {
    const to = { ...world, readings: [...world.readings, { kind: 'fence', index, left } as const] };
    return [{ label: `order ${index} looks what has left today`, to }];
  }
  const read = reading?.kind === 'fence' ? reading.left : left;
  const fenced = fence(book, index, { file, day, left: read }, rules);
  if (fenced === undefined) return [];
  const request: Request = { index, amount: order.amount, day, moved: 'open' };
  const readings = world.readings.filter((one) => one !== reading);
  const to = { ...world, book: fenced, readings, requests: [...world.requests, request] };
  return [{ label: `order ${index} of ${order.amount} leaves`, to, broken: brokenBy(world, order, index) }];
}

/** The rules that a request breaks which leaves now, by all that is so in truth. */
function brokenBy(
  { book, file, requests, day, first }: World,
  { amount, isRefund, by, approvedBy }: Order,
  index: number,
): Fault[] {
  const broken: Fault[] = [];
  const moving = requests.filter(({ moved }) => moved !== 'no');
  if (first[index] !== amount) broken.push('body');
  if (isRefund) {
    const others = moving.filter((one) => book.orders[one.index]?.isRefund);
    const total = sum(others.map((one) => one.amount)) + amount;
    if (book.collection.is !== 'paid' || total > book.collection.collected) broken.push('within');
  }
  const today = moving.filter((one) => one.day === day);
  if (sum(today.map((one) => one.amount)) + amount > file.limit) broken.push('day');
  const isOwn = approvedBy === undefined || OWNERS[approvedBy] === OWNERS[by];
  if (amount > file.approveAbove && isOwn) broken.push('person');
  if (!file.isThere) broken.push('there');
  return broken;
}

function answers(world: World, index: number, rules: MoneyRules): Move[] {
  const { book, left } = world;
  const latest = world.requests.findLastIndex((one) => one.index === index);
  const settled = (outcome: Parameters<typeof settle>[2], moved: 'yes' | 'no', from: World): Move => {
    const requests = from.requests.map((one, at) => (at === latest ? { ...one, moved } : one));
    const words = outcome === 'lost' ? `lost, and it has ${moved === 'yes' ? '' : 'not '}moved` : outcome;
    return {
      label: `the answer to order ${index}: ${words}`,
      to: { ...from, requests, book: settle(book, index, outcome, latest, rules) },
    };
  };
  const moves = [settled('accepted', 'yes', world)];
  if (left.troubles === 0) return moves;
  const from = spend(world, 'troubles');
  return [
    ...moves,
    settled('lost', 'yes', from),
    settled('lost', 'no', from),
    settled('rejected', 'no', from),
    settled('notSent', 'no', from),
  ];
}

function falls(world: World): Move[] {
  const { book, left } = world;
  if (left.falls === 0) return [];
  const become = (words: string, is: 'paid' | 'review' | 'failed', collected = book.collection.collected): Move => ({
    label: `the collection ${words}`,
    to: spend({ ...world, book: { ...book, collection: { is, collected } } }, 'falls'),
  });
  const { is, collected } = book.collection;
  if (is === 'failed') return [];
  const back = is === 'review' ? [become('stands after all', 'paid')] : [become('is under review', 'review')];
  const less = collected === COLLECTED ? [become('is corrected to less', 'paid', 70)] : [];
  return [...back, ...less, become('has failed', 'failed')];
}

function changes(world: World, { changes: allowed = [] }: MoneySetting): Move[] {
  if (world.left.changes === 0) return [];
  const { file, book } = world;
  const make = (label: string, change: Partial<File>): Move => ({
    label,
    to: spend({ ...world, file: { ...file, ...change } }, 'changes'),
  });
  const call = (label: string, key: number, name: string): Move => {
    const { to } = make(label, { names: file.names.map((one, other) => (other === key ? name : one)) });
    return { label, to: { ...to, book: { ...book, people: [...book.people, { key, name }] } } };
  };
  const moves: Record<Change, Move[]> = {
    limit: [make('the limit is lowered', { limit: file.limit / 2 })],
    approveAbove: [make('approvals are taken from 0 on', { approveAbove: 0 })],
    removed: [make('the merchant is removed', { isThere: false })],
    renamed: [0, 2].map((key) => call(`key ${key} is called ben`, key, 'ben')),
    // One that is added before the order passes for another's: the file says so.
    added: book.orders.some((order) => order !== undefined) ? [call('key 3 is added, called carl', 3, 'carl')] : [],
  };
  return allowed.flatMap((kind) => moves[kind]);
}

function days(world: World): Move[] {
  return world.left.days === 0 ? [] : [{ label: 'a day passes', to: spend({ ...world, day: world.day + 1 }, 'days') }];
}

/** What the book says against the truth. */
function untrue({ book, requests }: World): Fault[] {
  const faults: Fault[] = [];
  const moving = requests.filter(({ moved }) => moved !== 'no');
  book.orders.forEach((order, index) => {
    if (order === undefined) return;
    const own = moving.filter((one) => one.index === index);
    if (order.phase === 'unsent' && own.length > 0) faults.push('unsent');
    if (MONEY_RULES.countsFor(order) < sum(own.map(({ amount }) => amount))) faults.push('counts');
  });
  const paidBy = book.orders.flatMap((order) => (order?.paidBy === undefined ? [] : [order.paidBy]));
  if (new Set(paidBy).size < paidBy.length) faults.push('transaction');
  const isLess = book.days.some(
    (left, day) => left < sum(moving.filter((one) => one.day === day).map((one) => one.amount)),
  );
  const open = book.orders.flatMap((order) =>
    order === undefined ? [] : order.sentOn.map((day) => ({ day, ...order })),
  );
  const isOther = book.days.some(
    (left, day) => left !== sum(open.filter((one) => one.day === day).map((one) => one.amount)),
  );
  return isLess || isOther ? [...faults, 'audit'] : faults;
}
