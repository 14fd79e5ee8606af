import { status as grpc } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { type RecorderPace, runRecorder } from '../../src/records/recorder.js';
import { Records } from '../../src/records/records.js';
import { DecryptionError } from '../../src/temporal/encryption.js';
import { freePort } from '../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../stack/records/pglite-server.js';
import { failedWith, idOf, paid, type Run, temporalWith } from '../support/ended-runs.js';
import { eventually } from '../support/eventually.js';
import { testEncryption } from '../support/test-encryption.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const PACE: RecorderPace = {
  roundMs: 20,
  leaseMs: 30_000,
  soonMs: 5_000,
  overlapMs: 60_000,
  overlapEveryMs: 0,
  sweepMs: 50,
  openMs: 60_000,
  againMs: HOUR_MS,
};

let server: PGliteServer;
let url: string;
let records: Records;
let stops: (() => Promise<void>)[] = [];
const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });

beforeAll(async () => {
  const port = await freePort();
  server = await startPGliteServer(port);
  url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  records = Records.open(url, testEncryption, logger);
  await records.migrate();
});
afterAll(async () => {
  await records.close();
  await server.stop();
});

async function sql(text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text);
  await client.end();
}
beforeEach(() => sql('DELETE FROM events; DELETE FROM payments; UPDATE recorder SET recorded_until = NULL'));
afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
  logged.length = 0;
});

/** Starts a recorder, which runs until the end of the test. */
function record(
  runs: readonly Run[],
  pace: Partial<RecorderPace> = {},
  onAsked?: Parameters<typeof temporalWith>[1],
): void {
  const stop = new AbortController();
  const options = { client: temporalWith(runs, onAsked), records, logger, pace: { ...PACE, ...pace } };
  const running = runRecorder(options, stop.signal);
  stops.push(async () => {
    stop.abort();
    await running;
  });
}

const untilRecorded = (number: number) =>
  eventually(
    () => records.find(idOf(number)).catch(() => undefined),
    (found) => found?.content !== undefined,
  );

describe('the recorder', () => {
  it('records all that Temporal still has, and says how far it has come', async () => {
    const now = Date.now();
    record([paid(1, now - 29 * DAY_MS), paid(2, now - 10 * DAY_MS), paid(3, now - 1_000)]);
    for (const number of [1, 2, 3]) await untilRecorded(number);
    const { recordedUntil = 0 } = await eventually(
      () => records.recorderState(),
      (state) => (state.recordedUntil ?? 0) > now - HOUR_MS,
    );
    // The index may still lack what has ended within the last minute.
    expect(recordedUntil).toBeLessThanOrEqual(Date.now() - PACE.overlapMs);
    const events = await records.events({ after: 0 }, 10);
    expect(events.map(({ paymentId }) => paymentId)).toEqual([idOf(1), idOf(2), idOf(3)]);
  });

  it('asks for a day at most at a time, and for less again after a failure: the oldest of a backlog come first', async () => {
    const hours: number[] = [];
    const onAsked = (from: number, to: number) => {
      hours.push((to - from) / HOUR_MS);
      if (hours.length === 6) throw new Error('Temporal is away');
    };
    const now = Date.now();
    record([], { sweepMs: 2 * DAY_MS }, onAsked);
    await eventually(
      () => records.recorderState(),
      (state) => (state.recordedUntil ?? 0) > now - HOUR_MS,
    );
    expect(hours.slice(0, 10)).toEqual([6, 12, 24, 24, 24, 24, 6, 12, 24, 24]);
    expect(Math.max(...hours)).toBe(24);
  });

  it('asks for what has just ended, and now and then for the last minute', async () => {
    const seconds: number[] = [];
    const runs = [paid(1, Date.now() - 1_000)];
    record(runs, { sweepMs: 2 * DAY_MS, soonMs: 1_000, overlapEveryMs: 2_000 }, (from, to) => {
      seconds.push(Math.round((to - from) / 1_000));
    });
    await untilRecorded(1);
    runs.push(paid(2, Date.now() - 30_000));
    await untilRecorded(2);

    const minutes = () => seconds.filter((each) => each >= 60 && each < 70).length;
    const latest = () => seconds.filter((each) => each < 10).length;
    await eventually(
      async () => ({ minutes: minutes(), latest: latest() }),
      (asked) => asked.minutes > 2 && asked.latest > 2 * asked.minutes,
    );
  });

  it('finds what the index shows only after its time is over', async () => {
    const runs = [paid(1, Date.now() - HOUR_MS)];
    record(runs);
    await untilRecorded(1);
    await eventually(
      () => records.recorderState(),
      (state) => (state.recordedUntil ?? 0) > Date.now() - HOUR_MS,
    );
    runs.push(paid(2, Date.now() - 5 * DAY_MS));
    await untilRecorded(2);
  });

  it('goes on with all others when the database will not have one, and says which', async () => {
    const { status: _, ...withoutStatus } = paid(1, Date.now() - HOUR_MS);
    record([withoutStatus, paid(2, Date.now() - HOUR_MS), paid(3, Date.now() - 1_000)]);
    await untilRecorded(2);
    await untilRecorded(3);
    await expect(records.has(idOf(1))).resolves.toBe(false);
    expect(logged.join('')).toContain(`"paymentId":"${idOf(1)}"`);
    expect(logged.join('')).toContain("can't be recorded");
  });

  it('records that there is a payment which can not be read, and reads it again', async () => {
    let isBroken = true;
    const { result, ...rest } = paid(1, Date.now() - HOUR_MS);
    const breaks = async () => {
      if (isBroken) throw new Error('its history is damaged');
      return await result();
    };
    record([{ ...rest, result: breaks }], { againMs: 0 });
    await eventually(
      () => records.has(idOf(1)),
      (isKnown) => isKnown,
    );
    expect((await records.find(idOf(1)))?.content).toBeUndefined();
    isBroken = false;
    expect((await untilRecorded(1))?.content?.payment.status).toBe('SUCCESSFUL');
  });

  it.each([grpc.UNAVAILABLE, grpc.DEADLINE_EXCEEDED, grpc.RESOURCE_EXHAUSTED])(
    'waits for a Temporal that is away or slow (gRPC code %p), and does not say meanwhile that all is recorded',
    async (code) => {
      const closedAt = Date.now() - HOUR_MS;
      let isAway = true;
      let reads = 0;
      const { result, ...rest } = paid(1, closedAt);
      const late = async () => {
        reads++;
        if (isAway) throw failedWith(code);
        return await result();
      };
      record([{ ...rest, result: late }]);
      await eventually(
        async () => reads,
        (count) => count > 2,
      );
      await expect(records.has(idOf(1))).resolves.toBe(false);
      expect((await records.recorderState()).recordedUntil ?? 0).toBeLessThanOrEqual(closedAt);
      expect(JSON.parse(logged[0] ?? '{}')).toMatchObject({
        paymentId: idOf(1),
        msg: expect.stringContaining('payments are not recorded at the moment'),
      });
      isAway = false;
      expect((await untilRecorded(1))?.content?.payment.status).toBe('SUCCESSFUL');
      const events = await records.events({ after: 0 }, 10);
      expect(events.map(({ paymentId }) => paymentId)).toEqual([idOf(1)]);
    },
  );

  it.each([
    ['whose key is missing', new DecryptionError('the key k1 is missing'), false],
    ['of which Temporal has lost a part', failedWith(grpc.DATA_LOSS), false],
    ['whose history makes Temporal fail', failedWith(grpc.INTERNAL), false],
    ['that was stopped, and for which no worker answers', failedWith(grpc.DEADLINE_EXCEEDED), true],
  ])('is not held up by a payment %s', async (_, error, isStopped) => {
    const result = () => Promise.reject(error);
    record([paid(1, Date.now() - HOUR_MS, { result, isStopped }), paid(2, Date.now() - 30 * MINUTE_MS)]);
    await untilRecorded(2);
    await eventually(
      () => records.recorderState(),
      (state) => (state.recordedUntil ?? 0) > Date.now() - 2 * MINUTE_MS,
    );
    const unread = await records.find(idOf(1));
    expect([unread?.id, unread?.content]).toEqual([idOf(1), undefined]);
  });

  it('whose lease another has taken in the meantime stops where it is, and says nothing of what it has not written', async () => {
    const many = Array.from({ length: 60 }, (_, index) => paid(index, Date.now() - HOUR_MS));
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let isHeld = false;
    // The last of the first batch takes so long that the lease runs out.
    const slow = many.map((run, index) => ({
      ...run,
      result: async () => {
        if (index === 19) {
          isHeld = true;
          await held;
        }
        return await run.result();
      },
    }));
    record(slow, { leaseMs: 400, sweepMs: HOUR_MS });
    await eventually(
      async () => isHeld,
      (is) => is,
    );
    await eventually(
      () => records.lease('another', 600_000).catch(() => undefined),
      (state) => state !== undefined,
    );
    goOn();
    await untilRecorded(19);
    // Several of its rounds go by.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await expect(records.has(idOf(40))).resolves.toBe(false);
    const { recordedUntil = 0 } = await records.recorderState();
    expect(recordedUntil).toBeLessThan(Date.now() - HOUR_MS);
    await records.release('another');
    await untilRecorded(59);
  });
});
