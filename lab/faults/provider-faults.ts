import type { FaultRequest } from '../../sandbox/faults/fault-rule.js';
import { answerForm, notificationForm } from '../../sandbox/faults/odd-forms.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/payments/words/time.js';
import { userIdOf } from '../../src/provider/requests.js';

/** Real ms for which a connection is held before it is cut without an answer. */
const HELD_MS = 15;

/** Faults of every endpoint of the provider, all the time. */
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
  // Held until the client gives up, or cut by the provider.
  { fault: 'questionTimeout', rate: 0.0004 },
  { fault: 'questionTimeout', rate: 0.008, holdMs: HELD_MS },
  { fault: 'gatewayThrottleBeforeCommit', rate: 0.006 },
  { fault: 'gatewayThrottleBeforeCommit', rate: 0.003, retryAfter: 30 },
  { fault: 'gatewayThrottleAfterCommit', rate: 0.008 },
  { fault: 'gatewayThrottleAfterCommit', rate: 0.004, retryAfter: 2 },
  { fault: 'wrongCredentials', rate: 0.003 },
  { fault: 'lowBalance', rate: 0.02 },
  { fault: 'slow', rate: 0.01, delayMs: 25 },
];

const UNTRUTHS: readonly FaultRequest[] = [
  { fault: 'listLag', rate: 0.25, delayMs: 30 * SECOND_MS },
  { fault: 'listLag', rate: 0.05, delayMs: 40 * MINUTE_MS },
  { fault: 'listFlap', rate: 0.05 },
  { fault: 'listPage', rate: 0.02 },
  { fault: 'listPage', rate: 0.01, size: 0 },
  { fault: 'missingFields', rate: 0.05, endpoint: 'transaction' },
  { fault: 'missingFields', rate: 0.02, endpoint: 'transaction', fields: ['userId', 'amount'] },
  // What names its payment neither way is believed to be another's: no interface goes that far all the time.
  { fault: 'missingFields', rate: 0.02, endpoint: 'payment-status', fields: ['externalId', 'amount'] },
  { fault: 'missingFields', rate: 0.02, endpoint: 'payment-status', fields: ['userId', 'transType'] },
  { fault: 'unknownStatus', rate: 0.01 },
  { fault: 'statusRegression', rate: 0.05 },
  { fault: 'statusLag', rate: 0.03, delayMs: 30 * SECOND_MS },
  { fault: 'statusLag', rate: 0.01, delayMs: 10 * MINUTE_MS },
  { fault: 'clockSkew', rate: 0.05, skewMs: DAY_MS },
  { fault: 'clockSkew', rate: 0.05, skewMs: -DAY_MS },
];

const WEBHOOKS: readonly FaultRequest[] = [
  { fault: 'webhookDrop', rate: 0.12 },
  { fault: 'webhookDouble', rate: 0.1 },
  { fault: 'webhookDelay', rate: 0.06, delayMs: 4 * MINUTE_MS },
  { fault: 'webhookDelay', rate: 0.02, delayMs: 26 * HOUR_MS },
  { fault: 'webhookReorder', rate: 0.06, delayMs: 10 * MINUTE_MS },
  { fault: 'webhookForge', rate: 0.06 },
  { fault: 'webhookForge', rate: 0.03, amount: 7 },
  { fault: 'webhookForge', rate: 0.02, status: 'EXPIRED', delayMs: 3 * HOUR_MS },
  { fault: 'webhookMalformed', rate: 0.03 },
  { fault: 'webhookHuge', rate: 0.01, bytes: 200_000 },
];

/** Undocumented forms of answers and notifications, all the time: valid, so a careful client reads them. */
const ODD_FORMS: readonly FaultRequest[] = [
  ...answerForm.options.map((form): FaultRequest => ({ fault: 'oddForm', form, rate: 0.01 })),
  ...notificationForm.options.map((form): FaultRequest => ({ fault: 'webhookOddForm', form, rate: 0.03 })),
];

/** The simulation's faults: every fault of the sandbox at once, each rule with random draws of its own. */
export function faultRules(seed: string | number): FaultRequest[] {
  return [...ANSWERS, ...UNTRUTHS, ...WEBHOOKS, ...ODD_FORMS].map((rule, index) => ({
    ...rule,
    seed: `${seed}/${index}`,
  }));
}

/** The provider's silence about some payments, in ms: longer than they may stay undecided. */
const SILENCE_MS = 30 * HOUR_MS;

/** The provider answers no question about a payment. */
export function silence(id: PaymentId): FaultRequest[] {
  const silent = { fault: 'questionTimeout', forMs: SILENCE_MS, holdMs: HELD_MS } as const;
  return [
    { ...silent, externalId: id },
    { ...silent, userId: userIdOf(id, false), endpoint: 'transaction' },
    { ...silent, userId: userIdOf(id, true), endpoint: 'transaction' },
  ];
}

/**
 * The faults of a chaos run, at moderate rates: killed processes come on top. Delays fit a run of
 * some minutes. Those that call for a long wait by design, such as refused credentials, are left to the simulation.
 */
const CHAOS_RULES: readonly FaultRequest[] = [
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
  { fault: 'listLag', rate: 0.15, delayMs: 5 * SECOND_MS },
  { fault: 'listLag', rate: 0.03, delayMs: 30 * SECOND_MS },
  { fault: 'listFlap', rate: 0.05 },
  { fault: 'listPage', rate: 0.02 },
  { fault: 'missingFields', rate: 0.03, endpoint: 'transaction' },
  { fault: 'missingFields', rate: 0.02, endpoint: 'payment-status', fields: ['externalId', 'amount'] },
  { fault: 'unknownStatus', rate: 0.01 },
  { fault: 'statusLag', rate: 0.03, delayMs: 5 * SECOND_MS },
  { fault: 'statusRegression', rate: 0.03 },
  { fault: 'webhookDrop', rate: 0.12 },
  { fault: 'webhookDouble', rate: 0.12 },
  { fault: 'webhookDelay', rate: 0.06, delayMs: 8 * SECOND_MS },
  { fault: 'webhookReorder', rate: 0.06, delayMs: 10 * SECOND_MS },
  // A forged SUCCESSFUL puts off the end of a link by 36 minutes.
  { fault: 'webhookForge', rate: 0.08, status: 'FAILED' },
  { fault: 'webhookMalformed', rate: 0.03 },
  ...ODD_FORMS,
];

/**
 * The rules for the sandbox's `life`th process (from 0). A new process counts requests from the first again: it needs
 * draws of its own, or the same faults would strike its first requests again.
 */
export function chaosFaultRules(seed: string | number, life: number): FaultRequest[] {
  return CHAOS_RULES.map((rule, index) => ({ ...rule, seed: `${seed}/${life}/${index}` }));
}
