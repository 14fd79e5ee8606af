import type { FaultRequest } from '../../sandbox/faults/fault-rule.js';
import { DAY, HOUR, MINUTE, SECOND } from './durations.js';

/** Real ms for which a connection is held before it is cut without an answer. */
const HELD_MS = 15;

/** Faults that strike every endpoint of the provider at these rates, all the time. */
const ANSWERS: readonly FaultRequest[] = [
  // Held until the client gives up; rare, as everybody waits for it.
  { fault: 'timeoutBeforeCommit', rate: 0.0005 },
  { fault: 'timeoutAfterCommit', rate: 0.0005 },
  // Held, and then cut by the provider.
  { fault: 'timeoutBeforeCommit', rate: 0.008, holdMs: HELD_MS },
  { fault: 'timeoutAfterCommit', rate: 0.012, holdMs: HELD_MS },
  { fault: 'errorBeforeCommit', rate: 0.012, status: 503 },
  { fault: 'errorAfterCommit', rate: 0.012, status: 502 },
  { fault: 'errorAfterCommit', rate: 0.006, status: 500 },
  { fault: 'resetBeforeCommit', rate: 0.012 },
  { fault: 'resetAfterCommit', rate: 0.012 },
  { fault: 'garbage', rate: 0.005, body: 'html' },
  { fault: 'garbage', rate: 0.005, body: 'truncated' },
  { fault: 'garbage', rate: 0.005, body: 'wrongShape' },
  { fault: 'garbage', rate: 0.005, body: 'empty' },
  { fault: 'throttle', rate: 0.015 },
  { fault: 'throttle', rate: 0.015, retryAfter: 20 },
  { fault: 'wrongCredentials', rate: 0.003 },
  { fault: 'lowBalance', rate: 0.02 },
  { fault: 'slow', rate: 0.01, delayMs: 25 },
];

const UNTRUTHS: readonly FaultRequest[] = [
  { fault: 'listLag', rate: 0.25, delayMs: 30 * SECOND },
  { fault: 'listLag', rate: 0.05, delayMs: 40 * MINUTE },
  { fault: 'statusRegression', rate: 0.05 },
  { fault: 'clockSkew', rate: 0.05, skewMs: DAY },
  { fault: 'clockSkew', rate: 0.05, skewMs: -DAY },
];

const WEBHOOKS: readonly FaultRequest[] = [
  { fault: 'webhookDrop', rate: 0.12 },
  { fault: 'webhookDouble', rate: 0.1 },
  { fault: 'webhookDelay', rate: 0.06, delayMs: 4 * MINUTE },
  { fault: 'webhookDelay', rate: 0.02, delayMs: 26 * HOUR },
  { fault: 'webhookReorder', rate: 0.06, delayMs: 10 * MINUTE },
  { fault: 'webhookForge', rate: 0.06 },
  { fault: 'webhookForge', rate: 0.03, amount: 7 },
  { fault: 'webhookForge', rate: 0.02, status: 'EXPIRED', delayMs: 3 * HOUR },
  { fault: 'webhookMalformed', rate: 0.03 },
  { fault: 'webhookHuge', rate: 0.01, bytes: 200_000 },
];

/** Every fault of the provider's at once, each rule with draws of its own. */
export function faultRules(seed: string | number): FaultRequest[] {
  return [...ANSWERS, ...UNTRUTHS, ...WEBHOOKS].map((rule, index) => ({ ...rule, seed: `${seed}/${index}` }));
}
