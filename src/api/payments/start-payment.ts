import { randomBytes } from 'node:crypto';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { linesOf, markdown, xaf } from '../../payments/describe-payment.js';
import type { LinkOrder, PaymentOrder, PaymentTerms } from '../../payments/order.js';
import type { Payment } from '../../payments/payment.js';
import {
  isFinalPayment,
  openPayment,
  type PaymentState,
  statusOf,
  transIdOf,
} from '../../payments/payment-state.js';
import { toPayment } from '../../payments/to-payment.js';
import { paymentSearchAttributes as attributes } from '../../temporal/search-attributes.js';
import type { Tracing } from '../../tracing.js';
import {
  FINGERPRINT_MISMATCH,
  INITIATION_UPDATE_ID,
  type InitiationReply,
  initiationUpdate,
  type PaymentInput,
  type PaymentResult,
  type PaymentWorkflowType,
} from '../../workflows/messages.js';
import { ApiError, temporarilyUnavailable } from '../http/problem.js';
import {
  currentState,
  type FoundPayment,
  findInTemporal,
  findPayment,
  isDormant,
  LAST_LOOK_MS,
  type PaymentMemo,
  type PaymentWorkflow,
} from './find-payment.js';
import {
  expireUngiven,
  type LinkMaker,
  type RecentLinks,
  type RequestedLink,
  requestLink,
  type Turns,
} from './make-link.js';
import { askRecords, UNCHECKED } from './recorded-payments.js';
import { callTemporal, failureTypeOf, type WaitResult, waitFor, wasOvertaken } from './temporal-calls.js';
import type { UpdateContext } from './update-payment.js';

/** What starting payments needs. */
export interface StartContext extends UpdateContext {
  readonly terms: PaymentTerms;
  readonly links: LinkMaker;
  /** Requests that ask for a link take turns, those for one payment at a time. */
  readonly linkTurns: Turns;
  readonly recentLinks: RecentLinks;
  /** Traces requests for links; nobody does, by default. */
  readonly tracing?: Tracing | undefined;
}

/** A merchant's request for a payment. */
export interface StartRequest {
  readonly order: PaymentOrder;
  readonly owner: string;
  readonly fingerprint: string;
  /** Its X-Request-Id. */
  readonly httpRequestId: string;
  /** It has an Idempotency-Key, so that repeating it leads to the same payment. */
  readonly repeatable: boolean;
}

export type StartResult = {
  readonly payment: Payment;
  /** An earlier request with the same key started the payment, which is as it stands now. */
  readonly isRepeated: boolean;
} & (
  | { readonly kind: 'started' }
  /** The provider's answer isn't known yet. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'rejected'; readonly rejection: string }
);

/** A payment can end between two of our calls, but only once. */
const MAX_TRIES = 3;

/**
 * Starts a payment and waits for the provider's answer, in one call to Temporal; finds one that was started
 * before. Never starts a second payment under the same id.
 *
 * @throws {ApiError} `idempotency_key_reused`, `record_unreadable`, `records_unavailable`, or `temporarily_unavailable` with the
 * payment's id.
 */
export async function startPayment(context: StartContext, request: StartRequest): Promise<StartResult> {
  // An X-Request-Id may be sent again, so it alone doesn't tell which request started the payment.
  const requestId = `${request.httpRequestId}.${randomBytes(4).toString('hex')}`;
  try {
    const { order } = request;
    if (order.method === 'link') {
      const result = await startLink(context, { ...request, order }, requestId).catch(asUndecided);
      if (result !== undefined) return result;
    } else if (await isKnown(context, request)) {
      return await known(context, request, requestId).catch(asUndecided);
    }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const result = await tryToStart(context, request, requestId).catch(asUndecided);
      if (result !== undefined) return result;
    }
  } catch (error) {
    throw error instanceof ApiError && error.code === 'temporarily_unavailable'
      ? unavailable(request, error.cause)
      : error;
  }
  throw unavailable(request, new Error('the payment could be neither started nor found'));
}

/**
 * Whether the request has an Idempotency-Key that the records know. Temporal alone would start a payment that it has forgotten
 * once more.
 *
 * Without the records, what would move money by itself, or ask a payer for it, is not begun. A link is made: nothing comes of it
 * unless the payer decides to pay, and shops go on selling.
 *
 * @throws {ApiError} `records_unavailable`, `temporarily_unavailable`.
 */
async function isKnown(context: StartContext, { order, repeatable }: StartRequest): Promise<boolean> {
  const { records } = context;
  if (records === undefined || !repeatable) return false;
  try {
    return await askRecords(() => records.has(order.id), UNCHECKED);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (order.method === 'link') return false;
    if ((await findInTemporal(context, order.id)) !== undefined) return true;
    throw error;
  }
}

/** The payment that {@link isKnown}, as it stands. */
async function known(context: StartContext, request: StartRequest, requestId: string): Promise<StartResult> {
  const earlier = await asItStands(context, request, requestId);
  if (earlier !== undefined) return earlier;
  throw unavailable(request, new Error('a payment that is known was not found'));
}

/** Once the payment is known, or its start was tried, the records' silence no longer means that nothing was sent. */
function asUndecided(error: unknown): never {
  const isSilence = error instanceof ApiError && error.code === 'records_unavailable';
  throw isSilence ? temporarilyUnavailable(undefined, { cause: error }) : error;
}

/** The part of the time for the response that the provider has to make a link in. The rest is for starting the workflow. */
const LINK_SHARE = 0.8;

/**
 * Makes a link and starts the payment's workflow with it. As long as there is nothing to do for the workflow, it doesn't begin: it
 * waits at Temporal for its first poll, or for a message, and no worker knows of it.
 *
 * @returns `undefined` when there is such a payment by now
 */
async function startLink(
  context: StartContext,
  request: StartRequest & { readonly order: LinkOrder },
  requestId: string,
): Promise<StartResult | undefined> {
  const { client, taskQueue, terms, links, answerWithinMs, shutdown } = context;
  const { order, owner, fingerprint, repeatable } = request;
  return await context.linkTurns.take(order.id, async () => {
    // Otherwise each repetition would make a link that nobody is given. The merchant waits for both, so they are asked at once.
    const [isRecorded, earlier] = await Promise.all([
      isKnown(context, request),
      repeatable ? findInTemporal(context, order.id) : undefined,
    ]);
    if (isRecorded) return await known(context, request, requestId);
    if (earlier !== undefined) {
      return isDormant(earlier) ? await asItStands(context, request, requestId) : undefined;
    }
    const createdAt = Date.now();
    const ask = () =>
      shutdown.commands.within(answerWithinMs, (signal) =>
        requestLink(links, order, terms, answerWithinMs * LINK_SHARE, signal),
      );
    const asked = await (context.tracing?.run(order.id, 'requestLink', {}, ask, kindOf) ?? ask());
    const { payment, request: requested, idleMs } = asked;
    const input = { order, terms, fingerprint, requestId, requested };
    const start = { input, taskQueue, owner, createdAt, payment };
    if (idleMs === undefined) {
      const withinMs = createdAt + answerWithinMs - Date.now();
      return await tryToStart(context, request, requestId, { start, withinMs });
    }
    try {
      await callTemporal(client, () => startNow(client, start, idleMs));
    } catch (error) {
      if (!wasOvertaken(error)) throw error;
      return await joinEarlier(context, request, requestId, asked);
    }
    context.recentLinks.add(order.id);
    return toResult({ payment: toPayment(payment) }, { isRepeated: false });
  });
}

const kindOf = ({ request }: RequestedLink) => request.outcome.kind;

/** The payment that was started with this key while this request asked for a link of its own, which nobody gets. */
async function joinEarlier(
  context: StartContext,
  request: StartRequest,
  requestId: string,
  asked: RequestedLink,
): Promise<StartResult | undefined> {
  try {
    const earlier = await asItStands(context, request, requestId);
    expireUngiven(context.links, asked, earlier?.payment.transId);
    return earlier;
  } catch (error) {
    const isOther = error instanceof ApiError && error.code === 'idempotency_key_reused';
    if (isOther) expireUngiven(context.links, asked, undefined);
    throw error;
  }
}

async function tryToStart(
  context: StartContext,
  request: StartRequest,
  requestId: string,
  begin?: Beginning,
): Promise<StartResult | undefined> {
  try {
    const answer = await initiate(context, request, requestId, begin);
    if (answer === undefined) return await undecided(context, request, requestId, begin);
    return answer.value.requestId === requestId
      ? toResult(answer.value, { isRepeated: false })
      : await asItStands(context, request, requestId);
  } catch (error) {
    // The refusal may be another request's, with another body, which shared the update: this one's body is compared.
    if (failureTypeOf(error) === FINGERPRINT_MISMATCH || wasOvertaken(error))
      return await asItStands(context, request, requestId);
    throw error;
  }
}

/** A payment that begins with what has come of its link, and how long the response to its request may still take. */
interface Beginning {
  readonly start: WorkflowStart;
  readonly withinMs: number;
}

function initiate(
  { client, taskQueue, terms, answerWithinMs, shutdown }: StartContext,
  { order, owner, fingerprint }: StartRequest,
  requestId: string,
  begin?: Beginning,
): Promise<WaitResult<InitiationReply>> {
  const input = { order, terms, fingerprint, requestId };
  const { start, withinMs } = begin ?? {
    start: { input, taskQueue, owner, createdAt: Date.now() },
    withinMs: answerWithinMs,
  };
  return shutdown.commands.within(withinMs, (signal) =>
    waitFor(client, signal, withinMs, () =>
      client.workflow.executeUpdateWithStart(initiationUpdate, {
        updateId: INITIATION_UPDATE_ID,
        args: [{ fingerprint }],
        startWorkflowOperation: startOperation(start),
      }),
    ),
  );
}

/** The payment now; `undefined` when there is none, so that starting it can be tried again. */
async function asItStands(
  context: StartContext,
  request: StartRequest,
  requestId: string,
): Promise<StartResult | undefined> {
  const found = await findSame(context, request);
  if (found === undefined) return undefined;
  return toResult(await currentState(context, found), { isRepeated: found.requestId !== requestId });
}

/**
 * The payment while the provider's answer isn't known. It may be unable to say how it stands, or there may be
 * no worker at all. Of a payment that this very request started, it is known all the same: it was created, or what the provider
 * has answered to the API. With such an answer, it is started in any case: even when the process is to stop.
 */
async function undecided(
  context: StartContext,
  request: StartRequest,
  requestId: string,
  begin?: Beginning,
): Promise<StartResult> {
  const found = await findSame(context, request);
  if (found === undefined) {
    if (begin === undefined) throw temporarilyUnavailable();
    await callTemporal(context.client, () => startNow(context.client, begin.start));
    return begun(request, context.terms, begin.start.createdAt, begin);
  }
  const isOurs = found.requestId === requestId;
  try {
    const now = await currentState(context, found, isOurs ? LAST_LOOK_MS : undefined);
    return toResult(now, { isUndecided: true, isRepeated: !isOurs });
  } catch (error) {
    if (!(isOurs && found.running && error instanceof ApiError)) throw error;
    return begun(request, context.terms, found.createdAt, begin);
  }
}

/** What a payment is whose workflow was just started, and hasn't begun. */
function begun(
  { order }: StartRequest,
  terms: PaymentTerms,
  createdAt: number,
  begin: Beginning | undefined,
): StartResult {
  const state = begin?.start.payment ?? openPayment(order, terms, createdAt);
  const rejection = state.phase.kind === 'ended' ? state.phase.rejection : undefined;
  return toResult({ payment: toPayment(state), rejection }, { isUndecided: true, isRepeated: false });
}

/** @throws {ApiError} `idempotency_key_reused`. */
async function findSame(context: StartContext, request: StartRequest): Promise<FoundPayment | undefined> {
  const found = await findPayment(context, request.order.id);
  if (found === undefined || found.fingerprint === request.fingerprint) return found;
  // A record that can't be read says so itself.
  if (found.kind === 'recorded' && found.record.content === undefined) return found;
  throw found.fingerprint === undefined ? keyErased(request) : keyReused(request);
}

function toResult(
  { payment, rejection }: PaymentResult,
  { isRepeated, isUndecided = false }: { readonly isRepeated: boolean; readonly isUndecided?: boolean },
): StartResult {
  if (rejection !== undefined) return { kind: 'rejected', payment, rejection, isRepeated };
  return { kind: isUndecided ? 'undecided' : 'started', payment, isRepeated };
}

const keyReused = ({ order }: StartRequest): ApiError =>
  new ApiError(
    'idempotency_key_reused',
    'This Idempotency-Key was used with another body. Use a new key for a new payment.',
    { paymentId: order.id },
  );

const keyErased = ({ order }: StartRequest): ApiError =>
  new ApiError(
    'idempotency_key_reused',
    "This Idempotency-Key was used for a payment whose payer's data was erased since, so that it can't be said whether it had " +
      `this body. See /v1/payments/${order.id}, and use a new key for a new payment.`,
    { paymentId: order.id },
  );

/** It isn't known whether the payment was accepted: the merchant must find out before paying twice. */
const unavailable = ({ order, repeatable }: StartRequest, cause: unknown): ApiError =>
  temporarilyUnavailable(
    repeatable
      ? 'The payment may or may not have been accepted. Repeat the request with the same Idempotency-Key: it never pays twice.'
      : `The payment may or may not have been accepted. Check /v1/payments/${order.id} before sending it again.`,
    { paymentId: order.id, cause },
  );

/** What a run of a payment's workflow is started with. */
interface WorkflowStart {
  readonly input: PaymentInput;
  readonly owner: string;
  readonly taskQueue: string;
  /** When the payment was created, in ms since the epoch: the same for all of its runs. */
  readonly createdAt: number;
  /** What it begins with, if it was opened before. */
  readonly payment?: PaymentState | undefined;
}

/** Starts a payment's workflow, which begins after the delay. @throws WorkflowExecutionAlreadyStartedError */
function startNow(client: Client, start: WorkflowStart, startDelay?: number): Promise<unknown> {
  return client.workflow.start<PaymentWorkflow>(workflowTypeOf(start.input.order), {
    ...workflowOptions(start),
    ...(startDelay !== undefined && { startDelay }),
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

/**
 * The start of a payment's workflow, for an update to go with. An id never starts twice: while its workflow
 * runs, that one gets the update; once it has ended, the start is refused.
 */
function startOperation(start: WorkflowStart) {
  return new WithStartWorkflowOperation<PaymentWorkflow>(workflowTypeOf(start.input.order), {
    ...workflowOptions(start),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

function workflowTypeOf(order: PaymentOrder): PaymentWorkflowType {
  if (order.kind === 'payout') return 'payOut';
  return order.method === 'link' ? 'collectByLink' : 'collectDirect';
}

/**
 * Options for a run of a payment's workflow, with all that is readable of it without a worker. While a run is
 * open, a start under its id never begins a second one; what happens after its end, the caller chooses.
 */
export function workflowOptions({ input, owner, taskQueue, createdAt, payment }: WorkflowStart) {
  const { order, fingerprint, requestId } = input;
  const { summary, details } = describeOrder(order, owner, payment);
  const memo: PaymentMemo = {
    owner,
    fingerprint,
    requestId,
    ...(order.method !== undefined && { method: order.method }),
    ...(Object.keys(order.metadata).length > 0 && { metadata: order.metadata }),
  };
  return {
    workflowId: order.id,
    taskQueue,
    args: [input] as [PaymentInput],
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo,
    typedSearchAttributes: searchAttributes(order, owner, createdAt, payment),
    staticSummary: summary,
    staticDetails: details,
  } as const;
}

function searchAttributes(
  { kind, amount, externalId, userId }: PaymentOrder,
  owner: string,
  createdAt: number,
  payment: PaymentState | undefined,
): TypedSearchAttributes {
  const transId = payment && transIdOf(payment);
  return new TypedSearchAttributes([
    { key: attributes.merchant, value: owner },
    { key: attributes.status, value: payment === undefined ? 'CREATED' : statusOf(payment) },
    // The workflow sets it when it changes, and a payment that is opened again may never change.
    ...(payment !== undefined && isFinalPayment(payment) ? [{ key: attributes.final, value: true }] : []),
    { key: attributes.kind, value: kind },
    { key: attributes.amount, value: amount },
    { key: attributes.createdAt, value: createdAt },
    ...(externalId === undefined ? [] : [{ key: attributes.externalId, value: externalId }]),
    ...(userId === undefined ? [] : [{ key: attributes.userId, value: userId }]),
    ...(transId === undefined ? [] : [{ key: attributes.transId, value: transId }]),
  ]);
}

const COLLECTIONS = { link: 'Collection by link', direct: 'Collection from a phone' } as const;

/**
 * What Temporal's Web UI shows of a payment: a title, and details in Markdown. Nothing about the payer or the
 * recipient, so that an operator can show the page to somebody.
 */
function describeOrder(
  order: PaymentOrder,
  owner: string,
  payment: PaymentState | undefined,
): { summary: string; details: string } {
  const what = order.kind === 'payout' ? 'Payout' : COLLECTIONS[order.method];
  const amount = xaf(order.amount);
  const lines = [
    `**${what}** of **${amount}**`,
    '',
    `- Merchant: ${code(owner)}`,
    ...(order.externalId === undefined ? [] : [`- externalId: ${code(order.externalId)}`]),
    ...(order.userId === undefined ? [] : [`- userId: ${code(order.userId)}`]),
    ...(payment === undefined || isFinalPayment(payment)
      ? []
      : ['', 'At its start:', '', ...linesOf(payment)]),
  ];
  return { summary: `${what} of ${amount}`, details: markdown(lines) };
}

const code = (text: string) => `\`${text}\``;
