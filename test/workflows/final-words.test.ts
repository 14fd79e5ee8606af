import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MerchantNotification } from '../../src/activities/merchant.js';
import type { Payment } from '../../src/payments/words/payment.js';
import { expireUpdate, hintSignal, paymentQuery, resolveUpdate } from '../../src/workflows/messages.js';
import { transId } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const GRACE_MS = 3_000;

/** Runs during a notification to the merchant, with its request held open. */
let whileTold: ((told: MerchantNotification) => Promise<void>) | undefined;
/** The provider refuses links; its list shows nothing. */
let [isRefusing, isBlind] = [false, false];
let folder: string;
let world: PaymentWorld;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-final-words-'));
  world = await PaymentWorld.start({
    realServer: true,
    databaseFile: join(folder, 'temporal.db'),
    answerWithinMs: 1_200,
    terms: { ambiguousGraceMs: GRACE_MS, resolveAfterMs: 0 },
    async notify(notification) {
      await whileTold?.(notification);
      return { kind: 'delivered' };
    },
    activities: (usual) => ({
      ...usual,
      initiatePay: async (...asked) =>
        isRefusing ? { kind: 'rejected', message: 'no', statusCode: 400 } : await usual.initiatePay(...asked),
      lookUp: async (...asked) => (isBlind ? { kind: 'listed', transactions: [] } : await usual.lookUp(...asked)),
    }),
  });
});
beforeEach(() => {
  world.sandbox.faults.clear();
  [isRefusing, isBlind, whileTold] = [false, false, undefined];
});
afterAll(async () => {
  await world.stop();
  await rm(folder, { recursive: true });
});

const toldOf = (id: string) => world.notifications.filter(({ payment }) => payment.id === id);
const handle = (id: string) => world.client.workflow.getHandle(id);

/** Asks a payment for something, and gives up soon: nobody asks again. */
const askOnce = (ask: () => Promise<unknown>): Promise<unknown> =>
  world.client.withDeadline(Date.now() + 2_500, ask).catch(() => undefined);

/** Records the views of a reader and of the recorder on a final payment, by asking again and again. */
function watch(id: string) {
  const seen = new Set<string>();
  let isOver = false;
  const look = async (ask: () => Promise<Pick<Payment, 'final' | 'status'>>) => {
    while (!isOver) {
      const payment = await ask().catch(() => undefined);
      if (payment?.final) seen.add(payment.status);
      await pause(20);
    }
  };
  const asked = [
    look(async () => (await world.get(`/v1/payments/${id}`)).body),
    look(async () => (await handle(id).query(paymentQuery)).payment),
  ];
  return async () => {
    isOver = true;
    await Promise.all(asked);
    return seen;
  };
}

/** Ways to a final word, each with an event that would lead to another if the word were forgotten. */
const ways: readonly {
  readonly name: string;
  readonly ordered: () => Promise<Payment>;
  readonly ask?: (id: string) => Promise<unknown>;
  readonly turn: () => Promise<void> | void;
  readonly word: MerchantNotification['type'];
}[] = [
  {
    name: 'a payout that was withdrawn while the provider refused the credentials',
    async ordered() {
      world.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout', rate: 1 });
      return (await world.post('/v1/payouts', { amount: 900, phone: '670000000' })).body;
    },
    ask: (id) => handle(id).executeUpdate(expireUpdate, { args: [{ by: { role: 'merchant', name: 'shop' } }] }),
    turn: () => world.sandbox.faults.clear(),
    word: 'payment.failed',
  },
  {
    name: 'a link that the provider refused to a worker',
    async ordered() {
      await world.refuseConnections(true);
      const { body } = await world.post('/v1/collections', { method: 'link', amount: 5_000 });
      isRefusing = true;
      await world.refuseConnections(false);
      return body;
    },
    turn() {
      isRefusing = false;
    },
    word: 'payment.failed',
  },
  {
    name: 'a link that its merchant has ended',
    ordered: () => world.begin('collections', { method: 'link', amount: 5_000 }),
    ask: (id) => handle(id).executeUpdate(expireUpdate, { args: [{ by: { role: 'merchant', name: 'shop' } }] }),
    turn: () => undefined,
    word: 'payment.expired',
  },
  {
    name: 'a link that was not found',
    async ordered() {
      isBlind = true;
      world.sandbox.faults.add({ fault: 'errorAfterCommit', endpoint: 'initiate-pay', rate: 1 });
      return (await world.post('/v1/collections', { method: 'link', amount: 5_000 })).body;
    },
    turn() {
      isBlind = false;
    },
    word: 'payment.failed',
  },
  {
    name: 'a payout that an operator has failed',
    async ordered() {
      world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
      const { body } = await world.post('/v1/payouts', { amount: 900, phone: '670000800' });
      return await world.untilStatus(body.id, 'REVIEW');
    },
    ask: (id) =>
      handle(id).executeUpdate(resolveUpdate, {
        args: [{ decision: { action: 'fail' }, review: 1, by: 'ops', why: 'looked', force: true }],
      }),
    turn: () => undefined,
    word: 'payment.failed',
  },
];

describe('Nothing final is told before what makes it true is durable:', () => {
  it.each(ways)('$name stays what its merchant was told, though Temporal dies at that moment', async (way) => {
    const { ask, turn, word } = way;
    let asked: Promise<unknown> = Promise.resolve();
    const crashed = new Promise<void>((resolve, reject) => {
      whileTold = async ({ type }) => {
        if (type !== word) return;
        whileTold = undefined;
        await world
          .crashTemporal(async () => {
            await asked;
            await turn();
          })
          .then(resolve, reject);
      };
    });
    const { id } = await way.ordered();
    const seen = watch(id);
    if (ask !== undefined) asked = askOnce(() => ask(id));
    await crashed;
    const status = word === 'payment.expired' ? 'EXPIRED' : 'FAILED';
    const payment = await world.until(id, ({ final }) => final);
    expect(payment.status).toBe(status);
    // Whatever was forgotten would be done by now.
    await pause(2 * GRACE_MS);
    expect((await world.get(`/v1/payments/${id}`)).body).toMatchObject({ status, final: true });
    expect(await seen()).toEqual(new Set([status]));
    const told = toldOf(id).filter(({ payment: { final } }) => final);
    expect(new Set(told.map(({ type, payment: shown }) => `${type} ${shown.status}`))).toEqual(
      new Set([`${word} ${status}`]),
    );
  });
});

describe('a payment that hears of something while its merchant is being told', () => {
  it('tells it once', async () => {
    const ids: string[] = [];
    whileTold = async ({ payment }) => {
      const named = { transId: transId(String(payment.transId)), status: 'SUCCESSFUL' } as const;
      for (let copy = 0; copy < 3; copy++) await handle(payment.id).signal(hintSignal, named);
    };
    for (let copy = 0; copy < 4; copy++) {
      const payment = await world.begin('collections', { method: 'link', amount: 5_000 });
      ids.push(payment.id);
      await world.visit(payment, 'pay');
      await world.ended(payment.id);
    }
    expect(ids.map((id) => toldOf(id).map(({ type }) => type))).toEqual(ids.map(() => ['payment.succeeded']));
  });
});
