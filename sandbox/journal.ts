import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { z } from 'zod';
import { mediumSchema, statusSchema } from '../src/provider/schemas.js';
import type { Entry } from './entry.js';
import type { PostCount } from './request-counts.js';

/** Keeps the sandbox's ledger when its process ends. */
export interface Journal {
  /** The transactions of the last run in their last state, oldest first. */
  readonly entries: readonly Entry[];
  /** The POST counts of the earlier runs. */
  readonly posts: readonly PostCount[];
  /** Writes a transaction in its current state; a later crash of the process can't lose it. */
  saveEntry(entry: Entry, clockMs: number): void;
  /** Writes the number of POSTs for an externalId, as safely. */
  savePosts(posts: PostCount, clockMs: number): void;
  /**
   * The current time on the clock of the last run, had it kept running at `scale` times real time, in ms since the
   * epoch; `undefined` without an earlier run.
   */
  clockNow(scale: number): number | undefined;
  close(): void;
}

/**
 * Opens or creates a journal. Each line is the state of one transaction (or count), and the last line about it counts;
 * opening the journal drops the others. An incomplete last line was being written when the process died, before the
 * change was visible to anyone, and is dropped as well. Writes reach the operating system at once, so a crash of the
 * process loses nothing; a crash of the machine may.
 *
 * @throws Error naming the line that can't be read; the file is left unchanged
 */
export function openJournal(file: string): Journal {
  const lines = latest(existsSync(file) ? read(file) : []);
  const last = lines.at(-1);
  const draft = `${file}.new`;
  writeFileSync(draft, lines.map((line) => `${toText(line)}\n`).join(''), { mode: 0o600 });
  flush(draft);
  renameSync(draft, file);

  const journal = openSync(file, 'a');
  const write = (line: JournalLine) => appendFileSync(journal, `${toText(line)}\n`);
  return {
    entries: lines
      .flatMap((line) => ('entry' in line ? [line.entry] : []))
      .sort((one, other) => one.sequence - other.sequence),
    posts: lines.flatMap((line) => ('posts' in line ? [line.posts] : [])),
    saveEntry: (entry, clock) => write({ real: Date.now(), clock, entry }),
    savePosts: (posts, clock) => write({ real: Date.now(), clock, posts }),
    clockNow: (scale) => last && Math.floor(last.clock + Math.max(0, Date.now() - last.real) * scale),
    close: () => closeSync(journal),
  };
}

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
  attempts: z.array(
    z.strictObject({
      at: time,
      action: z.enum(['pay', 'decline']),
      phoneEnding: z.string().optional(),
      withdrawn: z.literal(true).optional(),
    }),
  ),
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

/** The time of a line, in ms since the epoch: by the real clock and by the sandbox's. */
const times = { real: time, clock: time };

const lineSchema = z.union([
  z.strictObject({ ...times, entry: entrySchema }),
  z.strictObject({ ...times, posts: postsSchema }),
]);

/** The state of one transaction or of one POST count. */
type JournalLine = { readonly real: number; readonly clock: number } & (
  | { readonly entry: Entry }
  | { readonly posts: PostCount }
);

/** A line as JSON, without a line break. */
function toText(line: JournalLine): string {
  if ('posts' in line) return JSON.stringify(line);
  const { real, clock, entry } = line;
  return JSON.stringify({ real, clock, entry: { ...entry, faults: [...entry.faults] } });
}

function read(file: string): JournalLine[] {
  const texts = readFileSync(file, 'utf8').split('\n');
  // After the last line break comes an incomplete line, or nothing.
  texts.pop();
  return texts.map((text, index) => {
    try {
      return lineSchema.parse(JSON.parse(text));
    } catch (error) {
      throw new Error(`${file}: line ${index + 1} can't be read: remove the file to start anew`, {
        cause: error,
      });
    }
  });
}

/** The last line about each transaction and each externalId, in the order of writing. */
function latest(lines: readonly JournalLine[]): JournalLine[] {
  const bySubject = new Map<string, JournalLine>();
  for (const line of lines) {
    const subject = 'entry' in line ? `entry ${line.entry.transId}` : `posts ${line.posts.externalId}`;
    bySubject.delete(subject);
    bySubject.set(subject, line);
  }
  return [...bySubject.values()];
}

function flush(file: string): void {
  const opened = openSync(file, 'r');
  fsyncSync(opened);
  closeSync(opened);
}
