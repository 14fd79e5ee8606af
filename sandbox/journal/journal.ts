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
import type { Entry } from '../entry.js';
import type { PostCount } from '../post-log.js';
import { fromText, type JournalLine, toText } from './journal-line.js';

/** What keeps the sandbox's ledger over the death of its process. */
export interface Journal {
  /** The transactions as the last run left them, oldest first. */
  readonly entries: readonly Entry[];
  /** The POSTs that the last runs had counted. */
  readonly posts: readonly PostCount[];
  /** Writes a transaction down as it stands; it is in the system's hands when this returns. */
  keep(entry: Entry, clockMs: number): void;
  /** Writes down how many POSTs have named an externalId, as {@link keep} does. */
  keepPosts(posts: PostCount, clockMs: number): void;
  /**
   * What the clock of the last run, `scale` times as fast as real time, would show now (ms since the epoch);
   * `undefined` when there was no last run.
   */
  clockNow(scale: number): number | undefined;
  close(): void;
}

/**
 * Opens a journal, or begins one. Each line is one transaction (or one count) as it stood, so that the last line about
 * it is what holds; at the opening only those are kept. A last line that breaks off was being written when the process died:
 * whoever it was for has had no answer yet, and it is dropped. Written with system calls of its own: a death of the
 * process loses nothing that it has returned from; a death of the machine may.
 *
 * @throws Error naming the line that can't be read; the file is then left alone.
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
    keep: (entry, clock) => write({ real: Date.now(), clock, entry }),
    keepPosts: (posts, clock) => write({ real: Date.now(), clock, posts }),
    clockNow: (scale) => last && Math.floor(last.clock + Math.max(0, Date.now() - last.real) * scale),
    close: () => closeSync(journal),
  };
}

function read(file: string): JournalLine[] {
  const texts = readFileSync(file, 'utf8').split('\n');
  // What follows the last line break is a line that was never finished, or nothing.
  texts.pop();
  return texts.map((text, index) => {
    try {
      return fromText(text);
    } catch (error) {
      throw new Error(`${file}: line ${index + 1} can't be read: remove the file to begin anew`, {
        cause: error,
      });
    }
  });
}

/** The last line about each transaction and each externalId, in order of writing. */
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
