import { got } from 'got';
import { z } from 'zod';
import { statusSchema } from '../provider/wire.js';
import type { FaultRequest } from '../sandbox/faults/fault-rule.js';

const entrySchema = z
  .object({
    transaction: z.object({ transId: z.string(), status: statusSchema, externalId: z.string().optional() }),
    history: z.array(z.object({ status: statusSchema, at: z.int() })),
    statusCalls: z.object({ answered: z.int(), throttled: z.int() }),
  })
  .transform(({ transaction, ...rest }) => ({ ...transaction, ...rest }));

/** One transaction, as the provider's books have it, with each status and since when (ms since the epoch). */
export type Transaction = z.infer<typeof entrySchema>;

const pageSchema = z.object({ transactions: z.array(entrySchema), next: z.int().nullable() });
const totalsSchema = z.object({ totals: z.record(z.string(), z.int()) });

const PAGE = 500;
const LIMIT_MS = 10_000;
const ONCE = { retry: { limit: 0 }, timeout: { request: LIMIT_MS } };

/** The transactions that were made for a payment, or all of them, oldest first. @throws RequestError */
export async function readTransactions(sandboxUrl: string, externalId?: string): Promise<Transaction[]> {
  const found: Transaction[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const searchParams = { offset, limit: PAGE, ...(externalId !== undefined && { externalId }) };
    const body: unknown = await got(`${sandboxUrl}/_sandbox/ledger`, { ...ONCE, searchParams }).json();
    const page: z.infer<typeof pageSchema> = pageSchema.parse(body);
    found.push(...page.transactions);
    offset = page.next;
  }
  return found;
}

/** How often each fault has struck since the provider's process began. @throws RequestError */
export async function readFaults(sandboxUrl: string): Promise<Record<string, number>> {
  return totalsSchema.parse(await got(`${sandboxUrl}/_sandbox/faults`, ONCE).json()).totals;
}

/** Puts faults in force. @throws RequestError */
export async function orderFaults(sandboxUrl: string, rules: readonly FaultRequest[]): Promise<void> {
  for (const json of rules) await got.post(`${sandboxUrl}/_sandbox/faults`, { ...ONCE, json });
}

/** The statuses that a payment's transactions had at a time (ms since the epoch). */
export function statusesAt(transactions: readonly Transaction[], time: number): string[] {
  return transactions.flatMap(({ history }) => history.findLast(({ at }) => at <= time)?.status ?? []);
}
