import type { SmallModel, WorldMove } from '../breadth-first.js';

/*
 * The feed: two turns write notifications, readers give them their places, and the merchant reads on from the last
 * place that he has seen. What he passes over he never reads.
 */

export interface FeedRules {
  /** Places are given to what is committed. Otherwise each takes the next one as it is written. */
  readonly isPlacedLater: boolean;
  /** One reader at a time gives places, and commits them before the next. */
  readonly isOneReader: boolean;
  /** Once the book has gone back, places begin after all that may have been given. */
  readonly movesOn: boolean;
}

export const FEED_RULES: FeedRules = { isPlacedLater: true, isOneReader: true, movesOn: true };

/** A place: those of a later era come after all of earlier ones. */
interface Place {
  readonly era: number;
  readonly number: number;
}

interface Notification {
  readonly isCommitted: boolean;
  readonly place?: Place | undefined;
  readonly isRead?: true | undefined;
}

/** A reader that has given a notification a place, and has yet to commit it. */
interface Placing {
  readonly of: number;
  readonly place: Place;
}

interface FeedWorld {
  readonly era: number;
  /** Of the last place that was given. */
  readonly number: number;
  readonly notifications: readonly Notification[];
  readonly placing: readonly Placing[];
  readonly cursor: Place;
  readonly copy?: Pick<FeedWorld, 'number' | 'notifications'> | undefined;
  readonly canGoBack: boolean;
}

const MISSED = 'a merchant reads each notification';

/** A rule that is broken, and what has to be seen to come of it. */
export const FEED_MUTANTS = [
  { rule: 'places are given to what is committed', change: { isPlacedLater: false }, breaks: MISSED },
  { rule: 'one reader at a time gives places', change: { isOneReader: false }, breaks: MISSED },
  { rule: 'places move on once the book has gone back', change: { movesOn: false }, breaks: MISSED },
] as const;

/** So many notifications are written. */
const WRITTEN = 3;

/** The model of the feed. */
export function feedModel(rules: FeedRules): SmallModel<FeedWorld> {
  return {
    begin: {
      era: 0,
      number: 0,
      notifications: [],
      placing: [],
      cursor: { era: 0, number: 0 },
      canGoBack: true,
    },
    movesFrom: (world) => [
      ...writes(world, rules),
      ...places(world, rules),
      ...reads(world),
      ...goesBack(world, rules),
    ],
    brokenIn: ({ notifications, cursor }) =>
      notifications.some(({ isCommitted, place, isRead }) => isCommitted && place && !isRead && !isAfter(place, cursor))
        ? [MISSED]
        : [],
    keyOf: (world) => JSON.stringify(world),
  };
}

function isAfter(one: Place, other: Place): boolean {
  return one.era === other.era ? one.number > other.number : one.era > other.era;
}

function writes(world: FeedWorld, { isPlacedLater }: FeedRules): WorldMove<FeedWorld>[] {
  const { notifications, era, number } = world;
  const moves: WorldMove<FeedWorld>[] = notifications.flatMap((one, index) =>
    one.isCommitted
      ? []
      : [{ label: `notification ${index} is committed`, to: change(world, index, { ...one, isCommitted: true }) }],
  );
  if (notifications.length === WRITTEN) return moves;
  const place = isPlacedLater ? undefined : { era, number: number + 1 };
  const to = {
    ...world,
    number: isPlacedLater ? number : number + 1,
    notifications: [...notifications, { isCommitted: false, place }],
  };
  return [...moves, { label: `notification ${notifications.length} is written`, to }];
}

function places(world: FeedWorld, { isOneReader }: FeedRules): WorldMove<FeedWorld>[] {
  const { notifications, placing, era, number } = world;
  const commits = placing.map((one) => {
    const { of, place } = one;
    const before = notifications[of] ?? { isCommitted: true };
    const rest = { ...world, placing: placing.filter((other) => other !== one) };
    return { label: `the place of notification ${of} is committed`, to: change(rest, of, { ...before, place }) };
  });
  if (placing.length > 0 && isOneReader) return commits;
  const begins = notifications.flatMap(({ isCommitted, place }, of): WorldMove<FeedWorld>[] => {
    if (!isCommitted || place !== undefined || placing.some((one) => one.of === of)) return [];
    const next = { of, place: { era, number: number + 1 } };
    const to = { ...world, number: number + 1, placing: [...placing, next] };
    return [{ label: `a reader gives notification ${of} a place`, to }];
  });
  return [...commits, ...begins];
}

function reads(world: FeedWorld): WorldMove<FeedWorld>[] {
  const { notifications, cursor } = world;
  const isNew = ({ isCommitted, place }: Notification) => isCommitted && place !== undefined && isAfter(place, cursor);
  const page = notifications.filter(isNew);
  if (page.length === 0) return [];
  const last = page.reduce((latest, { place }) => (place && isAfter(place, latest) ? place : latest), cursor);
  const read = notifications.map((one) => (isNew(one) ? { ...one, isRead: true as const } : one));
  return [{ label: `the merchant reads ${page.length}`, to: { ...world, cursor: last, notifications: read } }];
}

/** What was written since the copy is lost, and so is what was read: other notifications take their places. */
function goesBack(world: FeedWorld, { movesOn }: FeedRules): WorldMove<FeedWorld>[] {
  const { copy, number, notifications, canGoBack, placing } = world;
  const isQuiet = placing.length === 0 && notifications.every(({ isCommitted }) => isCommitted);
  if (!canGoBack || !isQuiet) return [];
  if (copy === undefined) return [{ label: 'the book is copied', to: { ...world, copy: { number, notifications } } }];
  const era = movesOn ? world.era + 1 : world.era;
  const restored = copy.notifications.map((one, index) => ({ ...one, isRead: notifications[index]?.isRead }));
  const place = { era, number: movesOn ? 0 : copy.number };
  const back = { ...world, ...place, notifications: restored, copy: undefined, canGoBack: false };
  return [{ label: 'the book goes back to its copy', to: back }];
}

function change(world: FeedWorld, index: number, next: Notification): FeedWorld {
  return { ...world, notifications: world.notifications.map((one, at) => (at === index ? next : one)) };
}
