import { z } from 'zod';
import { mediumSchema, statusSchema } from '../../src/provider/schemas.js';
import type { Entry } from '../entry.js';
import type { PostCount } from '../post-log.js';

const time = z.int();

const entrySchema = z.strictObject({
  service: z.enum(['collection', 'payout']),
  serviceName: z.string(),
  method: z.enum(['link', 'direct', 'payout']),
  amount: z.int(),
  medium: mediumSchema.optional(),
  email: z.string().optional(),
  payerName: z.string().optional(),
  redirectUrl: z.string().optional(),
  externalId: z.string().optional(),
  userId: z.string().optional(),
  message: z.string().optional(),
  webhook: z.string().optional(),
  sequence: z.int(),
  transId: z.string(),
  createdAt: time,
  linkToken: z.string().optional(),
  expiresAt: time.optional(),
  listedFrom: time,
  status: statusSchema,
  reason: z.string().optional(),
  financialTransId: z.string().optional(),
  confirmedAt: time.optional(),
  settlement: z.strictObject({ at: time, status: z.enum(['SUCCESSFUL', 'FAILED']) }).optional(),
  history: z.array(z.strictObject({ status: statusSchema, at: time })),
  attempts: z.array(z.strictObject({ at: time, action: z.enum(['pay', 'decline']) })),
  statusCalls: z.strictObject({ answered: z.int(), throttled: z.int(), recent: z.array(time) }),
  notifications: z.array(
    z.strictObject({
      status: statusSchema,
      at: time,
      faults: z.array(z.string()),
      tries: z.array(z.strictObject({ at: time, answer: z.union([z.int(), z.string()]) })),
      acknowledged: z.boolean(),
    }),
  ),
  faults: z.array(z.tuple([z.string(), z.int()])).transform((counts) => new Map(counts)),
});

const postsSchema = z.strictObject({ externalId: z.string(), received: z.int(), committed: z.int() });

/** When a line was written, in ms since the epoch, by the real clock and by the sandbox's. */
const times = { real: time, clock: time };

const lineSchema = z.union([
  z.strictObject({ ...times, entry: entrySchema }),
  z.strictObject({ ...times, posts: postsSchema }),
]);

/** One line of a journal: a transaction as it stood, with all that had happened to it, or a count of POSTs. */
export type JournalLine = { readonly real: number; readonly clock: number } & (
  | { readonly entry: Entry }
  | { readonly posts: PostCount }
);

/** Without a line break. */
export function toText(line: JournalLine): string {
  if ('posts' in line) return JSON.stringify(line);
  const { real, clock, entry } = line;
  return JSON.stringify({ real, clock, entry: { ...entry, faults: [...entry.faults] } });
}

/** @throws Error when the text is no line of a journal. */
export function fromText(text: string): JournalLine {
  return lineSchema.parse(JSON.parse(text));
}
