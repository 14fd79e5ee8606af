import {
  ActivityFailure,
  log,
  metricMeter,
  proxyActivities,
  proxyLocalActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/activities.js';
import type { MerchantNotification } from '../activities/notify-merchant.js';
import { sentUserId } from '../payments/find-own.js';
import type { DirectOrder, LinkOrder, PaymentOrder, PaymentTerms, PayoutOrder } from '../payments/order.js';
import type {
  ExpiryAnswer,
  InitiationOutcome,
  ListAnswer,
  NoAnswer,
  StatusAnswer,
} from '../payments/outcome.js';
import type { TransId } from '../payments/payment-id.js';
import { notificationsQueue } from '../temporal/task-queues.js';

/** What an activity may take beyond the provider's own time limit, in ms, before its worker counts as lost. */
const MARGIN_MS = 5_000;

/** What one try to notify the merchant may take, in ms. */
const NOTIFY_TIMEOUT_MS = 10_000;

/** Each activity runs once: what happens next is decided in the workflow, where it can be read. */
const ONCE = { maximumAttempts: 1 };

/**
 * Everything a workflow does to the world, by its business name, with the time limits of the payment's terms.
 *
 * What moves money is a normal activity that is never retried: Temporal hands it out at most once, so that a worker
 * that dies leaves a time-out behind, which is an ambiguous outcome, and not a second POST. Questions are local
 * activities: they cost one event instead of six, and asking twice does no harm. So does making a link: one that
 * nobody was given can't be paid.
 */
export function worldOf(terms: PaymentTerms) {
  const startToCloseTimeout = terms.providerTimeoutMs + MARGIN_MS;
  const inTurn = oneAtATime();
  const local = <Answer>(summary: string, call: (activities: LocalActivities) => Promise<Answer>) =>
    inTurn(() => call(proxyLocalActivities<Activities>({ startToCloseTimeout, retry: ONCE, summary })));
  const atMostOnce = (summary: string) =>
    proxyActivities<Activities>({ startToCloseTimeout, retry: ONCE, summary });
  const notifying = (summary: string) => ({ startToCloseTimeout: NOTIFY_TIMEOUT_MS, retry: ONCE, summary });

  return {
    createLink: (order: LinkOrder) =>
      sent(local('Create the payment link', (activities) => activities.initiatePay(order))),
    requestOnPhone: (order: DirectOrder) =>
      sent(atMostOnce("Send the request to the payer's phone").directPay(order)),
    sendPayout: (order: PayoutOrder) => sent(atMostOnce('Send the payout').payOut(order)),

    askStatus: (order: PaymentOrder, transId: TransId): Promise<StatusAnswer> =>
      asked(
        local('Ask the provider for the status', (activities) =>
          activities.paymentStatus(order.kind, transId),
        ),
      ),
    expireLink: (transId: TransId): Promise<ExpiryAnswer> =>
      asked(local('Expire the link', (activities) => activities.expirePay(transId))),
    lookUp: (order: PaymentOrder): Promise<ListAnswer> =>
      asked(
        local('Look for the transaction', (activities) =>
          activities.lookUp({
            service: order.kind,
            userId: sentUserId(order),
            externalId: order.id,
          }),
        ),
      ),

    notifyFirst: (notification: MerchantNotification) =>
      delivered(
        inTurn(() =>
          proxyLocalActivities<Activities>(
            notifying(`Tell the merchant: ${notification.type}`),
          ).notifyMerchant(notification),
        ),
      ),
    notifyAgain: (notification: MerchantNotification, tries: number) =>
      delivered(
        proxyActivities<Activities>({
          ...notifying(`Tell the merchant: ${notification.type}, try ${tries + 1}`),
          taskQueue: notificationsQueue(workflowInfo().taskQueue),
        }).notifyMerchantAgain(notification),
      ),
  };
}

export type World = ReturnType<typeof worldOf>;

type LocalActivities = ReturnType<typeof proxyLocalActivities<Activities>>;

/**
 * Runs calls one after the other. Of two local activities at once, the SDK (seen with 1.24) gives a replay both results
 * together, where the first run had them one by one: what follows them may then come in another order, and the payment
 * would be stuck for good.
 */
function oneAtATime() {
  let last: Promise<unknown> = Promise.resolve();
  return <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    const turn = last.then(call);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** An activity that failed to report leaves it open whether its request went out. */
async function sent(outcome: Promise<InitiationOutcome>): Promise<InitiationOutcome> {
  try {
    return heeded(await outcome);
  } catch (error) {
    return { kind: 'ambiguous', reason: lost(error) };
  }
}

async function asked<Answer extends { readonly kind: string }>(
  answer: Promise<Answer>,
): Promise<Answer | NoAnswer> {
  try {
    return heeded(await answer);
  } catch (error) {
    return { kind: 'unavailable', reason: lost(error) };
  }
}

/** Refused credentials stop every payment, and only an operator can mend that: it is said loudly, each time. */
function heeded<Answer extends { readonly kind: string }>(answer: Answer): Answer {
  if (answer.kind === 'unauthorized') {
    log.error('the provider refuses our credentials: payments wait until they are mended', { ...answer });
    metricMeter
      .createCounter(
        'sanaga_credentials_refused',
        undefined,
        'Calls that the provider refused our credentials for',
      )
      .add(1);
  }
  return answer;
}

function delivered(
  delivery: ReturnType<Activities['notifyMerchant']>,
): ReturnType<Activities['notifyMerchant']> {
  return delivery.catch((error: unknown) => ({ kind: 'failed', reason: lost(error) }));
}

function lost(error: unknown): string {
  if (!(error instanceof ActivityFailure)) throw error;
  return error.cause instanceof TimeoutFailure
    ? 'the worker was lost before it could report'
    : `the worker failed: ${error.cause?.message ?? error.message}`;
}
