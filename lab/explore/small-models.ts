import { type BrokenStory, type Visits, visitAll } from './breadth-first.js';
import { moneyModel } from './money/model.js';
import { MUTANTS as MONEY_MUTANTS } from './money/mutants.js';
import { MONEY_RULES } from './money/rules.js';
import { SETTINGS as MONEY_SETTINGS } from './money/settings.js';
import { type Fault, MONEY_FAULTS } from './money/world.js';
import { FEED_MUTANTS, FEED_RULES, feedModel } from './protocol/feed.js';
import { LINK_MUTANTS, LINK_RULES, linkModel } from './protocol/links.js';
import { protocolModel } from './protocol/model.js';
import { MUTANTS } from './protocol/mutants.js';
import { PROTOCOL } from './protocol/protocol.js';
import { SETTINGS } from './protocol/settings.js';
import { RULES, type Rule } from './protocol/world.js';

/*
 * The small models of the book: how a payment's book and the hands that act on it keep each other right, and
 * what the book counts. Each is explored with all its rules, and without each of them: then something has to break.
 */

/** A model, in one world. */
interface World {
  readonly name: string;
  readonly visit: (states?: number) => Visits;
}

/** A model without one of its rules. */
interface Mutant extends World {
  /** What has to be seen to break, in words. */
  readonly breaks: string;
}

const named = (visits: Visits, words: Readonly<Record<string, string>>): Visits => ({
  ...visits,
  broken: visits.broken.map(({ rule, story }) => ({ rule: words[rule] ?? rule, story })),
});

/** The worlds of the models that have all their rules. */
export const WORLDS: readonly World[] = [
  ...Object.values(SETTINGS).map((setting) => ({
    name: `protocol: ${setting.name}`,
    visit: (states?: number) => named(visitAll(protocolModel({ protocol: PROTOCOL, setting }), states), RULES),
  })),
  { name: 'protocol: a link', visit: (states) => visitAll(linkModel(LINK_RULES), states) },
  { name: 'protocol: the feed', visit: (states) => visitAll(feedModel(FEED_RULES), states) },
  ...Object.values(MONEY_SETTINGS).map((setting) => ({
    name: `money: ${setting.name}`,
    visit: (states?: number) => named(visitAll(moneyModel(MONEY_RULES, setting), states), MONEY_FAULTS),
  })),
];

/** The models without one rule each. */
export const MUTANTS_OF_WORLDS: readonly Mutant[] = [
  ...MUTANTS.map(({ rule, change, setting, breaks }) => ({
    name: `protocol: ${rule}`,
    breaks: RULES[breaks satisfies Rule],
    visit: (states?: number) =>
      named(visitAll(protocolModel({ protocol: { ...PROTOCOL, ...change }, setting }, [breaks]), states), RULES),
  })),
  ...LINK_MUTANTS.map(({ rule, change, breaks }) => ({
    name: `protocol: ${rule}`,
    breaks,
    visit: (states?: number) => visitAll(linkModel({ ...LINK_RULES, ...change }), states),
  })),
  ...FEED_MUTANTS.map(({ rule, change, breaks }) => ({
    name: `protocol: ${rule}`,
    breaks,
    visit: (states?: number) => visitAll(feedModel({ ...FEED_RULES, ...change }), states),
  })),
  ...MONEY_MUTANTS.map(({ rule, change, setting, breaks }) => ({
    name: `money: ${rule}`,
    breaks: MONEY_FAULTS[breaks satisfies Fault],
    visit: (states?: number) =>
      named(visitAll(moneyModel({ ...MONEY_RULES, ...change }, setting, [breaks]), states), MONEY_FAULTS),
  })),
];

/** The result of exploring the small models. */
export interface SmallModelsResult {
  readonly states: number;
  readonly transitions: number;
  /** Worlds that were visited to their ends, of so many. */
  readonly whole: number;
  readonly worlds: number;
  readonly mutants: number;
  readonly seconds: number;
  /** What was broken with all rules, and mutants in which nothing broke. */
  readonly broken: readonly BrokenStory[];
}

/** Explores all worlds, so many states of each, and all mutants; and says what it finds, in words. */
export function exploreSmallModels(states: number, write: (line: string) => void): SmallModelsResult {
  const startedAt = Date.now();
  const broken: BrokenStory[] = [];
  let [visited, transitions, whole] = [0, 0, 0];
  for (const { name, visit } of WORLDS) {
    const found = visit(states);
    visited += found.states;
    transitions += found.transitions;
    whole += found.isWhole ? 1 : 0;
    broken.push(...found.broken.map(({ rule, story }) => ({ rule: `${name}: ${rule}`, story })));
    write(`${name}: ${found.states} states, ${found.transitions} transitions${found.isWhole ? ', to its end' : ''}`);
  }
  for (const { name, breaks, visit } of MUTANTS_OF_WORLDS) {
    const found = visit(states).broken.find(({ rule }) => rule === breaks);
    if (found === undefined) broken.push({ rule: `without this rule, nothing breaks: ${name}`, story: [] });
    else write([`Without this rule: ${name}`, ...found.story, `BROKEN: ${breaks}`].join('\n  '));
  }
  const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
  const [worlds, mutants] = [WORLDS.length, MUTANTS_OF_WORLDS.length];
  return { states: visited, transitions, whole, worlds, mutants, seconds, broken };
}
