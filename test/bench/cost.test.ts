import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { withGenerated } from '../../bench/document.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { freePort } from '../../stack/processes/ports.js';
import { eventually } from '../support/eventually.js';
import { DAY, MINUTE } from '../support/orders.js';
import type { PaymentWorld, WorldOptions } from '../support/payment-world.js';
import { CostMeter, meteredActions, type PaymentCost } from './cost-meter.js';
import { costTables, expectedBudget, readBudgets, WRITTEN_BY } from './cost-tables.js';

const DOCUMENT = new URL('../../docs/performance.md', import.meta.url);

/** Test numbers of the sandbox: the last three digits decide. */
const SUCCEEDS = '670000000';
const STAYS_PENDING = '670000800';

/** Course of a payment. */
interface Course {
  readonly name: string;
  /** Hours that its workflow is open in real life, for the bill: a payer is assumed to need five minutes. */
  readonly openHours: number;
  /** `true` when it takes hours, for which the clock is set ahead. */
  readonly isLong?: true;
  /** Makes the payment, and resolves with its id. */
  readonly make: (world: PaymentWorld) => Promise<string>;
  readonly afterwards?: (world: PaymentWorld, id: string) => Promise<void>;
}

const FIVE_MINUTES = 5 / 60;

const link = (world: PaymentWorld, terms: object = {}): Promise<Payment> =>
  world.begin('collections', { method: 'link', amount: 5_000, externalId: 'order-1', ...terms });

/** A link whose notifications the provider doesn't send: one that comes just then would be one more task, or not. */
async function silentLink(world: PaymentWorld, terms: object = {}): Promise<Payment> {
  const payment = await link(world, terms);
  world.sandbox.faults.add({ fault: 'webhookDrop', externalId: payment.id, rate: 1 });
  return payment;
}

/** Until the worker has nothing to do for a payment. */
async function idle(world: PaymentWorld, id: string): Promise<void> {
  const handle = world.client.workflow.getHandle(id);
  await eventually(
    () => handle.describe(),
    ({ raw }) => !raw.pendingWorkflowTask,
  );
}

/** The provider's notification of the expiry, when the payment has ended. */
const notifiedOfExpiry = async (world: PaymentWorld, id: string) => {
  const [transaction] = world.transactionsOf(id);
  expect(await world.notify({ id, transId: transaction?.transId } as Payment, { status: 'EXPIRED' })).toBe(200);
};

/** A payout of which the provider's answer was lost before anything had been booked: an operator has to decide. */
async function underReview(world: PaymentWorld): Promise<string> {
  world.sandbox.faults.add({ fault: 'resetBeforeCommit', endpoint: 'payout' });
  const { body } = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS });
  await world.pass(16 * MINUTE);
  return body.id;
}

async function decided(world: PaymentWorld, id: string, action: 'fail' | 'resend'): Promise<string> {
  const decision = { review: 1, why: 'seen in the portal', action };
  const { status } = await world.post(`/v1/payments/${id}/resolve`, decision);
  expect(status).toBe(200);
  // The outcome is checked for a day.
  await world.pass(DAY + 60 * MINUTE);
  return id;
}

const courses: readonly Course[] = [
  {
    name: 'link, paid',
    openHours: FIVE_MINUTES,
    async make(world) {
      const payment = await link(world);
      await world.visit(payment, 'pay');
      return payment.id;
    },
  },
  {
    name: 'link, declined, then paid',
    openHours: FIVE_MINUTES,
    async make(world) {
      const payment = await link(world);
      await world.visit(payment, 'decline');
      await idle(world, payment.id);
      await world.visit(payment, 'pay');
      return payment.id;
    },
  },
  {
    name: 'link, expired by the merchant',
    openHours: FIVE_MINUTES,
    async make(world) {
      const payment = await silentLink(world);
      expect((await world.post(`/v1/collections/${payment.id}/expire`, {})).status).toBe(200);
      return payment.id;
    },
    afterwards: notifiedOfExpiry,
  },
  {
    name: 'direct, paid',
    openHours: FIVE_MINUTES,
    async make(world) {
      const body = { method: 'direct', amount: 700, phone: STAYS_PENDING };
      const payment = await world.begin('collections', body);
      await world.settle(payment.id, 'SUCCESSFUL');
      return payment.id;
    },
  },
  {
    name: 'payout, paid',
    openHours: FIVE_MINUTES,
    async make(world) {
      const payment = await world.begin('payouts', { amount: 900, phone: STAYS_PENDING });
      await world.settle(payment.id, 'SUCCESSFUL');
      return payment.id;
    },
  },
  {
    name: 'payout, rejected by the provider',
    openHours: 0,
    async make(world) {
      world.sandbox.faults.add({ fault: 'lowBalance' });
      const { status, body } = await world.post('/v1/payouts', { amount: 900, phone: SUCCEEDS });
      expect(status).toBe(422);
      return String(body.payment?.id);
    },
  },
  {
    name: 'link, paid, its notification lost',
    openHours: FIVE_MINUTES,
    isLong: true,
    async make(world) {
      const payment = await silentLink(world);
      await world.visit(payment, 'pay');
      await world.pass(4 * MINUTE);
      return payment.id;
    },
  },
  {
    name: 'link, expired after 24 hours',
    openHours: 24,
    isLong: true,
    async make(world) {
      // A moment before the provider's own 24 hours, as in production: which of the two comes first changes the calls.
      const { id } = await silentLink(world, { expiresIn: '1439m' });
      await world.pass(DAY + MINUTE);
      return id;
    },
    afterwards: notifiedOfExpiry,
  },
  {
    name: 'payout, its answer lost, found and paid',
    openHours: 25,
    isLong: true,
    async make(world) {
      world.sandbox.faults.add({ fault: 'errorAfterCommit', endpoint: 'payout' });
      const { body } = await world.post('/v1/payouts', { amount: 900, phone: STAYS_PENDING });
      await world.pass(MINUTE);
      await world.settle(body.id, 'SUCCESSFUL');
      await world.untilStatus(body.id, 'SUCCESSFUL');
      // The outcome is checked for a day.
      await world.pass(DAY + 60 * MINUTE);
      return body.id;
    },
  },
  {
    name: 'payout, REVIEW, decided: fail',
    openHours: 25,
    isLong: true,
    make: async (world) => decided(world, await underReview(world), 'fail'),
  },
  {
    name: 'payout, REVIEW, decided: resend',
    openHours: 25,
    isLong: true,
    make: async (world) => decided(world, await underReview(world), 'resend'),
  },
];

const openHours = new Map(courses.map((course) => [course.name, course.openHours]));
const budgets = readBudgets(readFileSync(DOCUMENT, 'utf8'));
const isToBeWritten = process.env.WRITE_COSTS !== undefined;
const measured = new Map<string, PaymentCost>();
/** Actions of all payments measured so far, including those of repeated tries. */
let actionsMade = 0;

let metricsAddress: string;
let serverMetricsPort: number;
beforeAll(async () => {
  metricsAddress = `127.0.0.1:${await freePort()}`;
  serverMetricsPort = await freePort();
});

// On a busy machine Temporal may put two messages into one task, or a task may be made again: then it is counted once
// more.
jest.retryTimes(2);

/** Measures each of them, in turn, against its budget. */
function measureAll(these: readonly Course[], options: () => WorldOptions): void {
  let meter: CostMeter;
  beforeAll(async () => {
    meter = await CostMeter.start(metricsAddress, { ...options(), answerWithinMs: 10_000 });
  });
  afterAll(() => meter.world.stop());

  it.each(these)('is within its budget: $name', async ({ name, make, afterwards }) => {
    const cost = await meter.measure(make, afterwards);
    meter.world.sandbox.faults.clear();
    measured.set(name, cost);
    actionsMade += cost.actions;
    if (!isToBeWritten) expect(budgets.get(name)).toEqual(expectedBudget(cost, budgets.get(name)));
  });
}

describe('the cost of a payment, counted on a real server', () => {
  measureAll(
    courses.filter(({ isLong }) => !isLong),
    () => ({ serverMetricsPort }),
  );

  it("has as many actions as the server's own meter counts", async () => {
    const metered = await eventually(
      () => meteredActions(`127.0.0.1:${serverMetricsPort}`),
      (actions) => actions >= actionsMade,
    );
    expect(metered).toBe(actionsMade);
  });
});

describe('the cost of a payment that takes hours, counted with a clock that is set ahead', () => {
  measureAll(
    courses.filter(({ isLong }) => isLong),
    () => ({}),
  );
});

describe('docs/performance.md', () => {
  it('has the budget of every kind of payment, and the bill that they make', () => {
    const names = courses.map(({ name }) => name);
    expect([...measured.keys()]).toEqual(names);
    const document = readFileSync(DOCUMENT, 'utf8');
    if (isToBeWritten) {
      const text = costTables(
        new Map([...measured].map(([name, cost]) => [name, expectedBudget(cost, budgets.get(name))])),
        openHours,
      );
      writeFileSync(DOCUMENT, withGenerated(document, text, WRITTEN_BY));
    } else {
      expect([...budgets.keys()]).toEqual(names);
      expect(document).toContain(costTables(budgets, openHours));
    }
  });
});
