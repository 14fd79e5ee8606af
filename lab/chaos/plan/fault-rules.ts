import type { FaultRequest } from '../../../sandbox/faults/fault-rule.js';
import { SECOND } from '../../simulation/plan/durations.js';

/**
 * Faults of the provider's own, at moderate rates: what the deaths of processes bring comes on top. Delays fit a run of
 * some minutes. Those that call for a long wait by design, such as refused credentials, are left to the simulation.
 */
const RULES: readonly FaultRequest[] = [
  { fault: 'timeoutBeforeCommit', rate: 0.012 },
  { fault: 'timeoutAfterCommit', rate: 0.02 },
  { fault: 'errorBeforeCommit', rate: 0.012, status: 503 },
  { fault: 'errorAfterCommit', rate: 0.015, status: 502 },
  { fault: 'resetBeforeCommit', rate: 0.012 },
  { fault: 'resetAfterCommit', rate: 0.015 },
  { fault: 'garbage', rate: 0.01, body: 'truncated' },
  // Of money, a gateway's alone: the provider's own says that nothing was taken, and its books don't keep that apart.
  { fault: 'throttle', rate: 0.01, retryAfter: 2, endpoint: 'payment-status' },
  { fault: 'throttle', rate: 0.01, retryAfter: 2, endpoint: 'transaction' },
  { fault: 'throttle', rate: 0.01, retryAfter: 2, endpoint: 'initiate-pay' },
  { fault: 'gatewayThrottleBeforeCommit', rate: 0.01 },
  { fault: 'gatewayThrottleAfterCommit', rate: 0.01, retryAfter: 2 },
  { fault: 'questionTimeout', rate: 0.01 },
  { fault: 'lowBalance', rate: 0.02 },
  { fault: 'slow', rate: 0.02, delayMs: 1_500 },
  { fault: 'listLag', rate: 0.15, delayMs: 5 * SECOND },
  { fault: 'listLag', rate: 0.03, delayMs: 30 * SECOND },
  { fault: 'listFlap', rate: 0.05 },
  { fault: 'listPage', rate: 0.02 },
  { fault: 'missingFields', rate: 0.03, endpoint: 'transaction' },
  { fault: 'missingFields', rate: 0.02, endpoint: 'payment-status', fields: ['externalId', 'amount'] },
  { fault: 'unknownStatus', rate: 0.01 },
  { fault: 'statusLag', rate: 0.03, delayMs: 5 * SECOND },
  { fault: 'statusRegression', rate: 0.03 },
  { fault: 'webhookDrop', rate: 0.12 },
  { fault: 'webhookDouble', rate: 0.12 },
  { fault: 'webhookDelay', rate: 0.06, delayMs: 8 * SECOND },
  { fault: 'webhookReorder', rate: 0.06, delayMs: 10 * SECOND },
  { fault: 'webhookForge', rate: 0.08 },
  { fault: 'webhookMalformed', rate: 0.03 },
];

/**
 * The rules for the `life`th process that plays the provider. A new process counts a subject's requests from the first
 * again: with draws of its own, a fault that struck the first one doesn't strike whatever comes first now.
 */
export function faultRules(seed: string | number, life: number): FaultRequest[] {
  return RULES.map((rule, index) => ({ ...rule, seed: `${seed}/${life}/${index}` }));
}
