import got from 'got';
import type { Ledger } from '../../sandbox/ledger.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { HOUR_MS, MINUTE_MS } from '../../src/payments/words/time.js';
import { Counts } from '../counts.js';
import { FaultInjector } from '../faults/fault-injector.js';
import { Gateway } from '../faults/gateway.js';
import { faultRules, silence } from '../faults/provider-faults.js';
import { AllPayments } from '../people/all-payments.js';
import { ApiClient } from '../people/api-client.js';
import { Attacker } from '../people/attacker.js';
import type { LedgerTransaction, MerchantManners, PayerManners, SimulationContext } from '../people/context.js';
import { askForPayment } from '../people/merchant.js';
import { MerchantEndpoint } from '../people/merchant-endpoint.js';
import type { ObservedPayment } from '../people/observed-payment.js';
import { Operators } from '../people/operators.js';
import { Refunders } from '../people/refunders.js';
import { WebUi } from '../people/web-ui.js';
import { planServerFaults } from '../plan/server-faults.js';
import { planPayments, planPresses, planSimulatedRefunds } from '../plan/simulation-payments.js';
import { MERCHANT_SECRET, WEBHOOK_TOKEN } from '../world/credentials.js';
import { type BookedStatus, entriesOf } from '../world/provider-books.js';
import { ProviderTraffic } from '../world/provider-traffic.js';
import { PlannedTimeline } from '../world/simulated-time.js';
import { type SimulatedWorld, startSimulatedWorld } from '../world/simulated-world.js';
import type { WrapCalls } from '../world/worker-parts.js';

/** The size of a simulation and its seed: the same seed gives the same faults. */
export interface SimulationOptions {
  readonly payments: number;
  readonly seed: string | number;
  /** The file with the workflows, as `bundleWorkflows` makes it; made for this simulation when there is none. */
  readonly workflowBundle?: string | undefined;
  /** The compiled worker process; without it the worker runs in this process, and is never killed. */
  readonly workerProgram?: string | undefined;
  /** Breaks a rule on purpose, to see it caught. For a worker in this process. */
  readonly wrapCalls?: WrapCalls | undefined;
  readonly report?: ((line: string) => void) | undefined;
}

/** People act at ticks of this length, in ms. */
const TICK_MS = 10 * MINUTE_MS;
/** One attack with forged notifications for so many payments. */
const PAYMENTS_PER_ATTACK = 8;
/** The checkout page's time limit, in real ms. */
const PAGE_TIMEOUT_MS = 10_000;

/** A simulated world with everybody in it, and all that they are going to do. */
export interface Setup {
  readonly world: SimulatedWorld;
  readonly timeline: PlannedTimeline;
  readonly context: SimulationContext;
  /** All payments; refunds are added when they are asked for. */
  readonly records: readonly ObservedPayment[];
  readonly merchant: MerchantEndpoint;
  readonly faultInjector: FaultInjector;
  /** Faults by kind that are not the sandbox's own. */
  readonly faults: Counts;
  readonly crashes: Counts;
  readonly traffic: ProviderTraffic;
  /** Earliest arrival of the first payment, in ms since the epoch. */
  readonly start: number;
  /** Latest arrival of the last payment, in ms since the epoch. */
  readonly lastArrival: number;
  close(): Promise<void>;
}

/** Payers press a button at once, without looking for it on the page; and try again every 20 minutes. */
const PAYERS: PayerManners = {
  maxTries: 3,
  pauseMs: 20 * MINUTE_MS,
  look: (link) => call(link, undefined),
  press: (link, { action, ...rest }) => call(link, { action, phone: '', ...rest, medium: '', email: '' }),
};

/** Pauses before a merchant's next request for a payment, in ms; the last one repeats. */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS] as const;

/** Merchants make each call once, for simulated time stands still in it, and the next one after a pause. */
const MERCHANTS: MerchantManners = {
  call: (_, request) => request(),
  getsLinkBy: 'repeating',
  pauseMs: (tries) => PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? HOUR_MS,
};

/** Sets everything up: nothing happens before time passes. */
export async function setUp(options: SimulationOptions, workflowBundle: string): Promise<Setup> {
  const { payments: count, seed } = options;
  const plan = planPayments(count, seed);
  const payments = new AllPayments(plan.payments);
  const { records } = payments;
  const [actions, faults, crashes] = [new Counts(), new Counts(), new Counts()];
  const traffic = new ProviderTraffic();

  const merchant = new MerchantEndpoint({
    seed,
    secret: MERCHANT_SECRET,
    now: () => world.time.now(),
    truthOf(id) {
      const record = payments.of(id);
      return record === undefined ? [] : booksOf(record);
    },
    onNotification(notification) {
      const record = payments.of(notification.content.data.id);
      if (record === undefined) return;
      record.notifications.push(notification);
      if (notification.content.type === 'payment.review') operators.bring(record);
      refunders.take(record, notification);
    },
    count: (fault) => faults.add(fault),
  });
  const faultInjector = new FaultInjector(planServerFaults(count, plan.lengthMs, seed), crashes, faults, merchant);
  const world = await startSimulatedWorld({
    seed,
    workflowBundle,
    workerProgram: options.workerProgram,
    wrapCalls: options.wrapCalls,
    report: options.report ?? (() => undefined),
    onWorkerFailure: faultInjector.onWorkerFailure,
    onProviderRequest(request, response, now) {
      traffic.record(request, response, now);
      return faultInjector.onProviderRequest(request, response);
    },
    merchant: merchant.take,
  });
  const { ledger } = world.sandbox;
  const start = world.clock.now();
  const timeline = new PlannedTimeline(start, TICK_MS);
  const transactionsOf = ({ planned }: ObservedPayment) => ledgerTransactions(ledger, gateway, planned.id);
  const booksOf = (record: ObservedPayment): BookedStatus[] =>
    transactionsOf(record).map(({ status, isStray }) => ({ status, isStray }));
  const now = () => world.clock.now();
  const api = new ApiClient(world.api.url);
  const manners = { payers: PAYERS, merchants: MERCHANTS };
  const context: SimulationContext = { seed, api, timeline, actions, now, booksOf, transactionsOf, ...manners };
  const operators = new Operators(context, ledger);
  const refunders = new Refunders(
    context,
    (collection) => planSimulatedRefunds(collection, seed),
    (one) => payments.add(one),
  );
  const gateway = new Gateway(context, ledger);
  const lastArrival = start + plan.lengthMs;

  for (const rule of faultRules(seed)) world.sandbox.faults.add(rule);
  planWhatHappens(records, start, { context, world, operators, gateway });
  operators.start();
  faultInjector.start(world, timeline);
  const webhookUrl = `${world.api.url}/webhooks/provider/${WEBHOOK_TOKEN}`;
  const attacks = Math.ceil(count / PAYMENTS_PER_ATTACK);
  new Attacker(context, webhookUrl, records).plan(attacks, start + HOUR_MS, lastArrival);

  const close = async () => {
    api.close();
    await faultInjector.settled();
    await world.stop();
  };
  const setup = { world, timeline, context, records, merchant, faultInjector, faults, crashes, traffic };
  return { ...setup, start, lastArrival, close };
}

/** The payment's transactions in the ledger, and what else is known of them. */
function ledgerTransactions(ledger: Ledger, gateway: Gateway, paymentId: PaymentId): LedgerTransaction[] {
  return entriesOf(ledger, paymentId)
    .filter(({ externalId }) => externalId === paymentId)
    .map((entry) => ({
      entry,
      transId: entry.transId,
      status: entry.status,
      amount: entry.amount,
      createdAt: entry.createdAt,
      listedFrom: entry.listedFrom,
      statusCalls: entry.statusCalls,
      isStray: gateway.isStray(entry.transId),
      isKnown: entry.notifications.some(
        // One whose end was cut off is acknowledged, and names nothing.
        ({ acknowledged, faults }) => acknowledged && !faults.includes('webhookMalformed'),
      ),
    }));
}

interface Actors {
  readonly context: SimulationContext;
  readonly world: SimulatedWorld;
  readonly operators: Operators;
  readonly gateway: Gateway;
}

/** Plans each payment's arrival, and what people and the gateway do to it, from `start` on (ms since the epoch). */
function planWhatHappens(
  records: readonly ObservedPayment[],
  start: number,
  { context, world, operators, gateway }: Actors,
): void {
  const { timeline, seed } = context;
  const webUi = new WebUi(context, world.temporal, false);
  for (const record of records) {
    const { planned } = record;
    const { arrivesAt, isSilent, id, meddledAfter, recheckedAfter } = planned;
    const arrival = start + arrivesAt;
    const tick = start + Math.ceil(arrivesAt / TICK_MS) * TICK_MS;
    timeline.at(arrival, async () => {
      if (isSilent) for (const rule of silence(id)) world.sandbox.faults.add(rule);
      await askForPayment(record, context);
    });
    if (meddledAfter !== undefined) {
      timeline.exactly(arrival + meddledAfter, () => operators.meddle(record, 'arrival'));
    }
    if (recheckedAfter !== undefined) timeline.at(arrival + recheckedAfter, () => operators.recheck(record));
    gateway.plan(record, tick);
    webUi.plan(record, tick, planPresses(seed, planned));
  }
}

async function call(link: string, form: Record<string, string> | undefined): Promise<void> {
  await got(link, {
    ...(form && { method: 'POST', form }),
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    timeout: { request: PAGE_TIMEOUT_MS },
  });
}
