import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { toPayment } from '../payments/views/to-payment.js';
import type { LinkOrder, PaymentOrder, PaymentTerms } from '../payments/words/order.js';
import type { Payment } from '../payments/words/payment.js';

import { openPayment, rejectionOf, transIdOf } from '../payments/words/payment-state.js';
import type { Tracing } from '../telemetry/tracing.js';
import {
  FINGERPRINT_MISMATCH,
  INITIATION_UPDATE_ID,
  type InitiationReply,
  initiationUpdate,
  type PaymentResult,
} from '../workflows/messages.js';
import { KeyReused, RecordsUnavailable, StartUncertain, Unavailable } from './errors.js';
import { type FoundPayment, findInTemporal, findPayment, findWorkflow, isDelayedStart } from './find-payment.js';
import { type LinkMaker, type LinkOperations, type Links, type RequestedLink, requestLink } from './links.js';
import { LAST_LOOK_MS, readPayment } from './read-payment.js';
import { askRecords, findRecorded, UNCHECKED } from './recorded-payments.js';
import { callTemporal, failureTypeOf, type WaitResult, waitForAnswer, wasOvertaken } from './temporal-calls.js';
import type { UpdateContext } from './update-payment.js';
import { startNow, startOperation, type WorkflowStart } from './workflow-start.js';

/** Dependencies of starting payments. */
export interface StartContext extends UpdateContext {
  readonly terms: PaymentTerms;
  readonly links: LinkMaker;
  /** The links that this process has made. */
  readonly madeLinks: Links<MadeLink>;
  /** Traces requests for links; they aren't traced by default. */
  readonly tracing?: Tracing | undefined;
}

/** The provider's answer to the request for a link, and the start of its payment. */
export interface MadeLink {
  readonly asked: RequestedLink;
  readonly start: WorkflowStart;
}

/** A merchant's request for a payment. */
export interface StartRequest {
  readonly order: PaymentOrder;
  readonly merchant: string;
  readonly fingerprint: string;
  /** Its X-Request-Id. */
  readonly httpRequestId: string;
  /** It has an Idempotency-Key, so that repeating it leads to the same payment. */
  readonly repeatable: boolean;
  /** The payment never starts after this, in ms since the epoch. */
  readonly startBy?: number | undefined;
}

export type StartResult = {
  readonly payment: Payment;
  /** An earlier request with the same key started the payment, which is returned as it is now. */
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
 * @throws {KeyReused | RecordUnreadable | RecordsUnavailable | StartUncertain}
 */
export async function startPayment(context: StartContext, request: StartRequest): Promise<StartResult> {
  // An X-Request-Id may be repeated, so it alone doesn't identify the request that started the payment.
  const requestId = `${request.httpRequestId}.${randomBytes(4).toString('hex')}`;
  try {
    const { order } = request;
    if (order.kind === 'link') {
      const result = await startLink(context, { ...request, order }, requestId).catch(rethrowAsUnavailable);
      if (result !== undefined) return result;
    } else if (await isRecordedRequest(context, request)) {
      return await mustReadExisting(context, request, requestId).catch(rethrowAsUnavailable);
    }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const result = await tryToStart(context, request, requestId).catch(rethrowAsUnavailable);
      if (result !== undefined) return result;
    }
  } catch (error) {
    throw error instanceof Unavailable ? uncertain(request, error.cause) : error;
  }
  throw uncertain(request, new Error('the payment could be neither started nor found'));
}

/**
 * Finds the payment of a request that may be a repeated one, and starts none.
 *
 * @throws {KeyReused | RecordUnreadable | RecordsUnavailable | Unavailable}
 */
export async function findStartedPayment(
  context: StartContext,
  request: RepeatedRequest,
): Promise<(StartResult & { readonly isRepeated: true }) | undefined> {
  const found = await findRepeated(context, request, UNCHECKED);
  if (found === undefined) return undefined;
  return { ...toResult(await readPayment(context, found), { isRepeated: true }), isRepeated: true };
}

/**
 * Reports whether the request has an Idempotency-Key that the records know. Temporal alone would start a forgotten
 * payment again.
 *
 * Without the records, what would move money by itself, or ask a payer for it, is not begun. A link is made: nothing
 * comes of it unless the payer decides to pay, and shops go on selling.
 *
 * @throws {RecordsUnavailable | Unavailable}
 */
async function isRecordedRequest(context: StartContext, { order, repeatable }: StartRequest): Promise<boolean> {
  const { records } = context;
  if (records === undefined || !repeatable) return false;
  try {
    return await askRecords(() => records.has(order.id), UNCHECKED);
  } catch (error) {
    if (!(error instanceof RecordsUnavailable)) throw error;
    if (order.kind === 'link') return false;
    if ((await findInTemporal(context, order.id)) !== undefined) return true;
    throw error;
  }
}

/** Reads a payment that is known to exist. */
async function mustReadExisting(context: StartContext, request: StartRequest, requestId: string): Promise<StartResult> {
  const earlier = await readExisting(context, request, requestId);
  if (earlier !== undefined) return earlier;
  throw uncertain(request, new Error('a payment that is known was not found'));
}

/** Turns {@link RecordsUnavailable} into {@link Unavailable}: a known payment, or one being started, may be sent. */
function rethrowAsUnavailable(error: unknown): never {
  throw error instanceof RecordsUnavailable ? new Unavailable(undefined, error) : error;
}

/** Share of the time for the response that the provider has to make a link. The rest is for starting the workflow. */
const LINK_SHARE = 0.8;

/**
 * Makes a link and starts the payment's workflow with it. While the workflow has nothing to do, it doesn't begin: it
 * waits at Temporal for its first poll, or for a message, without a worker.
 *
 * @returns `undefined` when the payment has begun, and can be asked itself
 */
async function startLink(
  context: StartContext,
  request: StartRequest & { readonly order: LinkOrder },
  requestId: string,
): Promise<StartResult | undefined> {
  const arrivedAt = Date.now();
  const { id } = request.order;
  const opened = await context.madeLinks.open(id, linkOperations(context, request, requestId));
  switch (opened.kind) {
    case 'found': {
      const { found } = opened;
      const waits = found.kind === 'recorded' || isDelayedStart(found);
      return waits ? await mustReadExisting(context, request, requestId) : undefined;
    }
    case 'started': {
      const { payment } = opened.made.asked;
      if (opened.isNew) return toResult({ payment: toPayment(payment) }, { isRepeated: false });
      return await mustReadExisting(context, request, requestId);
    }
    case 'noLink': {
      const withinMs = arrivedAt + context.answerWithinMs - Date.now();
      return await tryToStart(context, request, requestId, { start: opened.made.start, withinMs });
    }
  }
}

function linkOperations(
  context: StartContext,
  request: StartRequest & { readonly order: LinkOrder },
  requestId: string,
): LinkOperations<MadeLink, FoundPayment> {
  const { client, links } = context;
  return {
    isUnique: !request.repeatable,
    find: () => findStarted(context, request),
    ask: () => askForLink(context, request, requestId),
    isLink: ({ asked }) => asked.request.outcome.kind === 'accepted',
    async start({ start, asked: { request: requested, idleMs = 0 } }) {
      const delayMs = requested.answeredAt + idleMs - Date.now();
      try {
        await callTemporal(client, () => startNow(client, start, delayMs > 0 ? delayMs : undefined));
        return true;
      } catch (error) {
        if (wasOvertaken(error)) return false;
        throw error;
      }
    },
    mayHaveStarted: (error) => error instanceof Unavailable,
    async findStarted() {
      const found = await findStarted(context, request);
      if (found !== undefined) return found;
      throw new Unavailable(undefined, new Error('the payment was started, and is not there'));
    },
    isStartedWith: (found, { start }) => found.requestId === start.input.requestId,
    expire({ asked: { payment } }) {
      const transId = transIdOf(payment);
      if (transId === undefined) return;
      void links.expirePay(transId).catch(() => undefined);
    },
    pause: (ms) =>
      context.shutdown.reads.within(2 * ms, (signal) =>
        pause(ms, undefined, { signal }).then(
          () => true,
          () => false,
        ),
      ),
  };
}

/**
 * Finds the payment of a request for a link. The merchant waits for both answers, so the records and Temporal are asked
 * at once.
 *
 * @throws {Unavailable} also when Temporal has something else under its id: any link would be in vain.
 */
async function findStarted(context: StartContext, request: StartRequest): Promise<FoundPayment | undefined> {
  const { id } = request.order;
  const [isRecorded, found] = await Promise.all([isRecordedRequest(context, request), findWorkflow(context, id)]);
  if (found === 'foreign') {
    throw new Unavailable(undefined, new Error('a workflow that is no payment has its id'));
  }
  return found ?? (isRecorded ? await findRecorded(context, id) : undefined);
}

async function askForLink(
  context: StartContext,
  { order, merchant, fingerprint }: StartRequest & { readonly order: LinkOrder },
  requestId: string,
): Promise<MadeLink> {
  const { taskQueue, terms, links, answerWithinMs, shutdown, tracing } = context;
  const createdAt = Date.now();
  const ask = () =>
    shutdown.commands.within(answerWithinMs, (signal) =>
      requestLink(links, order, terms, answerWithinMs * LINK_SHARE, signal),
    );
  const asked = await (tracing?.run(order.id, 'requestLink', {}, ask, kindOf) ?? ask());
  const { payment, request: requested } = asked;
  const input = { v: 1, order, terms, fingerprint, requestId, requested } as const;
  return { asked, start: { input, taskQueue, merchant, createdAt, payment } };
}

const kindOf = ({ request }: RequestedLink) => request.outcome.kind;

async function tryToStart(
  context: StartContext,
  request: StartRequest,
  requestId: string,
  begin?: LinkStart,
): Promise<StartResult | undefined> {
  try {
    const answer = await initiate(context, request, requestId, begin);
    if (answer === undefined) return await readUndecided(context, request, requestId, begin);
    return answer.value.requestId === requestId
      ? toResult(answer.value, { isRepeated: false })
      : await readExisting(context, request, requestId);
  } catch (error) {
    // The refusal may be another request's, with another body, which shared the update: this one's body is compared.
    if (failureTypeOf(error) === FINGERPRINT_MISMATCH || wasOvertaken(error))
      return await readExisting(context, request, requestId);
    throw error;
  }
}

/** A payment that begins with the result of its link's request, and the rest of the time for its response. */
interface LinkStart {
  readonly start: WorkflowStart;
  readonly withinMs: number;
}

function initiate(
  { client, taskQueue, terms, answerWithinMs, shutdown }: StartContext,
  { order, merchant, fingerprint, startBy = Number.POSITIVE_INFINITY }: StartRequest,
  requestId: string,
  begin?: LinkStart,
): Promise<WaitResult<InitiationReply>> {
  if (Date.now() > startBy) throw new Unavailable(undefined, new Error('the payment would have started too late'));
  const input = { v: 1, order, terms, fingerprint, requestId } as const;
  const { start, withinMs } = begin ?? {
    start: { input, taskQueue, merchant, createdAt: Date.now() },
    withinMs: answerWithinMs,
  };
  return shutdown.commands.within(withinMs, (signal) =>
    waitForAnswer(client, signal, withinMs, () =>
      client.workflow.executeUpdateWithStart(initiationUpdate, {
        updateId: INITIATION_UPDATE_ID,
        args: [{ fingerprint }],
        startWorkflowOperation: startOperation(start),
      }),
    ),
  );
}

/** Reads the payment; `undefined` when there is none, so that starting it can be tried again. */
async function readExisting(
  context: StartContext,
  request: StartRequest,
  requestId: string,
): Promise<StartResult | undefined> {
  const found = await findRepeated(context, request);
  if (found === undefined) return undefined;
  return toResult(await readPayment(context, found), { isRepeated: found.requestId !== requestId });
}

/**
 * Reads the payment while the provider's answer isn't known. It may be unable to answer, or there may be no worker. The
 * state of a payment that this very request started is known all the same: created, or the provider's answer to the
 * API. With such an answer, it is started in any case, even when the process is to stop.
 */
async function readUndecided(
  context: StartContext,
  request: StartRequest,
  requestId: string,
  begin?: LinkStart,
): Promise<StartResult> {
  const found = await findRepeated(context, request);
  if (found === undefined) {
    if (begin === undefined) throw new Unavailable();
    await callTemporal(context.client, () => startNow(context.client, begin.start));
    return resultAtStart(request, context.terms, begin.start.createdAt, begin);
  }
  const isOurs = found.requestId === requestId;
  try {
    const now = await readPayment(context, found, isOurs ? LAST_LOOK_MS : undefined);
    return toResult(now, { isUndecided: true, isRepeated: !isOurs });
  } catch (error) {
    if (!(isOurs && found.running && error instanceof Unavailable)) throw error;
    return resultAtStart(request, context.terms, found.createdAt, begin);
  }
}

/** Makes the result for a payment whose workflow was just started, and hasn't begun. */
function resultAtStart(
  { order }: StartRequest,
  terms: PaymentTerms,
  createdAt: number,
  begin: LinkStart | undefined,
): StartResult {
  const state = begin?.start.payment ?? openPayment(order, terms, createdAt);
  return toResult(
    { payment: toPayment(state), rejection: rejectionOf(state) },
    { isUndecided: true, isRepeated: false },
  );
}

/** The payment that a request may repeat, and the digest of its body. */
interface RepeatedRequest {
  readonly order: Pick<PaymentOrder, 'id'>;
  readonly fingerprint: string;
}

/** Finds the payment that the request may repeat. @throws {KeyReused} when it was started with another body */
async function findRepeated(
  context: StartContext,
  request: RepeatedRequest,
  unread?: string,
): Promise<FoundPayment | undefined> {
  const found = await findPayment(context, request.order.id, unread);
  if (found === undefined || found.fingerprint === request.fingerprint) return found;
  // A record that can't be read has an error of its own.
  if (found.kind === 'recorded' && found.record.content === undefined) return found;
  throw new KeyReused(found.id, found.fingerprint === undefined);
}

function toResult(
  { payment, rejection }: PaymentResult,
  { isRepeated, isUndecided = false }: { readonly isRepeated: boolean; readonly isUndecided?: boolean },
): StartResult {
  if (rejection !== undefined) return { kind: 'rejected', payment, rejection, isRepeated };
  return { kind: isUndecided ? 'undecided' : 'started', payment, isRepeated };
}

const uncertain = ({ order, repeatable }: StartRequest, cause: unknown): StartUncertain =>
  new StartUncertain(order.id, repeatable, cause);
