import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { findRow, type PaymentRow } from '../book/payments.js';
import { markdown } from '../payments/views/describe-payment.js';
import { xaf } from '../payments/words/limits.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import { paymentSearchAttributes as attributes, toTransIdKeyword } from '../temporal/search-attributes.js';
import { bellSignal, PAYMENT_WORKFLOW_TYPES, type PaymentInput } from '../workflows/messages.js';
import { isEngineError } from './errors.js';
import { callTemporal, sendWithStart } from './temporal-calls.js';

/** Dependencies of starting payments' workflows, and of ringing them. */
export interface RingContext {
  readonly client: Client;
  readonly taskQueue: string;
  readonly book: Book;
}

/** What a workflow is started with, so that operators can tell it from others. */
export type Startable = Pick<
  PaymentRow,
  'id' | 'merchant' | 'kind' | 'method' | 'amount' | 'status' | 'externalId' | 'userId' | 'transId' | 'refundOf'
>;

/**
 * Starts a payment's workflow, unless it runs.
 *
 * @param delayMs until when it has nothing to do. A bell begins it at once.
 * @throws {Unavailable}
 */
export async function startWorkflow(
  { client, taskQueue }: RingContext,
  payment: Startable,
  delayMs = 0,
): Promise<void> {
  try {
    await callTemporal(client, () =>
      client.workflow.start(PAYMENT_WORKFLOW_TYPES[payment.method], {
        ...workflowOptions(payment, taskQueue),
        workflowIdConflictPolicy: 'USE_EXISTING',
        ...(delayMs > 0 && { startDelay: delayMs }),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/**
 * Has a payment's workflow take a turn, and starts it if it doesn't run. What it is for stands in the book.
 *
 * @throws {Unavailable | BookUnavailable}
 */
export type Ring = (id: PaymentId) => Promise<void>;

export function ringer(client: Client, taskQueue: string, book: Book): Ring {
  return async (id) => {
    const payment = await findRow(book, id);
    if (payment !== undefined) await ringWorkflow({ client, taskQueue, book }, payment);
  };
}

/** Rings a payment that was read before, as {@link Ring} does. @throws {Unavailable} */
export async function ringWorkflow({ client, taskQueue }: RingContext, payment: Startable): Promise<void> {
  await sendWithStart(client, () =>
    client.workflow.signalWithStart(PAYMENT_WORKFLOW_TYPES[payment.method], {
      ...workflowOptions(payment, taskQueue),
      signal: bellSignal,
      signalArgs: [],
    }),
  );
}

/** Calls Temporal about what stands in the book: while Temporal is away, the keeper does so in its place later. */
export async function tryTemporal(
  { logger }: { readonly logger: Logger },
  paymentId: PaymentId,
  call: () => Promise<void>,
): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isEngineError(error)) throw error;
    logger.warn({ err: error, paymentId }, "a payment's workflow could not be reached, and is rung within minutes");
  }
}

function workflowOptions(payment: Startable, taskQueue: string) {
  const { summary, details } = describe(payment);
  const input: PaymentInput = { v: 1, id: payment.id };
  return {
    workflowId: payment.id,
    taskQueue,
    args: [input] as [PaymentInput],
    // Two runs at once do no harm, and one that was ended by hand is begun again.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    typedSearchAttributes: searchAttributes(payment),
    staticSummary: summary,
    staticDetails: details,
  } as const;
}

function searchAttributes({ merchant, kind, status, externalId, transId }: Startable): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: attributes.merchant, value: merchant },
    { key: attributes.kind, value: kind },
    { key: attributes.status, value: status },
    ...(externalId === undefined ? [] : [{ key: attributes.externalId, value: externalId }]),
    ...(transId === undefined ? [] : [{ key: attributes.transId, value: toTransIdKeyword(transId) }]),
  ]);
}

const TITLES = { link: 'Collection by link', direct: 'Collection from a phone', payout: 'Payout' } as const;

/**
 * Describes a payment for Temporal's Web UI: a title, and details in Markdown. Nothing about the payer or the
 * recipient, so that an operator can show the page to somebody.
 */
function describe({ merchant, method, amount, externalId, userId, refundOf }: Startable) {
  const what = refundOf === undefined ? TITLES[method] : 'Refund';
  const lines = [
    `**${what}** of **${xaf(amount)}**`,
    '',
    `- Merchant: ${code(merchant)}`,
    ...(refundOf === undefined ? [] : [`- Refunds: ${code(refundOf)}`]),
    ...(externalId === undefined ? [] : [`- externalId: ${code(externalId)}`]),
    ...(userId === undefined ? [] : [`- userId: ${code(userId)}`]),
  ];
  return { summary: `${what} of ${xaf(amount)}`, details: markdown(lines) };
}

const code = (text: string) => `\`${text}\``;
