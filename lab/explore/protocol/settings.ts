import type { Setting } from './world.js';

/** What no rule keeps: commits are lost that no beat and no run knows of, and the list lags. */
export const LOST_COMMITS = {
  name: 'the book loses its last commits, and the run that knew of them may be over',
  isUnseen: true,
  lag: 3,
  allowance: { copies: 1, bookBack: 1, troubles: 1 },
  troubles: ['lags'],
  without: ['gap', 'told'],
} as const satisfies Setting;

/** Worlds that are small enough to be visited to their ends. */
export const SETTINGS = {
  payout: {
    name: 'a payout, its worker lost twice',
    allowance: { ticks: 1, losses: 2, troubles: 1 },
    troubles: ['lost', 'rejected', 'throttled', 'noConnection', 'lags'],
  },
  forged: {
    name: 'a payout whose activity somebody completes by hand',
    allowance: { ticks: 2, losses: 1, forgeries: 1, troubles: 1 },
    troubles: ['lost', 'lags'],
  },
  doubled: {
    name: 'two runs at once',
    isDoubled: true,
    allowance: { ticks: 1, losses: 1, troubles: 1 },
    troubles: ['lost', 'noConnection'],
  },
  withdrawn: {
    name: 'a payout that is withdrawn',
    allowance: { ticks: 1, losses: 1, lostCommits: 1, troubles: 1, messages: 1 },
    messages: ['cancel'],
    troubles: ['noConnection', 'lost'],
  },
  held: {
    name: 'a payout that waits for an approval',
    isHeld: true,
    allowance: { ticks: 1, losses: 1, lostCommits: 1, messages: 2 },
    messages: ['cancel', 'approve', 'reject'],
  },
  decided: {
    name: 'a person decides',
    allowance: { ticks: 2, losses: 1, messages: 1, troubles: 1 },
    messages: ['resend', 'fail'],
    troubles: ['lost', 'noConnection'],
  },
  asked: {
    name: 'questions, and answers that come late',
    allowance: { ticks: 2, losses: 1, messages: 1, troubles: 2 },
    messages: ['hint'],
    troubles: ['throttled', 'pending', 'lags'],
  },
  bookBack: {
    name: 'the book goes back',
    isHeld: true,
    allowance: { losses: 1, messages: 2, copies: 1, bookBack: 1 },
    messages: ['approve', 'cancel', 'resend'],
  },
  temporalBack: {
    name: 'Temporal goes back',
    allowance: { ticks: 1, messages: 1, copies: 1, temporalBack: 1, troubles: 1 },
    messages: ['cancel'],
    troubles: ['lost', 'noConnection', 'throttled'],
  },
  /** Each forgets what the other forgets: the list alone is left, and what was told is told anew. */
  bothBack: {
    name: 'both stores go back to one moment',
    isUnseen: true,
    allowance: { losses: 1, copies: 1, bookBack: 1, temporalBack: 1, messages: 0 },
    without: ['gap', 'told', 'final'],
  },
  /** No beat shows it, and the list lags; but the run that has sent it remembers. */
  unseen: { ...LOST_COMMITS, name: 'the book loses its last commits, and a run remembers', hasRun: true },
  looked: {
    name: 'the book goes back, and a person looks',
    allowance: { losses: 1, messages: 1, copies: 1, bookBack: 1 },
    messages: ['resend'],
  },
} as const satisfies Record<string, Setting>;
