import { type LinkOperations, Links } from '../../src/engine/links.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { randomOf } from './random.js';

/*
 * The beginnings of payments by link: the API's own code (src/engine/links.ts) in two processes that handle one
 * Idempotency-Key, in every interleaving of their calls with each other and with faults.
 */

/** The rules, checked after every step. */
const BEGINNING_RULES = {
  heard: 'a notification that is acknowledged reaches a payment, or a person',
  oneLink:
    'no two links are given for one key that can be paid, unless Temporal and the process that made one have lost it',
  given: 'a link that somebody was given is not expired by the API',
  followed: 'the link of the payment that was begun is not expired by the API',
  stray:
    'a link that nobody was given and no payment has is expired, unless its process was lost, or its start may have been taken',
} as const;
type BeginningRule = keyof typeof BEGINNING_RULES;

/** Ways to get it wrong, which must be found out. */
interface BeginningMutant {
  readonly forgets?: boolean;
  readonly expiresNothing?: boolean;
  readonly wakesNothing?: boolean;
}

interface Link {
  readonly number: number;
  readonly body: string;
  readonly process: number;
  /** The life of its process in which it was made. */
  readonly life: number;
  isGiven: boolean;
  isLive: boolean;
}

/** A call that is under way: what may come of it, and what follows then. */
interface Call {
  readonly process: number;
  readonly life: number;
  readonly outcomes: readonly (() => void)[];
}

const ID = 'col_1' as PaymentId;
const AWAY = new Error('Temporal is away');

/** One story, determined by the choice at each step. */
class Story {
  readonly broken = new Set<BeginningRule>();
  #calls: Call[] = [];
  readonly #processes = [0, 1].map(() => ({ links: new Links<Link>(), life: 0 }));
  readonly #links: Link[] = [];
  /** The link that Temporal has a payment with. */
  #payment: Link | undefined;
  #isLost = false;
  readonly #left = { requests: 3, troubles: 1, crashes: 1, losses: 1, notifications: 1 };

  constructor(private readonly mutant: BeginningMutant) {}

  /** The moves that may come next. */
  moves(): (() => void)[] {
    const moves = this.#calls.flatMap((call) =>
      call.outcomes.map((outcome) => () => {
        this.#calls = this.#calls.filter((one) => one !== call);
        outcome();
      }),
    );
    for (const process of [0, 1]) {
      if (this.#left.requests > 0) moves.push(() => this.#request(process));
      if (this.#left.crashes > 0 && this.#calls.some((call) => call.process === process)) {
        moves.push(() => this.#crash(process));
      }
      if (this.#left.notifications > 0) {
        if (this.#links.some(({ isGiven }) => isGiven)) moves.push(() => this.#notify(process));
      }
    }
    if (this.#left.losses > 0 && this.#payment !== undefined) moves.push(() => this.#lose());
    return moves;
  }

  /** Checks what must hold at any time, and what must hold once nothing is under way. */
  check(): void {
    const payable = this.#links.filter(({ isGiven, isLive }) => isGiven && isLive);
    const isExcused = this.#isLost && new Set(payable.map(({ process, life }) => `${process}.${life}`)).size > 1;
    if (payable.length > 1 && !isExcused) this.broken.add('oneLink');
    if (this.#links.some(({ isGiven, isLive }) => isGiven && !isLive)) this.broken.add('given');
    if (this.#payment?.isLive === false) this.broken.add('followed');
    if (this.#calls.length > 0) return;
    const strays = this.#links.filter((link) => link.isLive && !link.isGiven && link !== this.#payment);
    const isCertain = this.#left.troubles > 0 && !this.#isLost;
    if (isCertain && strays.some(({ process, life }) => life === this.#processes[process]?.life)) {
      this.broken.add('stray');
    }
  }

  /** The first has another body than the others. */
  #request(process: number): void {
    const body = this.#left.requests-- === 3 ? 'one' : 'other';
    if (this.mutant.forgets) this.#restart(process, false);
    const links = this.#processes[process]?.links;
    const give = (link: Link) => {
      if (link.body === body) link.isGiven = true;
    };
    links?.open(ID, this.#world(process, body)).then(
      (opened) => give(opened.kind === 'found' ? opened.found : opened.made),
      () => undefined,
    );
  }

  #world(process: number, body: string): LinkOperations<Link, Link> {
    const life = this.#processes[process]?.life ?? 0;
    const call = <T>(answer: () => T, others: (() => T)[] = []) =>
      new Promise<T>((resolve, reject) => {
        const settle = (get: () => T) => () => {
          try {
            resolve(get());
          } catch (error) {
            reject(error);
          }
        };
        this.#calls.push({ process, life, outcomes: [answer, ...others].map(settle) });
      });
    const failing = (before: () => void = () => undefined) => {
      if (this.#left.troubles === 0) return [];
      return [
        (): never => {
          this.#left.troubles--;
          before();
          throw AWAY;
        },
      ];
    };
    const begin = (link: Link): boolean => {
      const isFirst = this.#payment === undefined;
      this.#payment ??= link;
      return isFirst;
    };
    return {
      isUnique: false,
      find: () => call(() => this.#payment, failing()),
      findStarted: () =>
        call(() => {
          if (this.#payment === undefined) throw AWAY;
          return this.#payment;
        }, failing()),
      ask: () =>
        call(() => {
          const link = { number: this.#links.length, body, process, life, isGiven: false, isLive: true };
          this.#links.push(link);
          return link;
        }),
      isLink: () => true,
      start: (link) => call(() => begin(link), [...failing(), ...failing(() => begin(link))]),
      mayHaveStarted: (error) => error === AWAY,
      isStartedWith: (found, made) => found === made,
      expire: (link) => {
        if (!this.mutant.expiresNothing) link.isLive = false;
      },
      pause: () => call(() => true),
    };
  }

  /** As src/engine/provider-notifications.ts does it: the link in memory first, then Temporal, then a person. */
  #notify(process: number): void {
    this.#left.notifications--;
    const { links } = this.#processes[process] ?? {};
    void links?.untilOpened(ID).then(() => {
      const made = links.takeForFirstHint(ID) ?? (this.#payment === undefined ? links.find(ID) : undefined);
      if (made !== undefined && !this.mutant.wakesNothing) this.#payment ??= made;
      // Without either, it is kept for a person.
      if (made !== undefined && this.#payment === undefined) this.broken.add('heard');
    });
  }

  #lose(): void {
    this.#left.losses--;
    this.#isLost = true;
    this.#payment = undefined;
  }

  #crash(process: number): void {
    this.#left.crashes--;
    this.#restart(process, true);
  }

  #restart(process: number, isCrash: boolean): void {
    const one = this.#processes[process];
    if (one === undefined) return;
    one.links = new Links();
    if (!isCrash) return;
    one.life++;
    this.#calls = this.#calls.filter((call) => call.process !== process);
  }
}

/** Counts of the exploration of how payments by link begin. */
interface Beginnings {
  readonly stories: number;
  /** The rules that were broken, in words. */
  readonly broken: readonly string[];
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Steps of a random story. */
const WALK_STEPS = 16;

/**
 * Tells all stories of up to a number of steps, each from its start, and then longer random ones. A step is the result
 * of a call, or another event.
 */
export async function exploreBeginnings(
  { steps, walks, seed = 1 }: { readonly steps: number; readonly walks: number; readonly seed?: number },
  mutant: BeginningMutant = {},
): Promise<Beginnings> {
  const broken = new Set<BeginningRule>();
  let stories = 0;
  const tell = async (story: Story, choose: (moves: number, step: number) => number | undefined) => {
    stories++;
    for (let step = 0; ; step++) {
      const moves = story.moves();
      const choice = choose(moves.length, step);
      if (choice === undefined) break;
      moves[choice]?.();
      await settled();
      story.check();
    }
    for (const rule of story.broken) broken.add(rule);
    return story.moves().length;
  };
  const open: number[][] = [[]];
  for (let choices = open.pop(); choices !== undefined && broken.size === 0; choices = open.pop()) {
    const told = choices;
    const moves = await tell(new Story(mutant), (_, step) => told[step]);
    if (told.length === steps) continue;
    for (let choice = 0; choice < moves; choice++) open.push([...told, choice]);
  }
  const random = randomOf(seed);
  for (let walk = 0; walk < walks && broken.size === 0; walk++) {
    await tell(new Story(mutant), (moves, step) =>
      moves === 0 || step === WALK_STEPS ? undefined : Math.floor(random() * moves),
    );
  }
  return { stories, broken: [...broken].map((rule) => BEGINNING_RULES[rule]) };
}
