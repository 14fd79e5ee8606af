import { condition, setHandler } from '@temporalio/workflow';
import { withClaim } from '../payments/claim.js';
import { due, withDelivery } from '../payments/notification.js';
import type { PaymentState } from '../payments/payment-state.js';
import { broughtForward } from '../payments/watch.js';
import {
  expireUpdate,
  FINGERPRINT_MISMATCH,
  hintSignal,
  initiationUpdate,
  NO_SUCH_NOTIFICATION,
  NOT_A_LINK,
  NOT_EXPIRABLE,
  NOT_INITIATED,
  notificationsQuery,
  refreshUpdate,
  resendNotificationUpdate,
  settledUpdate,
} from './messages.js';
import type { PaymentRun } from './payment-run.js';
import { refusal } from './refusal.js';
import { resolveReviews } from './resolve-review.js';

/**
 * Wishes that wait for what becomes of them; the others are answered at once with the payment as it stands. Temporal
 * takes ten updates of a workflow at a time, and an operator's decision must always be among them.
 */
const MOST_WAITING = 4;

/**
 * Lets a payment hear what the front door has to say. Handlers only note a wish in the state and wake the payment,
 * or wait for what it does; none of them calls the provider, so that they can interleave with anything.
 */
export function takeMessages(run: PaymentRun): void {
  let waiting = 0;
  const waitBriefly = async (isDone: () => boolean) => {
    if (waiting >= MOST_WAITING) return;
    waiting += 1;
    await condition(isDone);
    waiting -= 1;
  };

  setHandler(hintSignal, ({ transId, status }) => {
    const { state } = run;
    run.state = withClaim(state, transId, status);
    if (state.final || (state.transId !== undefined && state.transId !== transId)) return;
    lookSoon(run);
    run.state = { ...run.state, hinted: true };
  });

  setHandler(
    initiationUpdate,
    async () => {
      await condition(() => run.ending || run.state.transId !== undefined);
      return { ...run.result(), requestId: run.requestId };
    },
    {
      validator: ({ fingerprint }) => {
        if (fingerprint !== run.fingerprint) {
          throw refusal(FINGERPRINT_MISMATCH, 'the payment was started with another body');
        }
      },
    },
  );

  setHandler(settledUpdate, async () => {
    await condition(() => run.ending);
    return run.result();
  });

  setHandler(
    expireUpdate,
    async () => {
      const now = Date.now();
      const watch = broughtForward(run.state.watch, now);
      run.state = { ...run.state, watch, expiresAt: now, expiry: { at: now, tries: 0 } };
      run.wake();
      const { closings } = run;
      await waitBriefly(() => run.ending || run.state.held || run.closings > closings);
      return run.result();
    },
    {
      validator: () => {
        const { order, final, status, transId } = run.state;
        if (order.method !== 'link') throw refusal(NOT_A_LINK, 'only a payment link can be expired');
        if (final) throw refusal(NOT_EXPIRABLE, `the payment is ${status} already`);
        if (transId === undefined) throw refusal(NOT_INITIATED, 'the provider has not made the link yet');
      },
    },
  );

  setHandler(notificationsQuery, () => run.state.notifications);

  setHandler(
    resendNotificationUpdate,
    (number) => {
      const notifications = withDelivery(run.state.notifications, number, due(Date.now()));
      if (notifications !== undefined) run.apply({ state: { ...run.state, notifications } });
      return run.result();
    },
    {
      validator: (number) => {
        if (withDelivery(run.state.notifications, number, due(0)) === undefined) {
          throw refusal(NO_SUCH_NOTIFICATION, `the payment has no notification ${number}`);
        }
      },
    },
  );

  resolveReviews(run);

  setHandler(refreshUpdate, async () => {
    const { looks } = run;
    lookSoon(run);
    await waitBriefly(() => run.ending || run.looks > looks || !isFollowed(run.state));
    return run.result();
  });
}

/** The provider is going to be asked for its status, without anybody's decision. */
function isFollowed({ held, transId }: PaymentState): boolean {
  return !held && transId !== undefined;
}

/** Brings the next look forward, within the budget. */
function lookSoon(run: PaymentRun): void {
  if (run.state.transId !== undefined) {
    run.state = { ...run.state, watch: broughtForward(run.state.watch, Date.now()) };
  }
  run.wake();
}
