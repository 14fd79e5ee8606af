import { ApiClient } from './actors/api-client.js';
import { Attacker } from './actors/attacker.js';
import type { BookedEntry, Cast } from './actors/cast.js';
import { Gateway } from './actors/gateway.js';
import { askForPayment } from './actors/merchant.js';
import { MerchantEndpoint } from './actors/merchant-endpoint.js';
import { Operators } from './actors/operators.js';
import { WebUi } from './actors/web-ui.js';
import { type PaymentRecord, recordOf } from './payment-record.js';
import { HOUR, MINUTE } from './plan/durations.js';
import { faultRules, silence } from './plan/fault-rules.js';
import { planPayments } from './plan/plan-payments.js';
import { planTrouble } from './plan/plan-trouble.js';
import type { SimulationOptions } from './simulation-options.js';
import { Tally } from './tally.js';
import { MERCHANT_SECRET, WEBHOOK_TOKEN } from './world/credentials.js';
import { ProviderTraffic } from './world/provider-traffic.js';
import { Timeline } from './world/timeline.js';
import { Troublemaker } from './world/troublemaker.js';
import { startWorld, type World } from './world/world.js';

/** People's doings are put off to ticks of this length, in ms. */
const TICK_MS = 10 * MINUTE;
/** One forged notification for so many payments. */
const PAYMENTS_FOR_AN_ATTACK = 8;

/** Everything and everyone in a simulation, in their places, with all that they are going to do. */
export interface Stage {
  readonly world: World;
  readonly timeline: Timeline;
  readonly cast: Cast;
  readonly records: readonly PaymentRecord[];
  readonly merchant: MerchantEndpoint;
  readonly troublemaker: Troublemaker;
  /** Faults by kind that are not the sandbox's own. */
  readonly faults: Tally;
  readonly crashes: Tally;
  readonly traffic: ProviderTraffic;
  /** When the first payment may arrive, in ms since the epoch. */
  readonly start: number;
  /** When the last payment arrives, in ms since the epoch. */
  readonly lastArrival: number;
  close(): Promise<void>;
}

/** Sets everything up: nothing happens before time is let pass. */
export async function setStage(options: SimulationOptions, workflowBundle: string): Promise<Stage> {
  const { payments: count, seed } = options;
  const plan = planPayments(count, seed);
  const records = plan.payments.map(recordOf);
  const byId = new Map<string, PaymentRecord>(records.map((record) => [record.planned.id, record]));
  const [tally, faults, crashes] = [new Tally(), new Tally(), new Tally()];
  const traffic = new ProviderTraffic();

  const merchant = new MerchantEndpoint({
    seed,
    secret: MERCHANT_SECRET,
    now: () => world.time.now(),
    truthOf: (id) => {
      const record = byId.get(id);
      return record === undefined
        ? []
        : transactionsOf(record).map(({ status, isStray }) => ({ status, isStray }));
    },
    onNotice: (notice) => {
      const record = byId.get(notice.told.data.id);
      record?.notices.push(notice);
      if (record !== undefined && notice.told.type === 'payment.review') operators.bring(record);
    },
    count: (fault) => faults.add(fault),
  });
  const troublemaker = new Troublemaker(planTrouble(count, plan.lengthMs, seed), crashes, faults, merchant);
  const world = await startWorld({
    seed,
    workflowBundle,
    workerProgram: options.workerProgram,
    wrapActivities: options.wrapActivities,
    report: options.report ?? (() => undefined),
    onProviderRequest(request, response, now) {
      traffic.watch(request, response, now);
      return troublemaker.onProviderRequest(request, response);
    },
    merchant: merchant.take,
  });
  const { ledger } = world.sandbox;
  const start = world.clock.now();
  const timeline = new Timeline(start, TICK_MS);
  const nextTick = (time: number) => start + Math.ceil((time - start) / TICK_MS) * TICK_MS;
  const transactionsOf = ({ planned }: PaymentRecord): BookedEntry[] =>
    ledger
      .ofUser(planned.id)
      .filter(({ externalId }) => externalId === planned.id)
      .map((entry) => ({
        entry,
        transId: entry.transId,
        status: entry.status,
        createdAt: entry.createdAt,
        listedFrom: entry.listedFrom,
        statusCalls: entry.statusCalls,
        isStray: gateway.isStray(entry.transId),
        isKnown: entry.notifications.some(({ acknowledged }) => acknowledged),
      }));

  const api = new ApiClient(world.api.url);
  const cast: Cast = { seed, api, timeline, tally, now: () => world.clock.now(), transactionsOf };
  const operators = new Operators(cast, ledger);
  const gateway = new Gateway(cast, ledger);
  const webUi = new WebUi(cast, world.temporal);
  for (const rule of faultRules(seed)) world.sandbox.faults.add(rule);
  for (const record of records) {
    const { arrivesAt, isSilent, id, meddledAfter, recheckedAfter } = record.planned;
    const arrival = start + arrivesAt;
    timeline.at(arrival, async () => {
      if (isSilent) for (const rule of silence(id)) world.sandbox.faults.add(rule);
      await askForPayment(record, cast);
    });
    if (meddledAfter !== undefined) {
      timeline.exactly(arrival + meddledAfter, () => operators.meddle(record, 'arrival'));
    }
    if (recheckedAfter !== undefined) {
      timeline.at(arrival + recheckedAfter, () => operators.recheck(record));
    }
    gateway.begin(record, nextTick(arrival));
    webUi.begin(record, nextTick(arrival));
  }
  operators.begin();
  troublemaker.begin(world, timeline);
  const webhookUrl = `${world.api.url}/webhooks/provider/${WEBHOOK_TOKEN}`;
  const attacks = Math.ceil(count / PAYMENTS_FOR_AN_ATTACK);
  new Attacker(cast, webhookUrl, records).begin(attacks, start + HOUR, start + plan.lengthMs);

  return {
    world,
    timeline,
    cast,
    records,
    merchant,
    troublemaker,
    faults,
    crashes,
    traffic,
    start,
    lastArrival: start + plan.lengthMs,
    async close() {
      api.close();
      await troublemaker.settled();
      await world.stop();
    },
  };
}
