import type { Protocol } from './protocol.js';
import { SETTINGS } from './settings.js';
import type { Rule, Setting } from './world.js';

/** A rule of the protocol that is broken, and what has to be seen to come of it. */
export interface ProtocolMutant {
  /** What holds in the protocol, and not in the mutant. */
  readonly rule: string;
  readonly change: Partial<Protocol>;
  readonly setting: Setting;
  readonly breaks: Rule;
}

export const MUTANTS: readonly ProtocolMutant[] = [
  {
    rule: "a transaction locks the payment's row before it reads",
    change: { locksRow: false },
    setting: SETTINGS.withdrawn,
    breaks: 'final',
  },
  {
    rule: "an answer counts only while its token is the row's",
    change: { isAwaited: () => true },
    setting: SETTINGS.asked,
    breaks: 'asked',
  },
  {
    rule: 'an answer counts as of when it was got',
    change: { timeOf: (_answer, now) => now },
    setting: SETTINGS.decided,
    breaks: 'final',
  },
  {
    rule: 'the outcome of an attempt counts, though its run is gone',
    change: { takesOutcome: (isOwn) => isOwn },
    setting: SETTINGS.payout,
    breaks: 'moves',
  },
  {
    rule: 'what became of an attempt stands in its fence alone, whatever its activity is completed with',
    change: { trusts: 'activity' },
    setting: SETTINGS.forged,
    breaks: 'once',
  },
  {
    rule: 'a turn that changes anything reads the messages',
    change: { readsInbox: (isAnswered) => isAnswered },
    setting: SETTINGS.bookBack,
    breaks: 'moves',
  },
  {
    rule: 'an attempt that has ended leaves its number behind',
    change: { numberAfter: (attempt) => attempt },
    setting: SETTINGS.payout,
    breaks: 'moves',
  },
  {
    rule: 'an attempt in doubt was not sent only if nobody has written its fence',
    change: { looksAtFence: false },
    setting: SETTINGS.payout,
    breaks: 'once',
  },
  {
    rule: 'a fence is written only in the state that decided its attempt',
    change: { maySend: ({ gap }) => gap === 'none' || gap === 'looked' },
    setting: SETTINGS.payout,
    breaks: 'once',
  },
  {
    rule: 'a request leaves in the seconds of its fence, or never',
    change: { mayLeave: () => true },
    setting: SETTINGS.decided,
    breaks: 'decided',
  },
  {
    rule: 'the silence of the list counts only once the attempt can not leave any more',
    change: { isOpenUntil: (_fence, now) => now - 1 },
    setting: SETTINGS.decided,
    breaks: 'decided',
  },
  {
    rule: 'a message makes its row due',
    change: { wakesFor: (what) => what !== 'message' },
    setting: SETTINGS.held,
    breaks: 'moves',
  },
  {
    rule: 'an outcome makes its row due',
    change: { wakesFor: (what) => what !== 'outcome' },
    setting: SETTINGS.decided,
    breaks: 'moves',
  },
  {
    rule: 'a gap makes its row due',
    change: { wakesFor: (what) => what !== 'gap' },
    setting: SETTINGS.bookBack,
    breaks: 'moves',
  },
  {
    rule: 'the list is read before the fence is written',
    change: { reads: 'afterFence' },
    setting: SETTINGS.payout,
    breaks: 'doubt',
  },
  {
    rule: 'the list is read before each request',
    change: { reads: 'never' },
    setting: SETTINGS.bothBack,
    breaks: 'once',
  },
  {
    rule: 'the list was read in the same seconds',
    change: { isFresh: () => true },
    setting: SETTINGS.bothBack,
    breaks: 'once',
  },
  {
    rule: 'the timer is set before the bell is looked at',
    change: { setsTimerFirst: false },
    setting: SETTINGS.held,
    breaks: 'bell',
  },
  {
    rule: 'nothing is told before it is committed',
    change: { tellsAfterCommit: false },
    setting: SETTINGS.withdrawn,
    breaks: 'final',
  },
  {
    rule: 'who beats after the book has gone back records the gap',
    change: { recordsGap: false },
    setting: SETTINGS.looked,
    breaks: 'gap',
  },
  {
    rule: 'nobody writes a fence who has not beaten in both stores within seconds',
    change: { beatsFirst: false },
    setting: SETTINGS.looked,
    breaks: 'gap',
  },
  {
    rule: 'nothing is sent while a gap is open',
    change: { maySend: ({ row }, token) => row.asked === token },
    setting: SETTINGS.looked,
    breaks: 'gap',
  },
  {
    rule: 'a run that was told a later version knows that the book has gone back',
    change: { isOlder: () => false },
    setting: SETTINGS.unseen,
    breaks: 'once',
  },
  {
    rule: 'a hand whose fence has gone knows that the book has gone back',
    change: { missesOutcome: false },
    setting: SETTINGS.unseen,
    breaks: 'once',
  },
  {
    rule: 'a token is a number that was never given before',
    change: { tokenFor: (version) => version },
    setting: SETTINGS.looked,
    breaks: 'asked',
  },
];
