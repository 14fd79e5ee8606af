import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { percentile } from '../figures.js';
import { post } from './http.js';
import type { MerchantReceiver } from './merchant-receiver.js';
import type { LoadOrder, LoadResult, MakeOrder, Pace, PayOrder } from './messages.js';
import type { ProviderStub } from './provider-stub.js';

/** Within this time, in ms, the merchant must have heard of a payment. */
const PATIENCE_MS = 60_000;
/** Pause before a POST that was refused for the moment is sent again, in ms. */
const REPEAT_MS = 1_000;
/**
 * Pause after the last payment, in ms: the engine still writes after the merchant was notified, and a notification may
 * come again.
 */
const SETTLE_MS = 500;
/** Failures that are shown; the rest are counted. */
const MAX_SHOWN = 5;

/** A system that can't give the link in time may answer 202 without it, and go on. */
const createdSchema = z.object({ id: z.string(), link: z.url().optional() });

interface LoadParties {
  readonly provider: ProviderStub;
  readonly merchant: MerchantReceiver;
}

/** A payment that was created; times in ms of `performance.now()`. */
interface Created {
  readonly id: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** The response's; one that was answered 202 has none. */
  readonly link?: string | undefined;
  /** Number of times that the POST was refused before. */
  readonly refusals: number;
}

/** A payment whose merchant was notified. */
interface Notified extends Created {
  /** Time when the provider sent its notification. */
  readonly notifiedAt: number;
  readonly arrivedAt: number;
}

/** Carries out orders, and checks each payment. */
export async function runLoad(parties: LoadParties, order: LoadOrder): Promise<LoadResult> {
  const { provider, merchant } = parties;
  provider.clear();
  merchant.clear();
  provider.webhookUrls = order.target.apis.map(({ webhookUrl }) => webhookUrl);
  if (order.kind === 'pay') return await payWaiting(parties, order);
  provider.payer = order.payer;
  return order.payer === 'pays' ? await makePayments(parties, order) : await prepare(parties, order);
}

/**
 * Makes payments that are paid. Each is checked: one link was made, but for those that POSTs had made before they were
 * refused; one was paid; the status was confirmed before the merchant was notified; and the merchant was told
 * SUCCESSFUL, of one event alone.
 */
async function makePayments(parties: LoadParties, order: MakeOrder): Promise<LoadResult> {
  const { provider, merchant } = parties;
  const startedAt = performance.now();
  const { done, failures } = await each(order.payments, order.pace, async (index, begun) => {
    const created = await create(order, index, begun);
    provider.give(created.id, created.link);
    return await whenNotified(parties, created, 'SUCCESSFUL');
  });
  await pause(SETTLE_MS);
  const why = complaints(parties, failures);
  if (why !== undefined) return { kind: 'failed', why };

  const seconds = (Math.max(...done.map(({ arrivedAt }) => arrivedAt)) - startedAt) / 1_000;
  const start = done.map(({ answeredAt, sentAt }) => answeredAt - sentAt);
  const outcome = done.map(({ arrivedAt, notifiedAt }) => arrivedAt - notifiedAt);
  const total = done.map(({ arrivedAt, sentAt }) => arrivedAt - sentAt);
  return {
    kind: 'done',
    ids: done.map(({ id }) => id),
    perSecond: done.length / seconds,
    startP50: percentile(start, 0.5),
    startP99: percentile(start, 0.99),
    outcomeP50: percentile(outcome, 0.5),
    outcomeP99: percentile(outcome, 0.99),
    totalP50: percentile(total, 0.5),
    totalP99: percentile(total, 0.99),
    resent: provider.resent,
    withoutLink: done.filter(({ link }) => link === undefined).length,
    repeated: done.reduce((sum, { refusals }) => sum + refusals, 0),
    notifiedAgain: merchant.repeated,
  };
}

/** Makes payments that stay open: they wait for their payer, or are under review. */
async function prepare(parties: LoadParties, order: MakeOrder): Promise<LoadResult> {
  const { provider } = parties;
  const before = provider.waiting;
  const { done, failures } = await each(order.payments, order.pace, async (index, begun) => {
    const created = await create(order, index, begun);
    provider.give(created.id, created.link);
    if (order.payer === 'waits') return;
    await whenNotified(parties, created, 'REVIEW');
  });
  const missing = () => before + order.payments - provider.waiting;
  // A POST that was answered without a link goes on.
  const deadline = performance.now() + PATIENCE_MS;
  while (order.payer === 'waits' && failures.length === 0 && missing() > 0 && performance.now() < deadline) {
    await pause(REPEAT_MS);
  }
  const unmade = order.payer === 'waits' && missing() > 0 ? [`${missing()} links were never made`] : [];
  const why = complaints(parties, [...failures, ...unmade]);
  const inReview = order.payer === 'disputes' ? done.length : 0;
  return {
    kind: 'prepared',
    waiting: provider.waiting,
    inReview,
    ...(why !== undefined && { why }),
  };
}

/** Has the payments paid that have waited for longest, and checks the outcome of each. */
async function payWaiting(parties: LoadParties, { payments, concurrency }: PayOrder): Promise<LoadResult> {
  const { provider } = parties;
  const { done, failures } = await each(payments, { concurrency }, async (_, begun) => {
    const id = provider.payOldest();
    if (id === undefined) throw new Error('no payment waits for its payer');
    const created = { id, sentAt: begun, answeredAt: begun, refusals: 0 };
    return await whenNotified(parties, created, 'SUCCESSFUL');
  });
  await pause(SETTLE_MS);
  const why = complaints(parties, failures);
  if (why !== undefined) return { kind: 'failed', why };
  const outcome = done.map(({ arrivedAt, notifiedAt }) => arrivedAt - notifiedAt);
  return {
    kind: 'paid',
    payments: done.length,
    outcomeP50: percentile(outcome, 0.5),
    outcomeP99: percentile(outcome, 0.99),
  };
}

interface Results<Result> {
  readonly done: readonly Result[];
  readonly failures: readonly string[];
}

/**
 * Does something so many times at a pace. At a given rate, `begun` is when it should have begun, so that a load
 * generator that is late makes no latency look shorter.
 */
async function each<Result>(
  count: number,
  pace: Pace,
  act: (index: number, begun: number) => Promise<Result>,
): Promise<Results<Result>> {
  const done: Result[] = [];
  const failures: string[] = [];
  const attempt = async (index: number, begun: number) => {
    try {
      done.push(await act(index, begun));
    } catch (error) {
      failures.push(`payment ${index}: ${error instanceof Error ? error.message : error}`);
    }
  };
  if ('concurrency' in pace) {
    let next = 0;
    const lane = async () => {
      while (next < count) await attempt(next++, performance.now());
    };
    await Promise.all(Array.from({ length: pace.concurrency }, lane));
  } else {
    const startedAt = performance.now();
    const attempts: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      const at = startedAt + (index / pace.perSecond) * 1_000;
      await pause(Math.max(0, at - performance.now()));
      attempts.push(attempt(index, at));
    }
    await Promise.all(attempts);
  }
  return { done, failures };
}

async function create(order: MakeOrder, index: number, sentAt: number): Promise<Created> {
  const { apis, apiKey } = order.target;
  const api = apis[index % apis.length];
  if (api === undefined) throw new Error('the system has no API');
  const name = `${order.name}-${index}`;
  const body = { method: 'link', amount: 5_000, externalId: name, message: 'Two tickets' };
  const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': name };
  for (let refusals = 0; ; refusals++) {
    const reply = await post(api.createUrl, body, headers);
    const answeredAt = performance.now();
    const isRefused = reply.status === 429 || reply.status === 503;
    if (isRefused && order.repeatsRefused && answeredAt - sentAt < PATIENCE_MS) {
      await pause(REPEAT_MS);
      continue;
    }
    // The response to a request that is repeated is 200.
    const isTaken = reply.status === 201 || reply.status === 202 || (refusals > 0 && reply.status === 200);
    if (!isTaken) throw new Error(`the POST was answered ${reply.status}: ${reply.body.slice(0, 200)}`);
    const { id, link } = createdSchema.parse(JSON.parse(reply.body));
    if (reply.status === 201 && link === undefined) throw new Error('the POST was answered 201 without a link');
    return { id, sentAt, answeredAt, link, refusals };
  }
}

/** The outcomes that the merchant may be notified of, by the payer's behaviour. */
type Outcome = 'SUCCESSFUL' | 'REVIEW';

async function whenNotified(
  { provider, merchant }: LoadParties,
  created: Created,
  expected: Outcome,
): Promise<Notified> {
  const { id } = created;
  const arrival = await merchant.arrivalOf(id, PATIENCE_MS);
  if (arrival === undefined) throw new Error(`the merchant wasn't notified within ${PATIENCE_MS / 1_000} s`);
  if (arrival.status !== expected) throw new Error(`the merchant was told ${arrival.status}`);
  const { links, paid, notifiedAt, confirmedAt } = provider.recordOf(id);
  if (links < 1 || links > 1 + created.refusals) throw new Error(`${links} links were made`);
  if (paid !== 1) throw new Error(`${paid} links were paid`);
  if (notifiedAt === undefined) throw new Error('the merchant was notified before the provider sent its notification');
  if (confirmedAt === undefined || confirmedAt > arrival.at) {
    throw new Error('the merchant was notified before the provider had confirmed the status');
  }
  return { ...created, notifiedAt, arrivedAt: arrival.at };
}

/** Describes the errors of all payments together; `undefined` when there were none. */
function complaints({ provider, merchant }: LoadParties, failures: readonly string[]): string | undefined {
  const all = [...failures, ...provider.complaints, ...merchant.complaints];
  if (all.length === 0) return undefined;
  const shown = all.slice(0, MAX_SHOWN).join('; ');
  return all.length > MAX_SHOWN ? `${shown}; and ${all.length - MAX_SHOWN} more` : shown;
}
