import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { parsePaymentId } from './payments/payment-id.js';
import type { Tracing } from './tracing.js';
import type { PaymentChange } from './workflows/metrics.js';

/** Puts each activity of a payment into its trace; the calls that it makes are parts of it. */
export function traceActivities(tracing: Tracing): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const id = parsePaymentId(info.workflowExecution?.workflowId);
        if (id === undefined) return await next(input);
        const attributes = {
          'temporal.activity.type': info.activityType,
          'temporal.workflow.run_id': info.workflowExecution?.runId ?? '',
        };
        return await tracing.run(id, info.activityType, attributes, () => next(input), kindOf);
      },
    },
  });
}

/** Activities answer with a value whose kind says what came of it. */
function kindOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  return typeof value.kind === 'string' ? value.kind : undefined;
}

/** Puts a payment that has come to its outcome at the root of its trace. */
export function traceOutcome(tracing: Tracing, workflowId: string, change: PaymentChange): void {
  const id = parsePaymentId(workflowId);
  if (id === undefined || change.outcomeAfterMs === undefined) return;
  const endedAt = Date.now();
  tracing.recordPayment(id, {
    name: `payment ${change.kind}`,
    begunAt: endedAt - change.outcomeAfterMs,
    endedAt,
    attributes: { 'sanaga.payment.kind': change.kind, 'sanaga.payment.status': change.status },
  });
}
