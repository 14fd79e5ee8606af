import got from 'got';
import { z } from 'zod';
import type { Entry } from '../../sandbox/entry.js';
import type { FaultRequest } from '../../sandbox/faults/fault-rule.js';
import type { Ledger } from '../../sandbox/ledger.js';
import { userIdOf } from '../../src/provider/requests.js';
import { statusSchema } from '../../src/provider/schemas.js';

/** A transaction in the provider's books, as far as its status is compared; wherever it was read. */
export type BookedStatus = Pick<Entry, 'status'> & {
  /** The provider made it by itself, beside the requested one. */
  readonly isStray?: boolean | undefined;
};

/** All of a transaction that is compared at the end. */
export type FinalTransaction = BookedStatus & {
  readonly transId: string;
  /** XAF */
  readonly amount: number;
  /** Time of its creation, in ms since the epoch. */
  readonly createdAt: number;
  readonly statusCalls: Pick<Entry['statusCalls'], 'throttled'>;
  /** Sanaga has acknowledged a notification that names it. */
  readonly isKnown?: boolean | undefined;
};

/** All that the sandbox has of a payment, under each userId that it may have been sent with. */
export function entriesOf(ledger: Ledger, paymentId: string): Entry[] {
  return [false, true].flatMap((isDirect) => ledger.ofUser(userIdOf(paymentId, isDirect)));
}

/** Statuses in words. */
export function statusList(transactions: readonly BookedStatus[]): string {
  const word = ({ status, isStray }: BookedStatus) => (isStray ? `${status} (stray)` : status);
  return transactions.map(word).join(', ') || 'nothing';
}

const entrySchema = z
  .object({
    transaction: z.object({
      transId: z.string(),
      status: statusSchema,
      amount: z.int(),
      externalId: z.string().optional(),
    }),
    history: z.array(z.object({ status: statusSchema, at: z.int() })),
    createdAt: z.int(),
    statusCalls: z.object({ answered: z.int(), throttled: z.int() }),
  })
  .transform(({ transaction, ...rest }) => ({ ...transaction, ...rest }));

/** One transaction, as the provider's books have it, with each status and since when (ms since the epoch). */
export type Transaction = z.infer<typeof entrySchema>;

const pageSchema = z.object({
  transactions: z.array(entrySchema),
  posts: z.array(z.object({ externalId: z.string(), received: z.int() })),
  next: z.int().nullable(),
});
const totalsSchema = z.object({ totals: z.record(z.string(), z.int()) });

const PAGE = 500;
const LIMIT_MS = 10_000;
const ONCE = { retry: { limit: 0 }, timeout: { request: LIMIT_MS } };

/** The provider's books, or what they have of one payment. */
export interface ProviderBooks {
  /** Oldest first. */
  readonly transactions: readonly Transaction[];
  /** Requests that were to make some, by externalId. */
  readonly posts: ReadonlyMap<string, number>;
}

/** The provider's books of a payment, or all of them. @throws RequestError */
export async function readBooks(sandboxUrl: string, externalId?: string): Promise<ProviderBooks> {
  const transactions: Transaction[] = [];
  const posts = new Map<string, number>();
  for (let offset: number | null = 0; offset !== null; ) {
    const searchParams = { offset, limit: PAGE, ...(externalId !== undefined && { externalId }) };
    const body: unknown = await got(`${sandboxUrl}/_sandbox/ledger`, { ...ONCE, searchParams }).json();
    const page: z.infer<typeof pageSchema> = pageSchema.parse(body);
    transactions.push(...page.transactions);
    for (const { externalId: id, received } of page.posts) posts.set(id, received);
    offset = page.next;
  }
  return { transactions, posts };
}

/** Counts the faults that have struck since the provider's process began, by kind. @throws RequestError */
export async function readFaults(sandboxUrl: string): Promise<Record<string, number>> {
  return totalsSchema.parse(await got(`${sandboxUrl}/_sandbox/faults`, ONCE).json()).totals;
}

/** Adds fault rules to the sandbox. @throws RequestError */
export async function addFaults(sandboxUrl: string, rules: readonly FaultRequest[]): Promise<void> {
  for (const json of rules) await got.post(`${sandboxUrl}/_sandbox/faults`, { ...ONCE, json });
}

/** A payment's transactions as they stood at a time (ms since the epoch). */
export function booksAt(transactions: readonly Transaction[], time: number): BookedStatus[] {
  return transactions.flatMap(({ history }) => {
    const status = history.findLast(({ at }) => at <= time)?.status;
    return status === undefined ? [] : [{ status }];
  });
}
