import type { WorkflowService } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';

const DAY = 24 * 60 * 60 * 1_000;

/**
 * How long the namespaces that Sanaga sets up keep ended payments, in days. An idempotency key holds exactly as long
 * as Temporal keeps the workflow, so this is also how long a merchant may repeat a request without paying twice.
 */
export const RETENTION_DAYS = 30;

/**
 * Raises the namespace's retention to at least `days`. A longer one is left as it is: an operator chose it.
 *
 * @throws ServiceError of gRPC when the server is away or refuses.
 */
export async function ensureRetention(
  connection: { readonly workflowService: Pick<WorkflowService, 'describeNamespace' | 'updateNamespace'> },
  namespace: string,
  days: number = RETENTION_DAYS,
): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  const current = optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0;
  if (current >= days * DAY) return;

  await connection.workflowService.updateNamespace({
    namespace,
    config: { workflowExecutionRetentionTtl: msToTs(days * DAY) },
  });
}
