import { status as grpc, Metadata } from '@grpc/grpc-js';
import { type Client, ServiceError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common/lib/converter/payload-converter.js';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import proto from '@temporalio/proto';
import { toPayment } from '../../src/payments/views/to-payment.js';
import type { LinkOrder } from '../../src/payments/words/order.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { openPayment, type PaymentState } from '../../src/payments/words/payment-state.js';
import { paymentSearchAttributes as attributes } from '../../src/temporal/search-attributes.js';
import type { EndedPayment } from '../../src/workflows/messages.js';
import { terms } from './api-under-test.js';

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

/** A payment's run, as Temporal has it. */
export interface Run {
  readonly id: PaymentId;
  readonly closedAt: number;
  /** Without it, the index has no status of it. */
  readonly status?: 'SUCCESSFUL';
  /** An operator has stopped it: a worker has to say what it has left. */
  readonly isStopped?: boolean;
  /** Returns its result, or throws the reason why it can't be read. */
  result(): Promise<EndedPayment>;
}

export const idOf = (number: number) => `col_${String(number).padStart(32, '0')}` as PaymentId;

/** A run of a link of 500 XAF that was paid a minute after its creation. */
export function paid(number: number, closedAt: number, changes: Partial<Run> = {}): Run {
  const order: LinkOrder = {
    id: idOf(number),
    kind: 'link',
    amount: 500,
    metadata: {},
  };
  const state: PaymentState = {
    ...openPayment(order, terms, closedAt - 60_000),
    phase: { kind: 'ended', status: 'SUCCESSFUL', checks: [] },
    notifications: [
      { number: 1, type: 'payment.succeeded', at: closedAt, delivery: { kind: 'noAddress', at: closedAt } },
    ],
  };
  return {
    id: order.id,
    closedAt,
    status: 'SUCCESSFUL',
    result: async () => ({ v: 1, payment: toPayment(state), state }),
    ...changes,
  };
}

const timestamp = (ms: number) => ({ seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1e6 });

function toInfo({ id, closedAt, status, isStopped }: Run) {
  const createdAt = closedAt - 60_000;
  const indexed = new TypedSearchAttributes([
    { key: attributes.merchant, value: 'shop' },
    { key: attributes.kind, value: 'collection' },
    { key: attributes.amount, value: 500 },
    { key: attributes.createdAt, value: createdAt },
    { key: attributes.final, value: true },
    ...(status === undefined ? [] : [{ key: attributes.status, value: status }]),
  ]);
  const memo = { owner: 'shop', requestId: 'request', fingerprint: 'digest' };
  return {
    execution: { workflowId: id, runId: `run-of-${id}` },
    status: isStopped ? Status.WORKFLOW_EXECUTION_STATUS_TERMINATED : Status.WORKFLOW_EXECUTION_STATUS_COMPLETED,
    startTime: timestamp(createdAt),
    closeTime: timestamp(closedAt),
    searchAttributes: { indexedFields: encodeUnifiedSearchAttributes(undefined, indexed) },
    memo: {
      fields: Object.fromEntries(
        Object.entries(memo).map(([name, text]) => [name, defaultPayloadConverter.toPayload(text)]),
      ),
    },
  };
}

/** Makes the error of a call to Temporal that failed. */
export function failedWith(code: grpc): Error {
  const cause = Object.assign(new Error(grpc[code]), { code, details: '', metadata: new Metadata() });
  return new ServiceError('a call has failed', { cause });
}

/**
 * As much of Temporal as the recorder asks: an index of ended runs, and what these have left.
 *
 * @param onAsked called before it answers which runs ended at or after a time and before another, in ms since the epoch
 */
export function temporalWith(
  runs: readonly Run[],
  onAsked: (from: number, to: number) => void = () => undefined,
): Client {
  const between = (query: string) => {
    const [from, to] = [...query.matchAll(/"(\d{4}-[^"]+Z)"/g)].map(([, text = '']) => Date.parse(text));
    if (from === undefined || to === undefined) return [];
    onAsked(from, to);
    return runs.filter(({ closedAt }) => closedAt >= from && closedAt < to);
  };
  const run = <T>(_: unknown, call: () => T) => call();
  const stub = {
    options: {
      namespace: 'default',
      loadedDataConverter: { payloadConverter: defaultPayloadConverter, payloadCodecs: [] },
    },
    withDeadline: run,
    withAbortSignal: run,
    workflowService: {
      listWorkflowExecutions: async ({ query }: { query: string }) => ({
        executions: between(query).map(toInfo),
        nextPageToken: new Uint8Array(),
      }),
      describeNamespace: async () => ({
        config: { workflowExecutionRetentionTtl: { seconds: 30 * 86_400 } },
      }),
    },
    workflow: {
      getHandle: (id: string) => {
        const leave = async () => await runs.find((one) => one.id === id)?.result();
        return { result: leave, query: leave };
      },
    },
  };
  return stub as unknown as Client;
}
