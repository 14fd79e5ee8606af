import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import type { Book } from '../../src/book/book.js';
import { type Beat, lastBeat } from '../../src/book/gaps.js';
import { type BeatStore, beatOnce, beatsInTemporal, runBeats } from '../../src/engine/beats.js';
import { startDevServer } from '../../stack/temporal/start-dev-server.js';
import { newBook, type TestBook } from '../support/books.js';
import { eventually } from '../support/eventually.js';

const logger = pino({ level: 'silent' });

let made: TestBook;
let book: Book;

beforeEach(async () => {
  made = await newBook();
  ({ book } = made);
  await book.query("UPDATE beats SET at = '-infinity'");
});
afterEach(() => made.drop());

const gaps = async () => (await book.query('SELECT found FROM gaps')).map(({ found }) => found);
const numberOf = async () => Number((await book.query('SELECT number FROM beats'))[0]?.number);

describe('the beats of the book, at Temporal', () => {
  let temporal: Awaited<ReturnType<typeof startDevServer>>;
  let client: Client;

  beforeAll(async () => {
    temporal = await startDevServer({ report: () => undefined, ui: false });
    client = new Client({ connection: await Connection.connect({ address: temporal.address }) });
  });
  afterAll(async () => {
    await client.connection.close();
    await temporal.stop();
  });

  it('are kept by a schedule that never starts anything, and show when the book went back', async () => {
    const store = beatsInTemporal(client, 'payments');
    expect(await store.read()).toBeUndefined();
    for (let beats = 0; beats < 3; beats++) await beatOnce({ book, store, logger });
    expect(await store.read()).toEqual({ number: 3, at: expect.any(Number) });
    expect(await gaps()).toEqual([]);
    await store.write({ number: 2, at: Date.now() });
    expect(await store.read()).toMatchObject({ number: 3 });
    await book.query('UPDATE beats SET number = 1');
    await Promise.all([beatOnce({ book, store, logger }), beatOnce({ book, store, logger })]);
    expect(await gaps()).toEqual(['the book has 1 beats, and Temporal knows of 3']);
    await beatOnce({ book, store, logger });
    expect(await gaps()).toHaveLength(1);
    const { state, info } = await client.schedule.getHandle('book-beats').describe();
    expect([state.paused, info.recentActions, info.nextActionTimes]).toEqual([true, [], []]);
  });
});

describe('workers', () => {
  /** What Temporal keeps, in memory. */
  function memory() {
    let kept: Beat | undefined;
    const written: number[] = [];
    const store: BeatStore = {
      read: async () => kept,
      write: async (beat) => {
        kept = beat;
        written.push(beat.number);
      },
    };
    return { store, written };
  }

  it('beat once each when they start, and one of them in half a minute', async () => {
    const { store, written } = memory();
    const stopping = new AbortController();
    const running = Promise.all([1, 2, 3].map(() => runBeats({ book, store, logger }, stopping.signal)));
    await eventually(
      async () => written.length,
      (beats) => beats === 3,
    );
    stopping.abort();
    await running;
    expect(await numberOf()).toBe(3);
  });

  it('count for nothing until Temporal was told: nothing would show that the book has lost them', async () => {
    const { store, written } = memory();
    const mute: BeatStore = {
      read: store.read,
      write: async () => {
        throw new Error('Temporal takes no note');
      },
    };
    await expect(beatOnce({ book, store: mute, logger })).rejects.toThrow('no note');
    expect([await numberOf(), await lastBeat(book)]).toEqual([1, Number.NEGATIVE_INFINITY]);
    await beatOnce({ book, store, logger });
    expect([written, await lastBeat(book)]).toEqual([[2], expect.any(Number)]);
  });

  it('tell Temporal of no beat that is not committed, and begin again when it is back', async () => {
    const { store, written } = memory();
    let isAway = true;
    const flaky: BeatStore = {
      read: async () => {
        if (isAway) throw new Error('Temporal is away');
        return await store.read();
      },
      write: store.write,
    };
    await expect(beatOnce({ book, store: flaky, logger })).rejects.toThrow('away');
    expect([await numberOf(), written]).toEqual([0, []]);
    isAway = false;
    await beatOnce({ book, store: flaky, logger });
    expect([await numberOf(), written]).toEqual([1, [1]]);
  });
});
