import { isSame, keysLinkedTo, MONEY_RULES, type MoneyRules } from './rules.js';
import { SETTINGS } from './settings.js';
import type { Fault, MoneySetting } from './world.js';

/** A rule about money that is broken, and what has to be seen to come of it. */
export interface MoneyMutant {
  /** What holds by the rules, and not in the mutant. */
  readonly rule: string;
  readonly change: Partial<MoneyRules>;
  readonly setting: MoneySetting;
  readonly breaks: Fault;
}

export const MUTANTS: readonly MoneyMutant[] = [
  {
    rule: 'an order under a key that was used before is that of before',
    change: { isUnique: false },
    setting: SETTINGS.file,
    breaks: 'body',
  },
  {
    rule: "a claim holds its collection's lock while it looks for room",
    change: { locksCollection: false },
    setting: SETTINGS.refunds,
    breaks: 'room',
  },
  {
    rule: 'a refund in doubt counts',
    change: { countsFor: (order) => (order.phase === 'doubt' ? 0 : MONEY_RULES.countsFor(order)) },
    setting: SETTINGS.refunds,
    breaks: 'room',
  },
  {
    rule: 'a refund in review counts',
    change: { countsFor: (order) => (order.phase === 'review' ? 0 : MONEY_RULES.countsFor(order)) },
    setting: SETTINGS.refunds,
    breaks: 'room',
  },
  {
    rule: 'one transaction pays one order',
    change: { isFree: () => true },
    setting: SETTINGS.careless,
    breaks: 'transaction',
  },
  {
    rule: 'what is in doubt keeps its room',
    change: { keepsDoubt: false },
    setting: SETTINGS.day,
    breaks: 'day',
  },
  {
    rule: 'an order is withdrawn only while none of its requests may move money',
    change: { mayWithdraw: ({ phase }) => phase === 'waiting' || phase === 'fenced' },
    setting: SETTINGS.refunds,
    breaks: 'unsent',
  },
  {
    rule: 'a refund is sent only while its collection stands',
    change: { stands: ({ collected }, others, amount) => others + amount <= collected },
    setting: SETTINGS.takenBack,
    breaks: 'within',
  },
  {
    rule: 'a refund is sent only while there is room for it beside all others',
    change: { stands: ({ is }) => is === 'paid' },
    setting: SETTINGS.takenBack,
    breaks: 'within',
  },
  {
    rule: "a fence holds its day's lock while it looks for room",
    change: { locksDay: false },
    setting: SETTINGS.day,
    breaks: 'day',
  },
  {
    rule: 'what leaves counts on the day of its fence, not on that of its order',
    change: { dayOf: (_today, { on }) => on },
    setting: SETTINGS.day,
    breaks: 'day',
  },
  {
    rule: 'a limit that was lowered holds for what was ordered before',
    change: { fileAt: (now, { under }) => ({ ...now, limit: under.limit }) },
    setting: SETTINGS.day,
    breaks: 'day',
  },
  {
    rule: 'what takes an approval now takes it, though it was ordered before',
    change: { fileAt: (now, { under }) => ({ ...now, approveAbove: under.approveAbove }) },
    setting: SETTINGS.file,
    breaks: 'person',
  },
  {
    rule: 'a merchant that was removed sends nothing',
    change: { looksAtMerchant: () => true },
    setting: SETTINGS.file,
    breaks: 'there',
  },
  {
    rule: 'names are compared folded',
    change: { isOwnKey: ({ by }, key, people) => keysLinkedTo(by, people, (one, other) => one === other).has(key) },
    setting: SETTINGS.approvals,
    breaks: 'person',
  },
  {
    rule: 'a key with which it was ordered does not approve it, whatever it is called now',
    change: { isOwnKey: ({ by, under }, key) => key !== by && isSame(under.names[key], under.names[by]) },
    setting: SETTINGS.approvals,
    breaks: 'person',
  },
  {
    rule: 'a name that a key had before it was used for the order is still that person’s',
    change: { isOwnKey: ({ by, under }, key) => key === by || isSame(under.names[key], under.names[by]) },
    setting: SETTINGS.approvals,
    breaks: 'person',
  },
  {
    rule: 'a person whom the file did not know when it was ordered does not approve it',
    change: { wasKnown: () => true },
    setting: SETTINGS.approvals,
    breaks: 'person',
  },
];
