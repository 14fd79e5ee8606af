import type {
  CountedRefund,
  RefundReading,
  reserveRefund,
  START_WITHIN_MS,
  standingOf,
} from '../../src/payments/machine/refunds.js';
import type { PaymentId, TransId } from '../../src/payments/words/payment-id.js';
import { openPayment, type PaymentState } from '../../src/payments/words/payment-state.js';
import { HOUR_MS, SECOND_MS } from '../../src/payments/words/time.js';
import { type BrokenStory, type Visits, visitAll } from './breadth-first.js';
import { pick, randomOf } from './random.js';
import { orderOf, SHORT_TERMS } from './setting.js';

/*
 * The refunds of one collection, asked for by two API processes at once: the machine's own module of what is counted,
 * in every interleaving of readings, reservations and starts with each other, with what becomes of the payments, and
 * with faults. What a payment counts for is the exploration of payments' own rule.
 */

/** The module that is explored. */
export interface RefundModule {
  readonly reserveRefund: typeof reserveRefund;
  readonly START_WITHIN_MS: typeof START_WITHIN_MS;
  readonly standingOf: typeof standingOf;
}

/** The rules, checked after every step. */
const REFUND_RULES = {
  within:
    'what the refunds of a collection have moved, or may still move, is never more than was collected, unless the provider has turned what it called final',
  once: 'no refund starts a second time, even when Temporal has forgotten its first payment',
  room: 'a refund is refused for want of room only while the others count for so much',
  stands:
    'a refund is sent only while its collection stands, and has room for it beside all that others have moved, or may still move',
  withheld: 'a refund is withheld only when its collection has failed, or has too little left beside the others',
  merged: 'whatever a request has read newly of a refund is counted, even when the collection has forgotten it',
} as const;
type RefundRule = keyof typeof REFUND_RULES;

/** XAF that were collected. */
const COLLECTED = 100;

/** The requests that may be made: two that are one refund's, whose caller has changed its mind, and two more. */
const REQUESTS = [
  { refund: 0, amount: 60 },
  { refund: 0, amount: 100 },
  { refund: 1, amount: 50 },
  { refund: 2, amount: 40 },
] as const;
const REFUNDS = [0, 1, 2] as const;

const idOf = (refund: number) => `pay_${refund}` as PaymentId;

/**
 * A refund's payment. `held`: it waits, and nothing was sent; `checked`: an operator has decided that nothing moved,
 * and the day's checks are not over; `failed`: nothing moved, and nothing is checked any more; `turned`: what had
 * failed has moved after all.
 */
interface Payment {
  readonly amount: number;
  readonly kind: 'held' | 'open' | 'paid' | 'checked' | 'failed' | 'turned';
  /** Its transaction can move money, or has moved it. */
  readonly moves: boolean;
  /** Grows with each change but the end of the checks. */
  readonly asOf: number;
  /** Temporal has forgotten it; the records have it. */
  readonly isForgotten?: true;
}

/** A request in an API process; it begins at `since`. */
interface Request {
  readonly refund: number;
  readonly amount: number;
  readonly since: number;
  /** XAF that were collected when it began. */
  readonly collected: number;
  readonly readings: readonly RefundReading[];
  readonly isReserved?: true;
}

/** Numbers of events allowed in one story. */
interface Allowance {
  readonly requests: number;
  /** Times that time passes. */
  readonly times: number;
  /** Processes that die, answers that are lost, and reservations that are carried out late. */
  readonly losses: number;
  /** Payments and counts that Temporal forgets. */
  readonly forgotten: number;
  /** Payments that the provider has failed, and that have moved after all. */
  readonly turned: number;
  /** Times that the collection goes to another state. */
  readonly falls: number;
}

/** A collection's state; `collected` is in XAF. */
interface Collection {
  readonly is: 'paid' | 'reviewed' | 'failed';
  readonly collected: number;
}

interface World {
  readonly now: number;
  readonly collection: Collection;
  /** Refunds wait before they are sent; otherwise they are sent as they start. */
  readonly areHeld: boolean;
  readonly counted: readonly CountedRefund[];
  readonly payments: readonly (Payment | undefined)[];
  readonly processes: readonly (Request | undefined)[];
  /** Reservations whose process has given up, and that Temporal may still carry out. */
  readonly late: readonly Request[];
  readonly left: Allowance;
}

interface Move {
  readonly label: string;
  readonly to: World;
  readonly broken?: readonly RefundRule[];
}

const NOTHING: Allowance = { requests: 0, times: 0, losses: 0, forgotten: 0, turned: 0, falls: 0 };

const BEGIN: World = {
  now: 0,
  collection: { is: 'paid', collected: COLLECTED },
  areHeld: false,
  counted: [],
  payments: REFUNDS.map(() => undefined),
  processes: [undefined, undefined],
  late: [],
  left: { requests: 4, times: 2, losses: 2, forgotten: 1, turned: 1, falls: 0 },
};

/** Small worlds that are explored to their ends, before longer stories of all that may happen. */
const SETTINGS: readonly Partial<Allowance>[] = [
  { requests: 3 },
  { requests: 3, losses: 1 },
  { requests: 3, times: 1, losses: 1 },
  { requests: 3, times: 1, forgotten: 1 },
  { requests: 2, times: 1, forgotten: 2 },
  { requests: 2, times: 1, losses: 1, turned: 1 },
  { requests: 2, falls: 2 },
  { requests: 3, falls: 1, turned: 1 },
];

/** Lists what may happen next. */
function movesFrom(world: World, module: RefundModule): Move[] {
  return [
    ...world.processes.flatMap((request, process) =>
      request === undefined ? begins(world, process) : stepsOf(world, process, request, module),
    ),
    ...world.late.flatMap((request) => {
      const rest = { ...world, late: world.late.filter((one) => one !== request) };
      const { counted } = reserve(rest, request, module);
      return [{ label: `a reservation of ${nameOf(request)} is carried out late`, to: { ...rest, counted } }];
    }),
    ...world.payments.flatMap((payment, refund) =>
      payment === undefined ? [] : fates(world, refund, payment, module),
    ),
    ...falls(world),
    ...times(world),
    ...forgets(world),
  ];
}

function begins(world: World, process: number): Move[] {
  if (world.left.requests === 0 || world.collection.is !== 'paid') return [];
  const { collected } = world.collection;
  const readings = REFUNDS.flatMap((refund) => readingOf(world, refund) ?? []);
  return REQUESTS.map(({ refund, amount }) => ({
    label: `process ${process} is asked for ${nameOf({ refund, amount })}, and reads all`,
    to: spend(withRequest(world, process, { refund, amount, since: world.now, collected, readings }), 'requests'),
  }));
}

/** A process reads single payments later than the rest, reserves room, and starts the refund. */
function stepsOf(world: World, process: number, request: Request, module: RefundModule): Move[] {
  const who = `process ${process}`;
  const isDead: Move[] =
    world.left.losses === 0
      ? []
      : [{ label: `${who} dies`, to: spend(withRequest(world, process, undefined), 'losses') }];
  if (request.isReserved) return [start(world, process, request, module), ...isDead];
  const { counted, answer, broken } = reserve(world, request, module);
  const after = { ...world, counted };
  const reserved = answer === 'reserved' ? ({ ...request, isReserved: true } as const) : undefined;
  const reservation = `${who} reserves ${nameOf(request)}`;
  return [
    ...readsLater(world, process, request),
    { label: `${reservation}: ${answer}`, to: withRequest(after, process, reserved), broken },
    ...(world.left.losses === 0
      ? []
      : [
          {
            label: `${reservation}, and the answer is lost`,
            to: spend(withRequest(after, process, undefined), 'losses'),
            broken,
          },
          {
            label: `${reservation}, which Temporal does not take yet`,
            to: spend(withRequest({ ...world, late: [...world.late, request] }, process, undefined), 'losses'),
          },
        ]),
  ];
}

/** A process reads a payment that it had read, or tried to, before it has changed. */
function readsLater(world: World, process: number, request: Request): Move[] {
  return REFUNDS.flatMap((refund) => {
    const reading = readingOf(world, refund);
    const before = request.readings.find(({ id }) => id === idOf(refund));
    if (reading === undefined || JSON.stringify(reading) === JSON.stringify(before)) return [];
    const readings = [...request.readings.filter((one) => one !== before), reading];
    return {
      label: `process ${process} reads refund ${refund} later: ${wordsOf(reading)}`,
      to: withRequest(world, process, { ...request, readings }),
    };
  });
}

/** Starts a refund, in time; Temporal starts no second one under an id that it has. */
function start(world: World, process: number, request: Request, module: RefundModule): Move {
  const { refund, amount } = request;
  const label = `process ${process} starts ${nameOf(request)}`;
  const idle = withRequest(world, process, undefined);
  if (world.now > request.since + module.START_WITHIN_MS) return { label: `${label} too late, and does not`, to: idle };
  const before = world.payments[refund];
  if (before !== undefined && !before.isForgotten) return { label: `${label}, which has begun before`, to: idle };
  const payment: Payment = { amount, kind: world.areHeld ? 'held' : 'open', moves: true, asOf: 1 };
  return { label, to: withPayment(idle, refund, payment), broken: before === undefined ? [] : ['once'] };
}

function reserve(world: World, request: Request, { reserveRefund: reserveIn }: RefundModule) {
  const { refund, amount, collected, readings, since: readAt } = request;
  const id = idOf(refund);
  const { refunds: counted, answer } = reserveIn(world.counted, { id, amount, collected, readings, readAt }, world.now);
  const broken: RefundRule[] = [];
  if (answer.kind === 'noRoom' && mostOf(world, request) + amount <= collected) broken.push('room');
  if (readings.some((reading) => isLeftOut(world, counted, reading))) broken.push('merged');
  return { counted, answer: answer.kind, broken };
}

/** The most that other refunds count for by any of their states that the collection or the request may know, in XAF. */
function mostOf(world: World, { refund, amount, readings, since }: Request): number {
  const others = REFUNDS.filter((one) => one !== refund).map((one) => {
    const known = [...world.counted, ...readings].flatMap((about) =>
      about.id === idOf(one) && about.kind !== 'none' && !isOver(about, readings, since) ? [about] : [],
    );
    const latest = known.filter(({ kind }) => kind === 'known').sort(newestFirst)[0];
    return latest?.amount ?? Math.max(0, ...known.map((about) => about.amount));
  });
  const own = world.counted.find(({ id }) => id === idOf(refund))?.amount ?? 0;
  return others.reduce((sum, one) => sum + one, 0) + Math.max(0, own - amount);
}

type Known = { readonly kind: string; readonly amount: number; readonly asOf?: number };

function newestFirst(one: Known, other: Known): number {
  return (other.asOf ?? 0) - (one.asOf ?? 0) || one.amount - other.amount;
}

/** Reports whether a reservation has come to nothing: there was no payment an hour after it. */
function isOver(
  about: Known & { readonly id: PaymentId; readonly at?: number },
  readings: readonly RefundReading[],
  readAt: number,
): boolean {
  const isRead = readings.some(({ id, kind }) => id === about.id && kind === 'none');
  return about.kind === 'reserved' && isRead && readAt >= (about.at ?? 0) + HOUR_MS;
}

/** Reports whether a reading of a payment as it is now is not what is counted afterwards. */
function isLeftOut(world: World, counted: readonly CountedRefund[], reading: RefundReading): boolean {
  if (reading.kind === 'none') return false;
  const now = REFUNDS.find((refund) => idOf(refund) === reading.id);
  const payment = now === undefined ? undefined : world.payments[now];
  if (payment?.asOf !== reading.asOf || countOf(payment) !== reading.amount) return false;
  const after = counted.find(({ id }) => id === reading.id);
  return after?.kind !== 'known' || after.amount !== reading.amount;
}

/** What becomes of a refund's payment. */
function fates(world: World, refund: number, payment: Payment, module: RefundModule): Move[] {
  const become = (label: string, change: Partial<Payment>, asOf = payment.asOf + 1): Move => ({
    label: `refund ${refund} ${label}`,
    to: withPayment(world, refund, { ...payment, ...change, asOf }),
  });
  switch (payment.kind) {
    case 'held':
      return send(world, refund, payment, module);
    case 'open':
      return [
        // It counts as before, but now Temporal may forget it.
        ...(world.left.forgotten > 0 ? [become('is paid', { kind: 'paid' })] : []),
        become('is failed by the provider', { kind: 'failed', moves: false }),
        become('was not sent, as an operator decides', { kind: 'checked', moves: false }),
      ];
    case 'checked':
      return [become('has no check left', { kind: 'failed' }, payment.asOf)];
    case 'failed':
      return world.left.turned === 0
        ? []
        : [{ ...become('has moved after all', { kind: 'turned', moves: true }) }].map(({ label, to }) => ({
            label,
            to: spend(to, 'turned'),
          }));
    default:
      return [];
  }
}

/** Sends a refund that has waited, if the collection stands as it is read now. */
function send(world: World, refund: number, payment: Payment, { standingOf: standingIn }: RefundModule): Move[] {
  const { is, collected } = world.collection;
  const others = world.payments.filter((_, other) => other !== refund);
  const counted = others.reduce((sum, one) => sum + (one === undefined ? 0 : countOf(one)), 0);
  const standing = standingIn(collectionIn(world), payment.amount, counted);
  const label = `refund ${refund} is to be sent, and its collection is ${is}, with ${collected} XAF: ${standing.kind}`;
  // It is tried again.
  if (standing.kind === 'doubtful') return [];
  const isRight = is === 'paid' && counted + payment.amount <= collected;
  const asOf = payment.asOf + 1;
  if (standing.kind === 'stands') {
    const to = withPayment(world, refund, { ...payment, kind: 'open', asOf });
    return [{ label, to, broken: isRight ? [] : ['stands'] }];
  }
  const to = withPayment(world, refund, { ...payment, kind: 'failed', moves: false, asOf });
  return [{ label, to, broken: isRight || is === 'reviewed' ? ['withheld'] : [] }];
}

/** The collection's payment, as its refunds are sent by it. */
function collectionIn({ collection: { is, collected } }: World): PaymentState {
  const opened = openPayment({ ...orderOf('direct'), amount: COLLECTED }, SHORT_TERMS, 0);
  const transId = 'T1' as TransId;
  const phases = {
    paid: { kind: 'ended', status: 'SUCCESSFUL', transId, checks: [] },
    failed: { kind: 'ended', status: 'FAILED', failureCode: 'failed_at_provider', transId, checks: [] },
    reviewed: { kind: 'review', number: 1, why: 'contradicted', since: 0, held: true },
  } as const;
  return { ...opened, phase: phases[is], facts: { amountPaid: collected } };
}

/** The provider contradicts the collection, or a person decides what has become of it. */
function falls(world: World): Move[] {
  const { collection, left } = world;
  if (left.falls === 0) return [];
  const become = (label: string, change: Partial<Collection>): Move => ({
    label: `the collection ${label}`,
    to: spend({ ...world, collection: { ...collection, ...change } }, 'falls'),
  });
  switch (collection.is) {
    case 'paid':
      return [
        become('is under review', { is: 'reviewed' }),
        become('is corrected to less', { collected: 70 }),
        become('has failed', { is: 'failed' }),
      ];
    case 'reviewed':
      return [become('stands after all', { is: 'paid' }), become('has failed', { is: 'failed' })];
    case 'failed':
      return [];
  }
}

/** Time passes: a moment, until a start comes too late, or until a reservation is over. */
function times(world: World): Move[] {
  if (world.left.times === 0) return [];
  return [30 * SECOND_MS, HOUR_MS].map((ms) => ({
    label: `${ms / SECOND_MS} s pass`,
    to: spend({ ...world, now: world.now + ms }, 'times'),
  }));
}

/** Temporal forgets a payment that has ended, or what was counted, long after the last request. */
function forgets(world: World): Move[] {
  const isIdle = world.processes.every((request) => request === undefined);
  if (world.left.forgotten === 0 || !isIdle) return [];
  const all =
    world.counted.length === 0
      ? []
      : [{ label: 'Temporal forgets what was counted', to: spend({ ...world, counted: [] }, 'forgotten') }];
  const ended = world.payments.flatMap((payment, refund): Move[] =>
    payment === undefined ||
    payment.isForgotten ||
    payment.kind === 'held' ||
    payment.kind === 'open' ||
    payment.kind === 'checked'
      ? []
      : [
          {
            label: `Temporal forgets refund ${refund}`,
            to: spend(withPayment(world, refund, { ...payment, isForgotten: true }), 'forgotten'),
          },
        ],
  );
  return [...all, ...ended];
}

/** Reads a refund: its payment, from Temporal or the records, or that there is none of what is counted. */
function readingOf({ payments, counted }: World, refund: number): RefundReading | undefined {
  const id = idOf(refund);
  const payment = payments[refund];
  if (payment !== undefined) return { kind: 'known', id, amount: countOf(payment), asOf: payment.asOf };
  return counted.some((one) => one.id === id) ? { kind: 'none', id } : undefined;
}

/** A payment counts until it has ended without money, with nothing left to check; in XAF. */
function countOf({ kind, amount }: Payment): number {
  return kind === 'failed' ? 0 : amount;
}

/** Lists the rules that a state breaks. */
function brokenIn({ payments, processes, now }: World, module: RefundModule): RefundRule[] {
  const moving = REFUNDS.map((refund) => {
    const payment = payments[refund];
    if (payment !== undefined) return payment.moves && payment.kind !== 'turned' ? payment.amount : 0;
    const starting = processes.flatMap((request) =>
      request?.isReserved && request.refund === refund && now <= request.since + module.START_WITHIN_MS
        ? [request.amount]
        : [],
    );
    return Math.max(0, ...starting);
  });
  return moving.reduce((sum, one) => sum + one, 0) > COLLECTED ? ['within'] : [];
}

function withRequest(world: World, process: number, request: Request | undefined): World {
  return { ...world, processes: world.processes.map((one, index) => (index === process ? request : one)) };
}

function withPayment(world: World, refund: number, payment: Payment): World {
  return { ...world, payments: world.payments.map((one, index) => (index === refund ? payment : one)) };
}

function spend(world: World, what: keyof World['left']): World {
  return { ...world, left: { ...world.left, [what]: world.left[what] - 1 } };
}

function nameOf({ refund, amount }: { readonly refund: number; readonly amount: number }): string {
  return `refund ${refund} of ${amount} XAF`;
}

function wordsOf(reading: RefundReading): string {
  return reading.kind === 'none' ? 'it has no payment' : `it counts for ${reading.amount} XAF`;
}

/** The exploration's result: what was visited, and the shortest story that breaks a rule. */
export interface RefundExploration {
  readonly states: number;
  /** Longer stories that were told at random. */
  readonly walks: number;
  readonly broken: readonly BrokenStory[];
}

interface Visit {
  readonly world: World;
  readonly label: string;
  readonly from?: Visit;
}

/**
 * Explores all stories of small worlds, the shortest first, until a rule is broken or so many states of each were
 * visited; then tells longer stories at random.
 */
export function exploreRefunds(
  module: RefundModule,
  { states, walks, seed = 1 }: { readonly states: number; readonly walks: number; readonly seed?: number },
): RefundExploration {
  let visited = 0;
  for (const setting of SETTINGS) {
    const explored = exploreWorld(module, beginWith({ ...NOTHING, ...setting }), states);
    visited += explored.states;
    if (explored.broken.length > 0) return { states: visited, walks: 0, broken: explored.broken };
  }
  const random = randomOf(seed);
  for (let walk = 1; walk <= walks; walk++) {
    const broken = tell(module, random);
    if (broken.length > 0) return { states: visited, walks: walk, broken };
  }
  return { states: visited, walks, broken: [] };
}

/** Where the collection may fall, refunds wait: it does so after their orders. */
function beginWith(left: Allowance): World {
  return { ...BEGIN, areHeld: left.falls > 0, left };
}

function exploreWorld(module: RefundModule, begin: World, states: number): Visits {
  return visitAll(
    {
      begin,
      movesFrom: (world) =>
        movesFrom(world, module).map(({ label, to, broken = [] }) => ({ label, to, broken: broken.map(inWords) })),
      brokenIn: (world) => brokenIn(world, module).map(inWords),
      keyOf,
    },
    states,
  );
}

const inWords = (rule: RefundRule) => REFUND_RULES[rule];

/** Tells one story at random, to its end or until a rule is broken. */
function tell(module: RefundModule, random: () => number): BrokenStory[] {
  const begin = random() < 0.5 ? BEGIN : beginWith({ ...BEGIN.left, falls: 2 });
  let visit: Visit = { world: begin, label: '' };
  for (let move = pick(movesFrom(begin, module), random); move !== undefined; ) {
    visit = { world: move.to, label: move.label, from: visit };
    const broken = foundBy(visit, move, module);
    if (broken.length > 0) return broken;
    move = pick(movesFrom(visit.world, module), random);
  }
  return [];
}

function foundBy(visit: Visit, { to, broken = [] }: Move, module: RefundModule): BrokenStory[] {
  const rules = [...broken, ...brokenIn(to, module)];
  return rules.map((rule) => ({ rule: inWords(rule), story: storyOf(visit) }));
}

/** Names a state; processes are alike, and neither the order of readings matters nor that of what is counted. */
function keyOf({ processes, counted, ...world }: World): string {
  const requests = processes.map((request) =>
    request === undefined ? '' : JSON.stringify({ ...request, readings: [...request.readings].sort(byId) }),
  );
  return JSON.stringify([world, requests.sort(), [...counted].sort(byId)]);
}

function byId({ id: one }: { readonly id: string }, { id: other }: { readonly id: string }): number {
  return one < other ? -1 : 1;
}

function storyOf(last: Visit): string[] {
  const story: string[] = [];
  for (let visit: Visit | undefined = last; visit?.from !== undefined; visit = visit.from) story.unshift(visit.label);
  return story;
}
