import type { Book, Input, Row, Token } from './book.js';
import type { FinalWord, MessageKind, Outcome } from './payment.js';

/*
 * All that there is: the book, Temporal, the hands that act between them, the provider, and what people were told.
 */

/** What a hand is about to do. What is read or called, and written, in one transaction is done at once. */
export type At =
  | {
      readonly kind: 'turn';
      readonly input: Input;
      /** What a transaction without the row's lock has read. */
      readonly read?: Row;
      /** It has told what it has yet to commit. */
      readonly hasTold?: true;
    }
  | { readonly kind: 'ask'; readonly question: 'list' | 'status'; readonly token: Token }
  | { readonly kind: 'list'; readonly attempt: number; readonly token: Token }
  | {
      readonly kind: 'fence';
      readonly attempt: number;
      readonly token: Token;
      /** When the list was read. */
      readonly listedAt: number;
    }
  | { readonly kind: 'post'; readonly attempt: number; readonly token: Token; readonly leavesBy: number }
  /** The request has left, and its answer is on its way. */
  | { readonly kind: 'posted'; readonly attempt: number; readonly token: Token; readonly outcome: Outcome }
  | { readonly kind: 'setTimer'; readonly until?: number | undefined }
  | { readonly kind: 'lookAtBell'; readonly until?: number | undefined }
  | { readonly kind: 'asleep'; readonly until?: number | undefined };

/**
 * A worker that carries out a run of the workflow. It may be frozen at any place, and wake at any time. One that was
 * given up doesn't know, and finishes what it does: turns and questions, one after the other, since they are local
 * activities; or one send. Temporal takes no timer and no activity from it.
 */
export interface Hand {
  readonly id: number;
  readonly at: At;
  /** The latest version that its run was told. */
  readonly told: number;
  /** What its latest turn was taken with: the workflow task repeats it, should the worker be lost. */
  readonly input: Input;
  readonly isGivenUp?: true;
}

/** A transaction that the provider has made, and when its list shows it first. */
export interface Transaction {
  readonly listedFrom: number;
  readonly status: 'pending' | 'succeeded' | 'failed';
}

/** How often something may happen in one story. */
export interface Allowance {
  readonly ticks: number;
  /** Workers that are lost or frozen, tasks that are repeated, runs that begin anew. */
  readonly losses: number;
  /** Activities that somebody completes by hand. */
  readonly forgeries: number;
  /** Commits whose answer is lost. */
  readonly lostCommits: number;
  readonly messages: number;
  /** Requests that the provider doesn't simply accept, and answers that say little. */
  readonly troubles: number;
  /** Copies that are taken of both stores. */
  readonly copies: number;
  readonly bookBack: number;
  readonly temporalBack: number;
}

/** What may happen in a world. */
export interface Setting {
  readonly name: string;
  readonly isHeld?: true;
  readonly allowance: Partial<Allowance>;
  readonly messages?: readonly MessageKind[];
  readonly troubles?: readonly Trouble[];
  /** Two runs may go on at once, each as if it were alone. */
  readonly isDoubled?: true;
  /** The book goes back by less than a beat: no store shows it. */
  readonly isUnseen?: true;
  /** It does so only while the payment's run is there, which remembers. */
  readonly hasRun?: true;
  /** Ticks after which the list shows a transaction at the latest; 1, unless it lags too long. */
  readonly lag?: number;
  /** Rules that can't hold in it. */
  readonly without?: readonly Rule[];
}

export type Trouble = 'lost' | 'rejected' | 'throttled' | 'noConnection' | 'lags' | 'pending' | 'fails';

/** The rules, checked in every state by the world's truth. */
export const RULES = {
  once: 'money moves once: a request leaves while an earlier one may have been taken only by a decision of a person',
  decided: 'a person decides only once no request can leave any more that was decided before',
  final: 'what was told as withdrawn, rejected or failed was not taken, and is never sent',
  told: 'a final word that was told is followed by no other, unless a person has decided',
  asked: 'no answer counts for another question than it was given to',
  gap: 'once the book has gone back, nothing is sent before a person has looked',
  doubt: 'an attempt is in doubt only once its list was read: what was lost before that was not sent',
  bell: 'no hand falls asleep after its bell was rung',
  moves: 'without further faults, the keeper brings it to its end or to a person, and each message to its reply',
} as const;
export type Rule = keyof typeof RULES;

export interface World {
  readonly now: number;
  /** The latest stamp that was given. */
  readonly stamp: number;
  readonly book: Book;
  readonly hands: readonly Hand[];
  /** Temporal has a signal for the payment's workflow. */
  readonly isRung: boolean;
  /** The API has written a message, or taken its turn, and is about to ring. */
  readonly api?: 'wrote' | 'turned' | undefined;
  readonly transactions: readonly Transaction[];
  /** A request has left of which nobody can know whether it was taken. */
  readonly isUnknown: boolean;
  /** Requests that persons have decided to send once more. */
  readonly toResend: number;
  /** The latest final word that people may have read. */
  readonly told?: FinalWord | undefined;
  /** The book has gone back, and no beat has shown it. */
  readonly isBehind: boolean;
  /** The book has gone back, and no person has decided since. */
  readonly isUnlooked: boolean;
  readonly copy?: Copy | undefined;
  readonly left: Allowance;
}

/** Both stores, as they were. */
export interface Copy {
  readonly book: Book;
  readonly hands: readonly Hand[];
}

export interface Move {
  readonly label: string;
  readonly to: World;
  readonly broken?: readonly Rule[] | undefined;
}

/** Beside what is due, nothing more may happen. */
export const NOTHING: Allowance = {
  ticks: 0,
  losses: 0,
  forgeries: 0,
  lostCommits: 0,
  messages: 0,
  troubles: 0,
  copies: 0,
  bookBack: 0,
  temporalBack: 0,
};

/** The start of every story: an order is claimed, and its workflow has yet to begin. */
export function beginIn({ isHeld, allowance }: Setting): World {
  const phase = isHeld ? ({ kind: 'held' } as const) : ({ kind: 'waiting', until: 0 } as const);
  const row = { phase, attempt: 1, reviews: 0, isSentOver: false, version: 1, wakeAt: 0 };
  return {
    now: 0,
    stamp: 0,
    book: { row, fences: [], inbox: [], gap: 'none' },
    hands: [{ id: 0, at: { kind: 'turn', input: { kind: 'begin' } }, told: 0, input: { kind: 'begin' } }],
    isRung: false,
    transactions: [],
    isUnknown: false,
    toResend: 0,
    isBehind: false,
    isUnlooked: false,
    left: { ...NOTHING, ...allowance },
  };
}

export function spend(world: World, what: keyof Allowance): World {
  return { ...world, left: { ...world.left, [what]: world.left[what] - 1 } };
}
