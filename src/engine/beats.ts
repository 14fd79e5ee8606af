import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Book } from '../book/book.js';
import { type Beat, beat, hasBeaten, keepBeat } from '../book/gaps.js';
import { isoTime, SECOND_MS } from '../payments/words/time.js';
import { repeat } from '../process/repeat.js';
import { STATEMENT_WORKFLOW_TYPE } from '../workflows/messages.js';

/** Where the last beat of the book is kept outside of the book. */
export interface BeatStore {
  /** `undefined` before the first beat, or where none can be read. */
  read(): Promise<Beat | undefined>;
  write(beat: Beat): Promise<void>;
}

export interface BeatOptions {
  readonly book: Book;
  readonly store: BeatStore;
  readonly logger: Logger;
}

/** Of all processes together, one beats in this time, in ms: well within the time that a payout may leave after it. */
const BEAT_EVERY_MS = 30 * SECOND_MS;

/** Pause between two looks whether somebody has, and after a failure, in ms. */
const LOOK_EVERY_MS = 5 * SECOND_MS;

/**
 * Compares the book with what Temporal knows of it, at once and then every half minute, until `stop` is aborted. Until
 * that was done, no payout leaves. Never rejects.
 */
export async function runBeats(options: BeatOptions, stop: AbortSignal): Promise<void> {
  const { book, logger } = options;
  let isFirst = true;
  const work = async () => {
    // A little earlier or later, so that not all come at once.
    const since = book.now() - BEAT_EVERY_MS + LOOK_EVERY_MS * Math.random();
    if (!isFirst && (await hasBeaten(book, since))) return;
    await beatOnce(options);
    isFirst = false;
  };
  const failure = 'nobody knows at the moment whether the book has gone back: no payout is sent';
  await repeat({ work, everyMs: LOOK_EVERY_MS, logger, failure }, stop);
}

/** Temporal is told only of a beat that is committed, and asked before: of what it knows, the book lacks nothing. */
export async function beatOnce({ book, store, logger }: BeatOptions): Promise<void> {
  const counted = await beat(book, await store.read(), book.now());
  if (counted.hasGoneBack) {
    logger.error(
      'the book has gone back: it was restored, or a standby took over without the last commits. What was ordered before and not sent waits for a person',
    );
  }
  await store.write(counted);
  await keepBeat(book, counted);
}

/** The schedule that keeps them. */
const SCHEDULE_ID = 'book-beats';

/** Time limit of a call to Temporal, in ms. */
const CALL_LIMIT_MS = 4 * SECOND_MS;

/**
 * Keeps beats in the note of a schedule that never starts anything: it is Temporal's only text that many processes can
 * change without a history that grows.
 */
export function beatsInTemporal(client: Client, taskQueue: string): BeatStore {
  const handle = client.schedule.getHandle(SCHEDULE_ID);
  const calling = <T>(call: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
  const create = (state: { readonly paused: true; readonly note: string }) =>
    client.schedule.create({
      scheduleId: SCHEDULE_ID,
      spec: {},
      // A schedule has to have one.
      action: { type: 'startWorkflow', workflowType: STATEMENT_WORKFLOW_TYPE, taskQueue, args: [{ v: 1 }] },
      state,
    });
  return {
    read: () =>
      calling(async () => {
        try {
          return parseNote((await handle.describe()).state.note);
        } catch (error) {
          if (error instanceof ScheduleNotFoundError) return undefined;
          throw error;
        }
      }),
    write: (beat) =>
      calling(async () => {
        const state = { paused: true, note: noteOf(beat) } as const;
        try {
          // A worker that is slow to tell of its beat takes nothing back of what another has told since.
          await handle.update(({ spec, action, policies, state: { note } }) => {
            const isOlder = (parseNote(note)?.number ?? 0) > beat.number;
            return { spec, action, policies, state: isOlder ? { paused: true, note } : state };
          });
        } catch (error) {
          if (!(error instanceof ScheduleNotFoundError)) throw error;
          // Another may have made it meanwhile, and the next beat changes it.
          await create(state).catch((reason: unknown) => {
            if (!(reason instanceof ScheduleAlreadyRunning)) throw reason;
          });
        }
      }),
  };
}

function noteOf({ number, at }: Beat): string {
  return `Beat ${number} of the book, at ${isoTime(at)}. Leave this paused: it shows when the book was restored.`;
}

function parseNote(note: string | undefined): Beat | undefined {
  const [, number, time = ''] = /^Beat (\d{1,15}) of the book, at (\S+Z)\./.exec(note ?? '') ?? [];
  const at = Date.parse(time);
  return number === undefined || Number.isNaN(at) ? undefined : { number: Number(number), at };
}
