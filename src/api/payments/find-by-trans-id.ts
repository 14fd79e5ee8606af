import { type Client, isGrpcServiceError, ServiceError } from '@temporalio/client';
import { type PaymentId, parsePaymentId } from '../../payments/payment-id.js';
import type { Api } from '../api.js';
import { ask } from './temporal-calls.js';
import { isQueryable, queryByTransId } from './visibility-query.js';

/** gRPC's code for a method that a server doesn't have. */
const UNIMPLEMENTED = 12;

/**
 * The payments that have a transaction of the provider; there should be one at most. A payment is found some moments
 * after it got its transaction.
 *
 * @throws {ApiError} `temporarily_unavailable`.
 */
export async function findByTransId({ client }: Pick<Api, 'client'>, transId: string): Promise<PaymentId[]> {
  if (!isQueryable(transId)) return [];
  return await ask(client, async () => {
    try {
      return await list(client, transId);
    } catch (error) {
      // A server that keeps no visibility at all can't be asked; this is never the only fence.
      if (isUnimplemented(error)) return [];
      throw error;
    }
  });
}

async function list(client: Client, transId: string): Promise<PaymentId[]> {
  const ids = new Set<PaymentId>();
  for await (const { workflowId } of client.workflow.list({ query: queryByTransId(transId) })) {
    const id = parsePaymentId(workflowId);
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
}

function isUnimplemented(error: unknown): boolean {
  const { cause } = error instanceof ServiceError ? error : { cause: error };
  return isGrpcServiceError(cause) && cause.code === UNIMPLEMENTED;
}
