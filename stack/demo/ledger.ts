import got from 'got';
import { z } from 'zod';

const entrySchema = z.object({
  transaction: z.object({
    transId: z.string(),
    status: z.string(),
    amount: z.int(),
    transType: z.string(),
    externalId: z.string().optional(),
  }),
  attempts: z.array(z.object({ action: z.string() })),
  notifications: z.array(z.object({ status: z.string(), acknowledged: z.boolean() })),
});

/** One transaction, as the sandbox's ledger has it. */
export type LedgerEntry = z.infer<typeof entrySchema>;

const pageSchema = z.object({ transactions: z.array(entrySchema), next: z.int().nullable() });

/** What truly happened at the provider: every transaction of the sandbox, oldest first. */
export async function readLedger(sandboxUrl: string): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const body: unknown = await got(`${sandboxUrl}/_sandbox/ledger`, { searchParams: { offset } }).json();
    const page: z.infer<typeof pageSchema> = pageSchema.parse(body);
    entries.push(...page.transactions);
    offset = page.next;
  }
  return entries;
}

/** Lets every notification of a transaction be lost. */
export async function loseNotifications(sandboxUrl: string, transId: string): Promise<void> {
  await got.post(`${sandboxUrl}/_sandbox/faults`, { json: { fault: 'webhookDrop', transId, rate: 1 } });
}
