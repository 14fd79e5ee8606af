import type { Client } from '@temporalio/client';
import type proto from '@temporalio/proto';
import { grpcErrorOf, isTooLarge } from './connection.js';

type Listed = Pick<
  proto.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse,
  'executions' | 'nextPageToken'
>;

/** Runs of workflows in Temporal's index. */
export interface WorkflowPage {
  readonly executions: Listed['executions'];
  readonly isLast: boolean;
}

interface ListRequest {
  /** In Temporal's query language. */
  readonly query: string;
  /** Runs on a page, at most. Each has its memo, with all that merchants have stored in it. */
  readonly pageSize: number;
}

/**
 * The runs that a query finds, a page at a time. A page that is too large to be sent or received is asked for again
 * with half as many, down to one; so are those after it.
 *
 * @param call makes each call to Temporal, within the time that it may take
 */
export async function* pagesOf(
  client: Client,
  { query, pageSize }: ListRequest,
  call: <T>(list: () => Promise<T>) => Promise<T>,
): AsyncGenerator<WorkflowPage> {
  const { namespace } = client.options;
  let size = pageSize;
  let nextPageToken: Uint8Array | null = null;
  for (;;) {
    let page: Listed;
    const request: object = { namespace, query, pageSize: size, nextPageToken };
    try {
      page = await call(() => client.workflowService.listWorkflowExecutions(request));
    } catch (error) {
      if (!wasTooLarge(error) || size === 1) throw error;
      size = Math.ceil(size / 2);
      continue;
    }
    const isLast = page.nextPageToken.length === 0;
    yield { executions: page.executions, isLast };
    if (isLast) return;
    nextPageToken = page.nextPageToken;
  }
}

/** @param error of gRPC, or caused by one */
function wasTooLarge(error: unknown): boolean {
  const failed = grpcErrorOf(error) ?? (error instanceof Error ? grpcErrorOf(error.cause) : undefined);
  return failed !== undefined && isTooLarge(failed);
}
