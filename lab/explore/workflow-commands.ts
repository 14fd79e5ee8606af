import { notificationId } from '../../src/payments/machine/notification.js';
import type { Todo } from '../../src/payments/machine/plan.js';
import type { Reply } from '../../src/payments/machine/replies.js';
import { heldSince, type SentIf, sentIf } from '../../src/payments/machine/sending.js';
import { forMerchant, toPayment } from '../../src/payments/views/to-payment.js';
import { type PaymentOrder, type PaymentTerms, serviceOf } from '../../src/payments/words/order.js';
import type { PaymentState } from '../../src/payments/words/payment-state.js';
import { MINUTE_MS, SECOND_MS } from '../../src/payments/words/time.js';
import type { EndedState, PaymentInput, PaymentWorkflowType } from '../../src/workflows/messages.js';
import { type Command, FIRST_RUN_ID, milliseconds, valuesOf } from './workflow-vm.js';

/** A command without its sequence numbers: its kind and its arguments. */
export type Act = readonly [name: string, ...details: unknown[]];

const WORKFLOW_TYPES = { link: 'collectByLink', direct: 'collectDirect', payout: 'payOut' } as const;

export function typeOf(order: PaymentOrder): PaymentWorkflowType {
  return WORKFLOW_TYPES[order.kind];
}

export function byRequest([, ...one]: Act, [, ...other]: Act): number {
  return String(one).localeCompare(String(other));
}

export function replyAct(reply: Reply): Act {
  return reply.kind === 'done' ? ['reply', reply.request, 'done'] : ['reply', reply.request, 'refused', reply.type];
}

/**
 * Limits of an activity: the worker's time for it and its wait for a worker, in ms, and the number of attempts. A
 * missing one is no limit.
 */
interface Limits {
  readonly runsMs?: number | undefined;
  readonly waitsMs?: number | undefined;
  readonly attempts?: number | undefined;
}

/**
 * Returns the limits of a question to the provider or to Temporal: its worker counts as lost 5 s after the provider's
 * time is up.
 */
export function askingLimits({ providerTimeoutMs }: PaymentTerms): Limits {
  return { runsMs: providerTimeoutMs + 5 * SECOND_MS, attempts: 1 };
}

/**
 * Returns the limits of what moves money. It has more time, for a look at the list: 3 s for the first try, and as long
 * as any question where the list has to be read. It is given up, unsent, when no worker has taken it for 10 minutes.
 */
export function moneyLimits({ providerTimeoutMs }: PaymentTerms, when: SentIf): Limits {
  const lookMs = when === 'unread' ? 3 * SECOND_MS : providerTimeoutMs;
  return { runsMs: providerTimeoutMs + lookMs + 5 * SECOND_MS, waitsMs: 10 * MINUTE_MS, attempts: 1 };
}

/** The activities that move money. */
export const MONEY: readonly string[] = ['directPay', 'payOut'];

/** Returns when a request that moves money is given up, in ms: 5 s after all of its limits. */
export function givenUpAfter(terms: PaymentTerms, when: SentIf): number {
  const { runsMs = 0, waitsMs = 0 } = moneyLimits(terms, when);
  return waitsMs + runsMs + 5 * SECOND_MS;
}

const NOTIFYING: Limits = { runsMs: 10 * SECOND_MS, waitsMs: 5 * SECOND_MS, attempts: 4 };

const SENDS = { link: 'initiatePay', direct: 'directPay', payout: 'payOut' } as const;

/** Returns the activity for the machine's action: its name, its limits and its arguments. */
export function activityAct(payment: PaymentState, todo: Exclude<Todo, { kind: 'wait' | 'end' }>, now: number): Act {
  const { order, terms } = payment;
  const asking = askingLimits(terms);
  switch (todo.kind) {
    case 'send': {
      const name = SENDS[order.kind];
      if (order.kind === 'link') return ['local', name, asking, order, FIRST_RUN_ID];
      const since = heldSince(payment);
      const when = sentIf(payment, now);
      return ['activity', name, moneyLimits(terms, when), order, when, ...(since === undefined ? [] : [since])];
    }
    case 'lookUp':
      return [
        'local',
        'lookUp',
        asking,
        { service: serviceOf(order), paymentId: order.id, isDirect: order.kind === 'direct' },
      ];
    case 'askStatus':
      return ['local', 'paymentStatus', asking, serviceOf(order), todo.transId, now];
    case 'expire':
      return todo.isUnissued
        ? ['local', 'expireUnissued', asking, todo.transId, FIRST_RUN_ID]
        : ['local', 'expirePay', asking, todo.transId];
    case 'checkReset':
      return ['local', 'mayHaveBeenReset', asking, FIRST_RUN_ID];
    case 'deliver':
      return ['activity', 'notifyMerchant', NOTIFYING, messageOf(payment, todo.number)];
  }
}

function messageOf(payment: PaymentState, number: number) {
  const notification = payment.notifications.find((one) => one.number === number);
  if (notification === undefined) return undefined;
  const { type, at } = notification;
  return {
    id: notificationId(payment.order.id, notification),
    type,
    timestamp: new Date(at).toISOString(),
    payment: forMerchant(toPayment(payment)),
  };
}

/** Tells what a command does. Accepting an update is no act: its reply is. */
export function actOf(command: Command): Act[] {
  const { scheduleLocalActivity, scheduleActivity, startTimer, updateResponse } = command;
  if (scheduleLocalActivity) return [['local', ...callOf(scheduleLocalActivity)]];
  if (scheduleActivity) return [['activity', ...callOf(scheduleActivity)]];
  if (startTimer) return [['timer', milliseconds(startTimer.startToFireTimeout)]];
  if (command.cancelTimer) return [['cancelTimer']];
  if (command.requestCancelActivity) return [['cancelActivity']];
  if (command.setPatchMarker) return [['patch', command.setPatchMarker.patchId]];
  if (command.upsertWorkflowSearchAttributes) {
    const fields = Object.entries(command.upsertWorkflowSearchAttributes.searchAttributes?.indexedFields ?? {});
    return [['searchAttributes', Object.fromEntries(fields.map(([name, value]) => [name, valuesOf([value])[0]]))]];
  }
  if (updateResponse) {
    const request = Number(updateResponse.protocolInstanceId);
    if (updateResponse.completed) return [['reply', request, 'done']];
    const type = updateResponse.rejected?.applicationFailureInfo?.type;
    return updateResponse.rejected ? [['reply', request, 'refused', type]] : [];
  }
  if (command.completeWorkflowExecution?.result) {
    const [result] = valuesOf([command.completeWorkflowExecution.result]) as [EndedState];
    return [['end', result.state, result.timeline]];
  }
  if (command.continueAsNewWorkflowExecution) {
    const [input] = valuesOf(command.continueAsNewWorkflowExecution.arguments) as [PaymentInput];
    return [['carryOn', input.carried, input.timeline]];
  }
  return [['unexpected', Object.keys(command)]];
}

type ActivityCommand = NonNullable<Command['scheduleActivity'] | Command['scheduleLocalActivity']>;

function callOf(command: ActivityCommand): Act {
  const limits: Limits = {
    runsMs: milliseconds(command.startToCloseTimeout),
    waitsMs: milliseconds(command.scheduleToStartTimeout),
    attempts: command.retryPolicy?.maximumAttempts || undefined,
  };
  return [command.activityType ?? '', limits, ...valuesOf(command.arguments)];
}

export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
