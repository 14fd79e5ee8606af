import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { median } from '../figures.js';
import type { LoadTarget } from '../load/messages.js';

/** Times in ms. */
export interface Times {
  readonly p50: number;
  readonly max: number;
}

/** Times of reading lists of payments. */
export interface ListTimes {
  /** The newest 100 payments of a merchant. */
  readonly newest: Times;
  /** One payment, found by its externalId. */
  readonly byReference: Times;
  /** The first 100 payments under review. */
  readonly review: Times;
  /** All payments under review: the pages' times together. */
  readonly wholeReview: { readonly payments: number; readonly ms: number };
}

const pageSchema = z.object({
  data: z.array(z.object({ id: z.string(), externalId: z.string().optional(), merchant: z.string() })),
  nextCursor: z.string().optional(),
});

/** Number of times that each list is read. */
const TIMES = 10;
const PAGE = 100;
/**
 * Pause before each read, in ms: Temporal answers ten lists a second, and then makes everybody wait. That isn't
 * measured.
 */
const PAUSE_MS = 250;

/** Reads lists as an operator, one after the other, while nothing else happens. @throws Error when one isn't given */
export async function measureLists(target: LoadTarget): Promise<ListTimes> {
  const read = (query: Readonly<Record<string, string>>) => readPage(target, query);
  const limit = String(PAGE);
  const [newest] = (await read({ limit })).data;
  if (newest?.externalId === undefined) throw new Error('there is no payment to be listed');
  const { merchant, externalId } = newest;
  return {
    newest: await timesOf(() => read({ merchant, limit })),
    byReference: await timesOf(() => read({ merchant, externalId })),
    review: await timesOf(() => read({ status: 'REVIEW', limit })),
    wholeReview: await readWhole((after) => read({ status: 'REVIEW', limit, ...after })),
  };
}

async function timesOf(act: () => Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  for (let count = 0; count < TIMES; count++) {
    await pause(PAUSE_MS);
    const begun = performance.now();
    await act();
    times.push(performance.now() - begun);
  }
  return { p50: median(times), max: Math.max(...times) };
}

async function readWhole(read: (after: { cursor?: string }) => Promise<z.infer<typeof pageSchema>>) {
  let ms = 0;
  const ids = new Set<string>();
  let cursor: string | undefined;
  do {
    await pause(PAUSE_MS);
    const begun = performance.now();
    const page = await read(cursor === undefined ? {} : { cursor });
    ms += performance.now() - begun;
    for (const { id } of page.data) ids.add(id);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { payments: ids.size, ms };
}

async function readPage({ apis, apiKey }: LoadTarget, query: Readonly<Record<string, string>>) {
  const url = new URL('/v1/payments', apis[0]?.createUrl);
  url.search = new URLSearchParams(query).toString();
  const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`a list was answered ${response.status}: ${text.slice(0, 200)}`);
  return pageSchema.parse(JSON.parse(text));
}
