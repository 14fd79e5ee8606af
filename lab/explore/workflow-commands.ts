import { notificationId } from '../../src/payments/notification.js';
import type { PaymentOrder } from '../../src/payments/order.js';
import type { PaymentState } from '../../src/payments/payment-state.js';
import { forMerchant, toPayment } from '../../src/payments/to-payment.js';
import type { Reply, Todo } from '../../src/payments/transitions.js';
import type { EndedState, PaymentInput, PaymentWorkflowType } from '../../src/workflows/messages.js';
import { type Command, FIRST_RUN_ID, valuesOf } from './workflow-vm.js';

/** A command without its sequence numbers: what it does, and with what. */
export type Act = readonly [name: string, ...details: unknown[]];

export function typeOf(order: PaymentOrder): PaymentWorkflowType {
  if (order.kind === 'payout') return 'payOut';
  return order.method === 'link' ? 'collectByLink' : 'collectDirect';
}

export function byRequest([, ...one]: Act, [, ...other]: Act): number {
  return String(one).localeCompare(String(other));
}

export function replyAct(reply: Reply): Act {
  return reply.kind === 'done'
    ? ['reply', reply.request, 'done']
    : ['reply', reply.request, 'refused', reply.type];
}

const SENDS = { link: 'initiatePay', direct: 'directPay' } as const;

/** The activity that something to be done is done by. */
export function activityAct(
  payment: PaymentState,
  todo: Exclude<Todo, { kind: 'wait' | 'end' }>,
  now: number,
): Act {
  const { order } = payment;
  switch (todo.kind) {
    case 'send': {
      const name = order.method === undefined ? 'payOut' : SENDS[order.method];
      return order.method === 'link' ? ['local', name, order, FIRST_RUN_ID] : ['activity', name, order];
    }
    case 'lookUp':
      return ['local', 'lookUp', { service: order.kind, paymentId: order.id }];
    case 'askStatus':
      return ['local', 'paymentStatus', order.kind, todo.transId, now];
    case 'expire':
      return ['local', 'expirePay', todo.transId, ...(todo.isOrphan ? [FIRST_RUN_ID] : [])];
    case 'deliver':
      return ['local', 'notifyMerchant', messageOf(payment, todo.number)];
    case 'redeliver':
      return ['activity', 'notifyMerchantAgain', messageOf(payment, todo.number)];
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

/** What a command does. Accepting an update is no act: its reply is. */
export function actOf(command: Command): Act[] {
  const { scheduleLocalActivity, scheduleActivity, startTimer, updateResponse } = command;
  if (scheduleLocalActivity) {
    return [['local', scheduleLocalActivity.activityType, ...valuesOf(scheduleLocalActivity.arguments)]];
  }
  if (scheduleActivity) {
    return [['activity', scheduleActivity.activityType, ...valuesOf(scheduleActivity.arguments)]];
  }
  if (startTimer) {
    const { seconds, nanos } = startTimer.startToFireTimeout ?? {};
    return [['timer', Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000]];
  }
  if (command.cancelTimer) return [['cancelTimer']];
  if (command.upsertWorkflowSearchAttributes) {
    const fields = Object.entries(
      command.upsertWorkflowSearchAttributes.searchAttributes?.indexedFields ?? {},
    );
    return [
      ['searchAttributes', Object.fromEntries(fields.map(([name, value]) => [name, valuesOf([value])[0]]))],
    ];
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

export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
