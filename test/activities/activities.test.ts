import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { type Activities, createActivities } from '../../src/activities/activities.js';
import { createProviderClient } from '../../src/provider/client.js';
import { noCollections } from '../support/no-collections.js';
import { noMerchant } from '../support/no-merchant.js';
import { directOrder, HOUR, linkOrder, payoutOrder, START, transId } from '../support/orders.js';

/** A provider that notes what it is asked, and answers as told. */
const asked: { line: string; user: string | string[] | undefined; body: unknown }[] = [];
let answer: { status: number; body: unknown } | 'nothing';
/** The list's answer, if it differs from the provider's. */
let list: typeof answer | undefined;
let onceAsked: ((method: string | undefined) => void) | undefined;
const provider = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  asked.push({
    line: `${request.method} ${request.url}`,
    user: request.headers.apiuser,
    body: text && JSON.parse(text),
  });
  onceAsked?.(request.method);
  const reply = request.method === 'GET' ? (list ?? answer) : answer;
  if (reply === 'nothing') return;
  response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
});

let providers: Parameters<typeof createActivities>[0]['providers'];
let activities: Activities;
/** Activities of a worker with the time of a restore of Temporal since. */
let restored: Activities;
/** Activities of a worker with a restore before the payment began, as for one that began again. */
let restoredBefore: Activities;
let stop: () => void;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const client = (service: 'collection' | 'payout') =>
    createProviderClient({ service, url, apiUser: `${service}-user`, apiKey: 'key', timeoutMs: 15_000 });
  const clients = { collection: client('collection'), payout: client('payout') };
  providers = clients;
  activities = createActivities({ providers, merchant: noMerchant, collections: noCollections });
  restored = createActivities({
    providers,
    merchant: noMerchant,
    collections: noCollections,
    restoredAt: Date.now() + HOUR,
  });
  restoredBefore = createActivities({
    providers,
    merchant: noMerchant,
    collections: noCollections,
    restoredAt: Date.now() - HOUR,
  });
  stop = () => {
    for (const { close } of Object.values(clients)) close();
    provider.closeAllConnections();
    provider.close();
  };
});
afterAll(() => stop());
beforeEach(() => {
  asked.length = 0;
  onceAsked = undefined;
  list = undefined;
  answer = { status: 200, body: { transId: 'T1', message: 'ok', link: 'http://pay.example/1' } };
});

/** The activities' log is for operators; here it would only be in the way. */
const logger = new DefaultLogger('ERROR');

/** The run that activities find themselves in here. */
const RUN = new MockActivityEnvironment().context.info.workflowExecution?.runId ?? '';

interface Circumstances {
  /** The worker has to stop as soon as the provider has been asked like that. */
  readonly stopsOnceAsked?: 'GET' | 'POST';
  /** Time limit that the workflow gives the activity, in ms. */
  readonly startToCloseTimeoutMs?: number;
  /** Temporal's answer about the run that the workflow started as. */
  readonly startedAs?: () => Promise<string>;
}

/** Runs an activity as a worker would. */
function run<Result>(
  activity: () => Promise<Result>,
  { stopsOnceAsked, startToCloseTimeoutMs = 20_000, startedAs = async () => RUN }: Circumstances = {},
): Promise<Result> {
  const workflowService = {
    getWorkflowExecutionHistory: async () => {
      const workflowExecutionStartedEventAttributes = { originalExecutionRunId: await startedAs() };
      const eventTime = msToTs(Date.now());
      return { history: { events: [{ eventTime, workflowExecutionStartedEventAttributes }] } };
    },
  };
  const simply = (_: unknown, question: () => Promise<unknown>) => question();
  const client = { workflowService, withDeadline: simply, withAbortSignal: simply } as unknown as Client;
  const environment = new MockActivityEnvironment({ startToCloseTimeoutMs }, { client, logger });
  if (stopsOnceAsked !== undefined) {
    onceAsked = (method) => {
      if (method === stopsOnceAsked) environment.cancel();
    };
  }
  return environment.run(activity);
}

describe('an activity that begins a payment', () => {
  it("sends a link's order to the collection service, with the payment's id as externalId and userId", async () => {
    const order = {
      ...linkOrder,
      email: 'payer@example.com',
      redirectUrl: 'https://shop.example/done',
      message: 'Shoes',
    };
    await run(() => activities.initiatePay(order, RUN));
    expect(asked).toEqual([
      {
        line: 'POST /initiate-pay',
        user: 'collection-user',
        body: {
          amount: 5_000,
          userId: 'col_1',
          externalId: 'col_1',
          message: 'Shoes',
          email: 'payer@example.com',
          redirectUrl: 'https://shop.example/done',
        },
      },
    ]);
  });

  it.each([
    ['asks Temporal when the run is not its first, and makes none', 'another-run', 'ambiguous'],
    ['makes one when Temporal says that the run was not reset', RUN, 'accepted'],
  ])('for a link %s', async (_, startedAs, kind) => {
    const made = await run(() => activities.initiatePay(linkOrder, 'first-run'), {
      startedAs: async () => startedAs,
    });
    expect(made.kind).toBe(kind);
    expect(asked).toHaveLength(kind === 'accepted' ? 1 : 0);
  });

  it.each([
    ['is no reset one when it is the first', RUN, RUN, false],
    ['is no reset one when it continues one that was not', 'first-run', RUN, false],
    ['is a reset one when it began as another', 'first-run', 'another-run', true],
  ])('a run %s', async (_, firstRunId, startedAs, expected) => {
    const activity = () => activities.mayHaveBeenReset(firstRunId);
    expect(await run(activity, { startedAs: async () => startedAs })).toBe(expected);
  });

  it('a run may be a reset one when Temporal does not say', async () => {
    const startedAs = async () => {
      throw new Error('away');
    };
    expect(await run(() => activities.mayHaveBeenReset('first-run'), { startedAs })).toBe(true);
  });

  it.each([
    ['expired in the first run, which would know', 'this-run', RUN, 'expired'],
    ['expired in a run that continues one that was not reset', 'first-run', RUN, 'expired'],
    ['left alone in a reset one', 'first-run', 'another-run', 'mayBeGiven'],
  ])('a link that nobody was given, as far as is known, is %s', async (_, firstRun, startedAs, kind) => {
    answer = { status: 200, body: { transId: 'T1', status: 'EXPIRED' } };
    const firstRunId = firstRun === 'this-run' ? RUN : firstRun;
    const expiry = await run(() => activities.expireUnissued(transId('T1'), firstRunId), {
      startedAs: async () => startedAs,
    });
    expect(expiry.kind).toBe(kind);
    expect(asked).toHaveLength(kind === 'expired' ? 1 : 0);
  });

  it.each([
    ['payout', () => restored.payOut(payoutOrder, 'unread')],
    ['request on a phone', () => restored.directPay(directOrder, 'unread')],
    ['link', () => restored.initiatePay(linkOrder, RUN)],
  ])('a %s of a payment that began before Temporal was restored is looked up, and not sent', async (_, send) => {
    expect(await run(send)).toMatchObject({ kind: 'ambiguous', isReset: true });
    expect(asked).toEqual([]);
  });

  it.each([
    ['before it is not sent, unless an operator has decided so', -1, 'ambiguous'],
    ['after it is sent', 1, 'accepted'],
  ])('of a restore that is over, a payout held since %s', async (_, since, kind) => {
    const latestRestore = Date.now() - HOUR;
    const later = createActivities({ providers, merchant: noMerchant, collections: noCollections, latestRestore });
    list = { status: 200, body: [] };
    const sent = await run(() => later.payOut(payoutOrder, 'absent', latestRestore + since));
    expect(sent.kind).toBe(kind);
    expect(asked.filter(({ line }) => line.startsWith('POST'))).toHaveLength(kind === 'accepted' ? 1 : 0);
    expect(await run(() => later.payOut(payoutOrder, 'absent'))).toMatchObject({ kind: 'accepted' });
  });

  it('whose time is over is never sent, and was never sent if the list shows nothing', async () => {
    list = { status: 200, body: [] };
    for (const send of [
      () => activities.payOut(payoutOrder, 'late'),
      () => activities.directPay(directOrder, 'late'),
    ]) {
      expect(await run(send)).toMatchObject({ kind: 'withheld', failureCode: 'not_sent' });
    }
    list = { status: 200, body: [{ transId: 'T9', status: 'PENDING', externalId: payoutOrder.id }] };
    expect(await run(() => activities.payOut(payoutOrder, 'late'))).toMatchObject({ kind: 'ambiguous' });
    list = { status: 500, body: {} };
    expect(await run(() => activities.payOut(payoutOrder, 'late'))).toMatchObject({ kind: 'unchecked' });
    const startedAs = async () => 'another run';
    expect(await run(() => activities.payOut(payoutOrder, 'late'), { startedAs })).toMatchObject({ isReset: true });
    expect(asked.filter(({ line }) => line.startsWith('POST'))).toEqual([]);
  });

  it('a link of such a payment may have been given before, and is left alone', async () => {
    const expiry = await run(() => restored.expireUnissued(transId('T1'), RUN));
    expect(expiry.kind).toBe('mayBeGiven');
    expect(await run(() => restored.mayHaveBeenReset(RUN))).toBe(true);
    expect(asked).toEqual([]);
  });

  it("never sends the merchant's own userId or externalId, which would list other payments, too", async () => {
    list = { status: 200, body: [] };
    await run(() => activities.directPay({ ...directOrder, userId: 'user-7', externalId: 'order-7' }, 'absent'));
    expect(asked.at(-1)).toMatchObject({
      line: 'POST /direct-pay',
      body: { userId: 'col_2_direct', externalId: 'col_2' },
    });
  });

  it('sends a payout to the payout service', async () => {
    const { phone: _, ...order } = payoutOrder;
    list = { status: 200, body: [] };
    await run(() => activities.payOut({ ...order, medium: 'platform', email: 'to@example.com' }, 'absent'));
    expect(asked.at(-1)).toMatchObject({
      line: 'POST /payout',
      user: 'payout-user',
      body: { medium: 'platform', email: 'to@example.com', externalId: 'pay_3' },
    });
  });

  describe('with the first request of money', () => {
    const pay = (given: Circumstances = {}) => run(() => activities.payOut(payoutOrder, 'unread'), given);
    const lines = () => asked.map(({ line }) => line);

    it.each([
      ['names the payment', { externalId: 'pay_3', userId: 'pay_3' }],
      ['names nobody', {}],
    ])('sends nothing when the list shows a transaction that %s', async (_, named) => {
      list = { status: 200, body: [{ transId: 'T7', status: 'PENDING', ...named }] };
      expect(await pay()).toEqual({
        kind: 'ambiguous',
        reason: 'nothing was sent: the provider already showed T7 for this payment',
        shown: [expect.objectContaining({ transId: 'T7', status: 'PENDING' })],
      });
      expect(lines()).toEqual(['GET /transaction/pay_3']);
    });

    it('looks under the userId that a payment to a phone has, right before it is sent', async () => {
      list = { status: 200, body: [] };
      await run(() => activities.directPay(directOrder, 'unread'));
      expect(lines()).toEqual(['GET /transaction/col_2_direct', 'POST /direct-pay']);
    });

    it.each<[string, typeof list]>([
      ['shows nothing', { status: 200, body: [] }],
      ["shows another payment's", { status: 200, body: [{ transId: 'T7', status: 'PENDING', externalId: 'pay_4' }] }],
      ['is not known to the provider', { status: 404, body: { message: 'no such user' } }],
      ['fails', { status: 500, body: {} }],
      ['asks to wait', { status: 429, body: { message: 'slow down' } }],
      ['is nothing that can be read', { status: 200, body: { transId: 'T7' } }],
    ])('sends it when the list %s', async (_, listed) => {
      list = listed;
      expect(await pay()).toMatchObject({ kind: 'accepted' });
      expect(lines()).toEqual(['GET /transaction/pay_3', 'POST /payout']);
    });

    it('sends it when the list takes more than 3 s, within the time that its workflow gives it', async () => {
      list = 'nothing';
      const begun = performance.now();
      expect(await pay()).toMatchObject({ kind: 'accepted' });
      expect(lines()).toEqual(['GET /transaction/pay_3', 'POST /payout']);
      expect(performance.now() - begun).toBeGreaterThan(2_900);
    });

    it('sends nothing, which is certain, when the worker has to stop while it looks', async () => {
      list = 'nothing';
      expect(await pay({ stopsOnceAsked: 'GET' })).toMatchObject({ kind: 'notSent' });
      expect(lines()).toEqual(['GET /transaction/pay_3']);
    });
  });

  describe('with a further request of money', () => {
    const pay = (when: 'refused' | 'absent' = 'absent') => run(() => activities.payOut(payoutOrder, when));
    const lines = () => asked.map(({ line }) => line);
    const unread = {
      kind: 'unchecked',
      reason: "nothing was sent: the provider's list, which may show that it was sent before, could not be read",
    };
    const refused = { status: 404, body: { message: 'no such user' } };

    it('sends it right after a list that shows nothing', async () => {
      list = { status: 200, body: [] };
      expect(await pay()).toMatchObject({ kind: 'accepted' });
      expect(lines()).toEqual(['GET /transaction/pay_3', 'POST /payout']);
    });

    it('sends nothing when the list shows a transaction', async () => {
      list = { status: 200, body: [{ transId: 'T7', status: 'PENDING' }] };
      expect(await pay('refused')).toMatchObject({ kind: 'ambiguous', shown: [{ transId: 'T7' }] });
      expect(lines()).toEqual(['GET /transaction/pay_3']);
    });

    it.each<[string, typeof list, object]>([
      ['is refused', refused, unread],
      ['fails', { status: 500, body: {} }, unread],
      ['asks to wait', { status: 429, body: { message: 'slow down' } }, unread],
      ['is nothing that can be read', { status: 200, body: { transId: 'T7' } }, unread],
      [
        'refuses our credentials',
        { status: 401, body: { message: 'who?' } },
        { kind: 'unauthorized', message: 'who?', statusCode: 401 },
      ],
    ])('sends nothing when the list %s', async (_, listed, outcome) => {
      list = listed;
      expect(await pay()).toEqual(outcome);
      expect(lines()).toEqual(['GET /transaction/pay_3']);
    });

    it('sends it when the provider refuses to list it, and an operator insists', async () => {
      list = refused;
      expect(await pay('refused')).toMatchObject({ kind: 'accepted' });
      list = { status: 500, body: {} };
      expect(await pay('refused')).toEqual(unread);
      expect(lines()).toEqual(['GET /transaction/pay_3', 'POST /payout', 'GET /transaction/pay_3']);
    });

    it('is sent by a worker that knows of a restored backup only like that, the first, too', async () => {
      list = { status: 500, body: {} };
      const pays = () => run(() => restoredBefore.payOut(payoutOrder, 'unread'));
      expect(await pays()).toEqual(unread);
      list = { status: 200, body: [] };
      expect(await pays()).toMatchObject({ kind: 'accepted' });
    });
  });

  it('is not sent, and ambiguous, when the workflow was reset', async () => {
    const outcome = await run(() => activities.payOut(payoutOrder, 'absent'), {
      startedAs: async () => 'the run that was reset',
    });
    expect(outcome).toMatchObject({ kind: 'ambiguous', reason: expect.stringContaining('reset') });
    expect(asked).toEqual([]);
  });

  it('is not sent, and unchecked, when Temporal does not say whether the workflow was reset', async () => {
    const startedAs = () => Promise.reject(new Error('14 UNAVAILABLE: connect ECONNREFUSED 10.0.0.5:7233'));
    const outcome = await run(() => activities.payOut(payoutOrder, 'absent'), { startedAs });
    expect(outcome).toEqual({
      kind: 'unchecked',
      reason: 'nothing was sent: Temporal did not confirm in time that the workflow had not been reset',
    });
    expect(asked).toEqual([]);
  });

  it("is ambiguous before the workflow's time limit, however long the worker would wait", async () => {
    list = { status: 200, body: [] };
    answer = 'nothing';
    const startToCloseTimeoutMs = 5_000;
    const sent = run(() => activities.payOut(payoutOrder, 'absent'), { startToCloseTimeoutMs });
    // The client itself would wait for 15 s.
    const outcome = await Promise.race([sent, pause(startToCloseTimeoutMs, 'over')]);
    expect(outcome).toMatchObject({ kind: 'ambiguous' });
    expect(asked).toHaveLength(2);
  });

  it('is ambiguous at once when the worker has to stop while it waits', async () => {
    list = { status: 200, body: [] };
    answer = 'nothing';
    expect(await run(() => activities.payOut(payoutOrder, 'absent'), { stopsOnceAsked: 'POST' })).toMatchObject({
      kind: 'ambiguous',
    });
    expect(asked).toHaveLength(2);
  });
});

describe('the look-up of a payment', () => {
  const transaction = (id: string, externalId?: string) => ({ transId: id, status: 'PENDING', externalId });
  const lookUp = () => run(() => activities.lookUp({ service: 'payout', paymentId: payoutOrder.id, isDirect: false }));

  it("leaves out what says it is another's, and keeps what doesn't say", async () => {
    answer = {
      status: 200,
      body: [transaction('T3'), transaction('T2', 'pay_other'), transaction('T1', 'pay_3')],
    };
    expect(await lookUp()).toMatchObject({
      kind: 'listed',
      transactions: [{ transId: 'T1' }, { transId: 'T3' }],
    });
  });

  it("is made under the payment's id, which it was sent with as userId", async () => {
    answer = { status: 200, body: [] };
    expect(await lookUp()).toEqual({ kind: 'listed', transactions: [] });
    expect(asked).toMatchObject([{ line: 'GET /transaction/pay_3', user: 'payout-user' }]);
  });

  it("is made for a direct payment where no link is listed that was made for the payment's id", async () => {
    answer = { status: 200, body: [] };
    const { id: paymentId } = directOrder;
    await run(() => activities.lookUp({ service: 'collection', paymentId, isDirect: true }));
    expect(asked).toMatchObject([{ line: 'GET /transaction/col_2_direct', user: 'collection-user' }]);
  });

  it("returns 20 transactions at most, the payment's own before those that don't say", async () => {
    const unnamed = Array.from({ length: 1_000 }, (_, nth) => transaction(`U${nth}`));
    answer = { status: 200, body: [...unnamed, transaction('T1', 'pay_3')] };
    const listed = await lookUp();
    const ids = listed.kind === 'listed' ? listed.transactions.map(({ transId }) => String(transId)) : [];
    expect(ids).toHaveLength(20);
    expect(ids.slice(0, 2)).toEqual(['T1', 'U0']);
  });

  it('returns kilobytes at most, however long the texts of the provider are', async () => {
    const long = 'x'.repeat(100_000);
    const verbose = { ...transaction('T1', 'pay_3'), reason: long, financialTransId: long };
    answer = { status: 200, body: Array.from({ length: 20 }, () => verbose) };
    const listed = await lookUp();
    expect(listed).toHaveProperty('transactions.length', 20);
    expect(JSON.stringify(listed).length).toBeLessThan(50_000);
  });

  it('says so when it got no answer', async () => {
    answer = { status: 502, body: 'bad gateway' };
    expect(await lookUp()).toMatchObject({ kind: 'unavailable' });
  });
});

describe('the status of a payment', () => {
  it("is asked of its own kind's service", async () => {
    answer = {
      status: 200,
      body: { transId: 'T9', status: 'PENDING', payerName: 'A Person', email: 'p@example.com' },
    };
    const status = await run(() => activities.paymentStatus('payout', transId('T9'), START));
    expect(asked[0]).toMatchObject({ line: 'GET /payment-status/T9', user: 'payout-user' });
    expect(JSON.stringify(status)).not.toMatch(/Person|example\.com/);
  });

  it('is not asked more often than a payment may ask, however often a workflow task is repeated', async () => {
    const ask = (now: number) => run(() => activities.paymentStatus('payout', transId('T10'), now));
    for (const after of [0, 1_000, 2_000]) {
      expect(await ask(START + after)).not.toMatchObject({ kind: 'throttled' });
    }
    const refused = await ask(START + 3_000);
    expect(refused).toEqual({ kind: 'throttled', isOurs: true, retryAfterMs: expect.any(Number) });
    // The minute begins with the first answer, which took its time.
    const { retryAfterMs } = refused as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThanOrEqual(57_001);
    expect(retryAfterMs).toBeLessThan(57_001 + 30_000);
    expect(asked).toHaveLength(3);
  });
});
