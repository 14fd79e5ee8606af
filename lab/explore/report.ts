import { ASSUMPTIONS, INVARIANTS, type Violation } from './invariants.js';
import { Model } from './model.js';
import type { DecideMove, Move, PostMove } from './move.js';
import { type Bounds, explore } from './search.js';
import { FOREIGN, type Setting } from './setting.js';
import type { Machine, Situation } from './situation.js';

/** Writes a broken rule as text. */
export function describeBroken({ setting, story, violations }: BrokenRule): string {
  const rules = violations.map(({ invariant, what }) => `  BROKEN: ${INVARIANTS[invariant]}\n    ${what}`);
  return [`In the setting "${setting}":`, ...story.map((line) => `  ${line}`), ...rules].join('\n');
}

/** Writes the rules and the assumptions as text. */
export function describeRules(): string {
  const listed = (all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([name, sentence]) => `  ${name}: ${sentence}`);
  return ['Rules, checked in every state:', ...listed(INVARIANTS), 'Assumptions:', ...listed(ASSUMPTIONS)].join('\n');
}

/** The result of an exploration: its last line of output. */
export interface Result {
  readonly states: number;
  readonly transitions: number;
  /** All stories of up to this many moves were explored, in every setting. */
  readonly depth: number;
  /** Rules that were checked in every state. */
  readonly invariants: number;
  readonly violations: number;
  readonly seconds: number;
}

/** The shortest story that breaks a rule, in words. */
export interface BrokenRule {
  readonly setting: string;
  readonly story: readonly string[];
  readonly violations: readonly Violation[];
}

export interface Report {
  readonly result: Result;
  readonly broken: readonly BrokenRule[];
}

/**
 * Explores settings one after the other. The bounds are for all of them: what a setting leaves of its share, as there
 * is nothing more to visit in it, goes to those after it.
 */
export function exploreAll(
  machine: Machine,
  settings: readonly Setting[],
  { depth, states, seconds }: { readonly depth?: number; readonly states?: number; readonly seconds?: number },
  progress: (line: string) => void = () => undefined,
): Report {
  const startedAt = Date.now();
  const broken: BrokenRule[] = [];
  const depths: number[] = [];
  let [visited, transitions] = [0, 0];
  for (const [index, setting] of settings.entries()) {
    const share = (all: number, used: number) => Math.max(0, all - used) / (settings.length - index);
    const bounds: Bounds = {
      depth,
      states: states === undefined ? undefined : Math.ceil(share(states, visited)),
      until: seconds === undefined ? undefined : Date.now() + share(seconds * 1_000, Date.now() - startedAt),
    };
    const explored = explore(machine, setting, bounds);
    visited += explored.states;
    transitions += explored.transitions;
    if (!explored.isWhole) depths.push(explored.depth);
    const far = explored.isWhole ? 'to its end' : `${explored.depth} moves deep`;
    progress(`${setting.name}: ${explored.states} states, ${explored.transitions} transitions, ${far}`);
    if (explored.found !== undefined) {
      const { moves, violations } = explored.found;
      broken.push({ setting: setting.name, story: describeStory(machine, setting, moves), violations });
    }
  }
  const result: Result = {
    states: visited,
    transitions,
    depth: depths.length === 0 ? 0 : Math.min(...depths),
    invariants: Object.keys(INVARIANTS).length,
    violations: broken.length,
    seconds: Math.round((Date.now() - startedAt) / 100) / 10,
  };
  return { result, broken };
}

/** Tells a story in words, one line for each move, with the time since the story's start. */
export function describeStory(machine: Machine, setting: Setting, moves: readonly Move[]): string[] {
  const model = new Model(machine, setting);
  const begin = model.start().situation;
  let situation = begin;
  const lines = [`${setting.kind} ordered${heldWords(setting)} (AMBIGUOUS_POLICY=${setting.terms.ambiguousPolicy})`];
  for (const move of moves) {
    const before = situation;
    situation = model.apply(before, move).situation;
    const changed = statusWords(before, situation);
    lines.push(`+${timeOf(situation.now - begin.now)} ${describe(move, before)}${changed}`);
  }
  return lines;
}

function heldWords({ held }: Setting): string {
  if (held === undefined) return '';
  const date = held.sendAfterMs === undefined ? '' : ` for ${timeOf(held.sendAfterMs)} later`;
  return `${date}${held.approval ? ', to be approved' : ''}`;
}

function statusWords(before: Situation, { book, payment, todo }: Situation): string {
  const isSame =
    before.book.status === book.status &&
    before.book.final === book.final &&
    before.payment.reviews === payment.reviews;
  const then = todo.kind === 'send' && before.todo.kind !== 'send' ? `, and it is to be sent (${todo.cause})` : '';
  if (isSame) return then;
  const number = book.status === 'REVIEW' ? ` ${payment.reviews}` : '';
  return `: ${book.status}${number}${book.final ? ', final' : ''}${then}`;
}

function timeOf(ms: number): string {
  if (ms < 60_000) return `${ms / 1000} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 6_000) / 10} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}

function describe(move: Move, before: Situation): string {
  switch (move.kind) {
    case 'post':
      return describePost(move, before);
    case 'status': {
      const subject = `status of ${before.todo.kind === 'askStatus' ? before.todo.transId : ''}`;
      return `${subject}: ${answerWords(move.answer)}`;
    }
    case 'list': {
      const became = move.truth === undefined ? '' : `${move.truth.transId} has become ${move.truth.status}; `;
      return `${became}list: ${listWords(move, before)}`;
    }
    case 'expire': {
      const became = move.truth === undefined ? '' : `, and it is ${move.truth} in truth`;
      return `expire ${before.todo.kind === 'expire' ? before.todo.transId : ''}: ${answerWords(move.answer)}${became}`;
    }
    case 'time':
      return 'time passes';
    case 'notification': {
      if (move.transId === undefined)
        return `a notification${move.truth === undefined ? ', forged,' : ''} says that the payment is ${move.status}`;
      const kind = move.truth === undefined ? notGenuine(move.transId) : '';
      if (move.isDoubled) return `the provider makes ${move.transId} by itself, and says so`;
      return `a notification${kind} says that ${move.transId} is ${move.status}`;
    }
    case 'request':
      return `somebody asks: ${move.request}${unsureWords(move)}`;
    case 'approve':
      return `the ${move.by} approves ${move.isOther ? 'another payout' : 'the payout'}`;
    case 'rejectPayout':
      return `the ${move.by} rejects the payout${unsureWords(move)}`;
    case 'decide':
      return decisionWords(move);
    case 'reject':
      return `${PEOPLE[move.by]} rejects the decision on review ${move.review}`;
    case 'lateReport':
      return `a request that was doubted reports that it was taken as ${move.transId}`;
    case 'gap':
      return `it is found that the book went back${move.isInFlight ? ', while the request is on its way' : ''}`;
    case 'answersAgain':
      return 'the provider answers again';
  }
}

function unsureWords({ isUnsure }: { readonly isUnsure?: true }): string {
  return isUnsure ? ', and it is not known whether it was sent before' : '';
}

function notGenuine(transId: string): string {
  return Object.values(FOREIGN).some((one) => one === transId) ? ' of a foreign transaction' : ', forged or late,';
}

const PEOPLE = { ops: 'an operator', second: 'a second operator' } as const;

function decisionWords({ action, transId, review, force, by }: DecideMove): string {
  return `${PEOPLE[by]} decides on review ${review}: ${action}${transId === undefined ? '' : ` ${transId}`}${force ? ' (forced)' : ''}`;
}

function describePost(move: PostMove, { provider, todo }: Situation): string {
  const first = provider.transactions.length + 1;
  const ids = Array.from({ length: move.taken }, (_, index) => `T${first + index}`).join(' and ');
  const lagging = move.isLate === 'first' ? 'the first of which' : 'which';
  const apart = move.isApart ? ', the first of which the list shows last' : '';
  const lag = move.isLate ? `, ${lagging} the list shows late` : '';
  const amount = move.isWrong ? ' of a wrong amount' : '';
  const taken = move.taken === 0 ? 'was not taken' : `was taken as ${ids}${amount}${lag}${apart}`;
  const cause = todo.kind === 'send' ? ` (${todo.cause})` : '';
  switch (move.outcome) {
    case 'accepted':
      return `the request${cause} ${taken}, and accepted`;
    case 'rejected':
      return `the request${cause} is rejected`;
    case 'unauthorized':
      return `the request${cause} is refused for its credentials`;
    case 'notSent':
      return `the request${cause} can't be sent`;
    case 'unread':
      return `the request${cause} isn't sent, since the list can't be read`;
    case 'withheld':
      return `the request${cause} isn't sent, and never will be`;
    case 'ambiguous':
      return `the request${cause} ${taken}, its answer lost`;
    case 'doubted':
      return `the request${cause} ${taken}, and its run is lost`;
    case 'shown':
      return `the request${cause} isn't sent: the list shows what was sent before`;
    case 'throttled':
      return `the request${cause} is throttled in the provider's own form, and ${taken}`;
  }
}

function listWords({ answer }: Extract<Move, { kind: 'list' }>, { provider, now }: Situation): string {
  if (answer.kind !== 'listed') return answerWords(answer);
  const shown = provider.transactions
    .filter(({ transId, listedFrom }) => listedFrom <= now && !answer.without.includes(transId))
    .map(({ transId }) => transId);
  const without = answer.without.length === 0 ? '' : `, and ${answer.without.join(' and ')} no more`;
  const older = answer.older === undefined ? '' : `, ${answer.older} with its status of before`;
  return `${shown.length === 0 ? 'nothing' : shown.join(' and ')}${answer.isDisputed ? ', and one that also names another' : ''}${older}${answer.isBare ? ', with fields left out' : ''}${without}`;
}

type Answer = Extract<Move, { kind: 'status' | 'list' | 'expire' }>['answer'];

function answerWords(answer: Answer): string {
  switch (answer.kind) {
    case 'found':
      return `${answer.status}${answer.isBare ? ', with fields left out' : ''}`;
    case 'foreign':
      return `SUCCESSFUL, ${answer.whose === 'nameless' ? 'it does not say whose' : "another payment's"}`;
    case 'unavailable':
      return answer.silence === undefined ? 'no answer' : `no answer from now on (${answer.silence})`;
    case 'throttled':
      return 'throttled, with Retry-After';
    case 'heldBack':
      return 'not asked: the worker has asked as often as it may';
    case 'unauthorized':
      return 'refused for our credentials';
    case 'lost':
      return 'answered, and the run is lost with that';
    case 'unknown':
    case 'refused':
      return answer.kind;
    case 'expired':
      return 'expired';
    case 'alreadyExpired':
      return 'already expired';
    case 'listed':
      return 'listed';
  }
}
