import { randomBytes } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { PaymentOrder } from '../../payments/order.js';
import type { Payment } from '../../payments/payment.js';
import { openPayment } from '../../payments/payment-state.js';
import { toPayment } from '../../payments/to-payment.js';
import {
  FINGERPRINT_MISMATCH,
  type InitiationReply,
  initiationUpdate,
  type PaymentResult,
} from '../../workflows/messages.js';
import type { Api } from '../api.js';
import { ApiError, temporarilyUnavailable } from '../problem.js';
import { currentState, type Found, findPayment } from './find-payment.js';
import { startOperation } from './start-operation.js';
import { ENDED_MEANWHILE, refusalOf, type Waited, waitFor } from './temporal-calls.js';

/** What a merchant asks for, and on whose behalf. */
export interface Beginning {
  readonly order: PaymentOrder;
  readonly owner: string;
  readonly fingerprint: string;
  readonly requestId: string;
  /** The request has an Idempotency-Key, so that repeating it leads to the same payment. */
  readonly repeatable: boolean;
}

/** What became of it. */
export type Begun =
  | { readonly kind: 'new'; readonly payment: Payment }
  /** An earlier request with the same key had begun it; the payment is as it stands now. */
  | { readonly kind: 'repeated'; readonly payment: Payment }
  /** The provider's answer is not known yet. */
  | { readonly kind: 'undecided'; readonly payment: Payment }
  | { readonly kind: 'rejected'; readonly payment: Payment; readonly rejection: string };

/** A payment can end between two calls of ours, but only once. */
const TRIES = 3;

/** ms that a payment gets to say how it stands when the time to answer is over already. */
const GLANCE = 1_000;

/**
 * Starts a payment and waits for the provider's answer, in one call to Temporal; for one that has been started
 * already, finds it. Never starts a second payment under the same id.
 *
 * @throws {ApiError} `idempotency_key_reused`, or `temporarily_unavailable` with the payment's id.
 */
export async function beginPayment(api: Api, beginning: Beginning): Promise<Begun> {
  // A caller may send the same X-Request-Id again, so it alone can't tell whose request started the payment.
  const attempt = `${beginning.requestId}.${randomBytes(4).toString('hex')}`;
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const begun = await tryToBegin(api, beginning, attempt);
      if (begun !== undefined) return begun;
    }
  } catch (error) {
    throw error instanceof ApiError && error.code === 'temporarily_unavailable'
      ? unavailable(beginning, error.cause)
      : error;
  }
  throw unavailable(beginning, new Error('the payment was neither startable nor to be found'));
}

async function tryToBegin(api: Api, beginning: Beginning, attempt: string): Promise<Begun | undefined> {
  try {
    const waited = await initiate(api, beginning, attempt);
    if (waited === undefined) return await underway(api, beginning, attempt);
    const reply = waited.value;
    return reply.requestId === attempt ? judge(reply, 'new') : await asItStands(api, beginning, attempt);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === FINGERPRINT_MISMATCH) throw keyReused(beginning);
    const over =
      error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
    if (over || refusal === ENDED_MEANWHILE) return await asItStands(api, beginning, attempt);
    throw error;
  }
}

function initiate(api: Api, beginning: Beginning, attempt: string): Promise<Waited<InitiationReply>> {
  const { order, owner, fingerprint } = beginning;
  const { client, taskQueue, terms, answerWithinMs } = api;
  const input = { order, terms, fingerprint, requestId: attempt };
  return api.shutdown.commands.within(answerWithinMs, (signal) =>
    waitFor(client, signal, answerWithinMs, () =>
      client.workflow.executeUpdateWithStart(initiationUpdate, {
        updateId: fingerprint,
        args: [{ fingerprint }],
        startWorkflowOperation: startOperation({ input, taskQueue, owner, createdAt: Date.now() }),
      }),
    ),
  );
}

/** The payment now; `undefined` when there is none, so that starting it may be tried again. */
async function asItStands(api: Api, beginning: Beginning, attempt: string): Promise<Begun | undefined> {
  const found = await findSame(api, beginning);
  if (found === undefined) return undefined;
  return judge(await currentState(api, found), found.attempt === attempt ? 'new' : 'repeated');
}

/**
 * The payment whose initiation is not decided yet. It may be deaf while it waits for the provider, or there may be no
 * worker at all; then of a payment that this attempt began it is known all the same how it stands: begun, no more.
 */
async function underway(api: Api, beginning: Beginning, attempt: string): Promise<Begun> {
  const found = await findSame(api, beginning);
  if (found === undefined) throw temporarilyUnavailable();
  const isOurs = found.attempt === attempt;
  try {
    return judge(await currentState(api, found, isOurs ? GLANCE : undefined), 'undecided');
  } catch (error) {
    if (!(isOurs && found.running && error instanceof ApiError)) throw error;
    const state = openPayment(beginning.order, api.terms, found.createdAt);
    return { kind: 'undecided', payment: toPayment(state) };
  }
}

/** @throws {ApiError} `idempotency_key_reused`. */
async function findSame(api: Api, beginning: Beginning): Promise<Found | undefined> {
  const found = await findPayment(api, beginning.order.id);
  if (found !== undefined && found.fingerprint !== beginning.fingerprint) throw keyReused(beginning);
  return found;
}

function judge({ payment, rejection }: PaymentResult, kind: 'new' | 'repeated' | 'undecided'): Begun {
  return rejection === undefined ? { kind, payment } : { kind: 'rejected', payment, rejection };
}

const keyReused = ({ order }: Beginning): ApiError =>
  new ApiError(
    'idempotency_key_reused',
    'An earlier request with this Idempotency-Key had another body. Use a new key for a new payment.',
    { paymentId: order.id },
  );

/** Nobody can say here whether the payment was taken, so the merchant is told how to find out before paying twice. */
const unavailable = ({ order, repeatable }: Beginning, cause: unknown): ApiError =>
  temporarilyUnavailable(
    repeatable
      ? 'The payment may or may not have been taken. Repeat the request with the same Idempotency-Key: that never pays twice.'
      : `The payment may or may not have been taken. Look at /v1/payments/${order.id} before you send it again.`,
    { paymentId: order.id, cause },
  );
