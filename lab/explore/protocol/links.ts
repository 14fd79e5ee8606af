import type { SmallModel, WorldMove } from '../breadth-first.js';

/*
 * A link: API processes and a worker may each ask the provider for one, after they have written its fence. Making a
 * link moves no money; giving two away may.
 */

export interface LinkRules {
  /** An address is written into the row by whoever has the row's token, and by nobody else. */
  readonly asksForToken: boolean;
  /** Only whoever wrote an address into the row gives it out; anybody else has his own expired. */
  readonly givesWhatItWrote: boolean;
  /** Whoever finds an attempt whose time is over gives it up, and asks for another link. */
  readonly takesOver: boolean;
}

export const LINK_RULES: LinkRules = { asksForToken: true, givesWhatItWrote: true, takesOver: true };

const LINK_FAULTS = {
  two: 'a merchant is given one address',
  lost: 'an address that is not the row’s is expired by whoever made it',
  none: 'without further faults, a repeated request is given the address',
} as const;

/** A rule that is broken, and what has to be seen to come of it. */
export const LINK_MUTANTS = [
  {
    rule: "an address is written into the row only by whoever has the row's token",
    change: { asksForToken: false },
    breaks: LINK_FAULTS.two,
  },
  {
    rule: 'an address is given out only by whoever wrote it into the row',
    change: { givesWhatItWrote: false },
    breaks: LINK_FAULTS.two,
  },
  {
    rule: 'whoever finds an attempt whose time is over makes another link',
    change: { takesOver: false },
    breaks: LINK_FAULTS.none,
  },
] as const;

type At =
  | { readonly kind: 'look' }
  | { readonly kind: 'fence'; readonly attempt: number; readonly token: number }
  | { readonly kind: 'post'; readonly attempt: number; readonly token: number }
  | { readonly kind: 'write'; readonly token: number; readonly address: number };

interface LinkWorld {
  readonly now: number;
  readonly token: number;
  readonly attempt: number;
  readonly fences: readonly { readonly attempt: number; readonly leavesBy: number }[];
  readonly address?: number | undefined;
  readonly hands: readonly At[];
  /** Addresses that merchants were given, and those that were made and are expired. */
  readonly given: readonly number[];
  readonly expired: readonly number[];
  readonly made: number;
  readonly left: { readonly ticks: number; readonly requests: number };
}

/** The model of a link. */
export function linkModel(rules: LinkRules): SmallModel<LinkWorld> {
  const movesFrom = (world: LinkWorld) => moves(world, rules);
  return {
    begin: {
      now: 0,
      token: 1,
      attempt: 1,
      fences: [],
      hands: [{ kind: 'fence', attempt: 1, token: 1 }],
      given: [],
      expired: [],
      made: 0,
      left: { ticks: 2, requests: 3 },
    },
    movesFrom,
    brokenIn: (world) => [
      ...(new Set(world.given).size > 1 ? [LINK_FAULTS.two] : []),
      ...(isOrphaned(world) ? [LINK_FAULTS.lost] : []),
      ...(isStuck(world, rules) ? [LINK_FAULTS.none] : []),
    ],
    keyOf: (world) => JSON.stringify({ ...world, hands: world.hands.map((one) => JSON.stringify(one)).sort() }),
  };
}

function moves(world: LinkWorld, rules: LinkRules): WorldMove<LinkWorld>[] {
  const { left, hands } = world;
  const around: WorldMove<LinkWorld>[] = [];
  if (left.ticks > 0) {
    around.push({
      label: 'time passes',
      to: { ...world, now: world.now + 1, left: { ...left, ticks: left.ticks - 1 } },
    });
  }
  if (left.requests > 0 && hands.length < 3) {
    const to = {
      ...world,
      hands: [...hands, { kind: 'look' } as const],
      left: { ...left, requests: left.requests - 1 },
    };
    around.push({ label: 'the merchant repeats the request, or a worker begins', to });
  }
  return [...hands.flatMap((hand, index) => handMoves(world, hand, index, rules)), ...around];
}

function handMoves(world: LinkWorld, at: At, index: number, rules: LinkRules): WorldMove<LinkWorld>[] {
  const next = (from: LinkWorld, to?: At) => ({
    ...from,
    hands: from.hands.flatMap((one, other) => (other !== index ? [one] : to === undefined ? [] : [to])),
  });
  switch (at.kind) {
    case 'look': {
      if (world.address !== undefined) {
        const given = [...world.given, world.address];
        return [{ label: `it is given address ${world.address}, which the row has`, to: next({ ...world, given }) }];
      }
      return takeOver(world, next, rules);
    }
    case 'fence': {
      const { attempt, token } = at;
      const isMine = token === world.token && !world.fences.some((one) => one.attempt === attempt);
      if (!isMine) return [{ label: `attempt ${attempt} gets no fence`, to: next(world) }];
      const fences = [...world.fences, { attempt, leavesBy: world.now }];
      return [
        {
          label: `the fence of attempt ${attempt} is written`,
          to: next({ ...world, fences }, { ...at, kind: 'post' }),
        },
      ];
    }
    case 'post': {
      const address = world.made + 1;
      const to = next({ ...world, made: address }, { kind: 'write', token: at.token, address });
      return [{ label: `attempt ${at.attempt} makes address ${address}`, to }];
    }
    case 'write':
      return writeAddress(world, at, next, rules);
  }
}

/** Whoever finds no address closes the attempt that is under way, once its time is over, and makes another. */
function takeOver(
  world: LinkWorld,
  next: (from: LinkWorld, to?: At) => LinkWorld,
  { takesOver }: LinkRules,
): WorldMove<LinkWorld>[] {
  const fence = world.fences.find(({ attempt }) => attempt === world.attempt);
  if (fence !== undefined && fence.leavesBy >= world.now) return [];
  if (!takesOver && fence !== undefined) return [];
  const [attempt, token] = [world.attempt + 1, world.token + 1];
  const closed = { ...world, attempt, token };
  return [{ label: `attempt ${world.attempt} is given up`, to: next(closed, { kind: 'fence', attempt, token }) }];
}

function writeAddress(
  world: LinkWorld,
  { token, address }: Extract<At, { kind: 'write' }>,
  next: (from: LinkWorld, to?: At) => LinkWorld,
  { asksForToken, givesWhatItWrote }: LinkRules,
): WorldMove<LinkWorld>[] {
  const mayWrite = !asksForToken || token === world.token;
  const written = mayWrite ? { ...world, address } : world;
  if (mayWrite || !givesWhatItWrote) {
    const to = next({ ...written, given: [...world.given, address] });
    return [{ label: `address ${address} is ${mayWrite ? 'written, and ' : ''}given out`, to }];
  }
  const to = next({ ...world, expired: [...world.expired, address] });
  return [{ label: `address ${address} is not the row's, and is expired`, to }];
}

/** An address was made that the row doesn't have, that nobody was given or holds, and that can be paid. */
function isOrphaned({ made, hands, expired, given, address }: LinkWorld): boolean {
  const held = hands.flatMap((hand) => (hand.kind === 'write' ? [hand.address] : []));
  return Array.from({ length: made }, (_, index) => index + 1).some(
    (one) => one !== address && !held.includes(one) && !given.includes(one) && !expired.includes(one),
  );
}

/** All hands are lost, and one request is made again, long after. */
function isStuck(world: LinkWorld, rules: LinkRules): boolean {
  let now: LinkWorld = { ...world, hands: [{ kind: 'look' }], now: world.now + 10, left: { ticks: 0, requests: 0 } };
  for (let move = 0; move < 6; move++) {
    const [first] = moves(now, rules);
    if (first === undefined) break;
    now = first.to;
  }
  return now.given.length === world.given.length;
}
