import { z } from 'zod';
import { percentile } from '../figures.js';
import { closeConnections, post } from './http.js';
import type { MerchantReceiver } from './merchant-receiver.js';
import type { LoadOrder, LoadResult } from './messages.js';
import type { ProviderStub } from './provider-stub.js';

/** Within this time, in ms, the merchant must have heard of a payment. */
const PATIENCE_MS = 60_000;
/** Failures that are told; the rest are counted. */
const MAX_TOLD = 5;

/** A system that can't give the link in time may answer 202 without it, and go on. */
const createdSchema = z.object({ id: z.string(), link: z.url().optional() });

interface World {
  readonly provider: ProviderStub;
  readonly merchant: MerchantReceiver;
}

/** Times of one payment, in ms. */
interface Times {
  /** Whether the response had the link. */
  readonly hasLink: boolean;
  readonly start: number;
  readonly outcome: number;
  readonly total: number;
  readonly arrivedAt: number;
}

/**
 * Makes payments at a fixed concurrency: the next POST is sent when one payment has reached the merchant. Each payment is
 * checked: one link was made, the status was confirmed before the merchant was told, and the merchant was told SUCCESSFUL.
 */
export async function runLoad(world: World, order: LoadOrder): Promise<LoadResult> {
  const { provider, merchant } = world;
  provider.clear();
  merchant.clear();
  closeConnections();
  provider.webhookUrl = order.target.webhookUrl;
  const times: Times[] = [];
  const failures: string[] = [];
  const ids: string[] = [];
  let next = 0;
  const startedAt = performance.now();
  const lane = async () => {
    while (next < order.payments) {
      const name = `${order.name}-${next++}`;
      try {
        const { id, ...taken } = await makePayment(world, order, name);
        ids.push(id);
        times.push(taken);
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: order.concurrency }, lane));
  const complaints = [...provider.complaints, ...merchant.complaints];
  if (failures.length + complaints.length > 0)
    return { kind: 'failed', why: tell([...failures, ...complaints]) };

  const endedAt = Math.max(...times.map(({ arrivedAt }) => arrivedAt));
  const share = (pick: (times: Times) => number, of: number) => percentile(times.map(pick), of);
  return {
    kind: 'done',
    ids,
    perSecond: times.length / ((endedAt - startedAt) / 1_000),
    startP50: share(({ start }) => start, 0.5),
    startP99: share(({ start }) => start, 0.99),
    outcomeP50: share(({ outcome }) => outcome, 0.5),
    outcomeP99: share(({ outcome }) => outcome, 0.99),
    totalP50: share(({ total }) => total, 0.5),
    totalP99: share(({ total }) => total, 0.99),
    resent: provider.resent,
    withoutLink: times.filter(({ hasLink }) => !hasLink).length,
  };
}

async function makePayment({ provider, merchant }: World, { target }: LoadOrder, name: string) {
  const body = { method: 'link', amount: 5_000, externalId: name, message: 'Two tickets' };
  const headers = { authorization: `Bearer ${target.apiKey}`, 'idempotency-key': name };
  const sentAt = performance.now();
  const reply = await post(target.createUrl, body, headers);
  const answeredAt = performance.now();
  if (reply.status !== 201 && reply.status !== 202)
    throw new Error(`the POST was answered ${reply.status}: ${reply.body.slice(0, 200)}`);
  const { id, link } = createdSchema.parse(JSON.parse(reply.body));
  if (reply.status === 201 && link === undefined) throw new Error('the POST was answered 201 without a link');

  const arrival = await merchant.arrivalOf(id, PATIENCE_MS);
  if (arrival === undefined) throw new Error(`the merchant wasn't notified within ${PATIENCE_MS / 1_000} s`);
  if (arrival.status !== 'SUCCESSFUL') throw new Error(`the merchant was told ${arrival.status}`);
  const { links, notifiedAt, confirmedAt } = provider.recordOf(id);
  if (links !== 1) throw new Error(`${links} links were made`);
  if (notifiedAt === undefined)
    throw new Error('the merchant was notified before the provider sent its notification');
  if (confirmedAt === undefined || confirmedAt > arrival.at) {
    throw new Error('the merchant was notified before the provider had confirmed the status');
  }
  return {
    id,
    hasLink: link !== undefined,
    start: answeredAt - sentAt,
    outcome: arrival.at - notifiedAt,
    total: arrival.at - sentAt,
    arrivedAt: arrival.at,
  };
}

function tell(failures: readonly string[]): string {
  const told = failures.slice(0, MAX_TOLD).join('; ');
  return failures.length > MAX_TOLD ? `${told}; and ${failures.length - MAX_TOLD} more` : told;
}
