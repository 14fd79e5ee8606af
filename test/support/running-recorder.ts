import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { type RecorderPace, runRecorder } from '../../src/records/recorder.js';
import type { Records } from '../../src/records/records.js';

/** Intervals of the recorder: so short that a test need not wait. */
export const PACE: RecorderPace = {
  roundMs: 100,
  leaseMs: 2_000,
  soonMs: 5_000,
  overlapMs: 60_000,
  overlapEveryMs: 0,
  sweepMs: 60_000,
  openMs: 100,
  againMs: 60_000,
};

/** A recorder of its own, as another worker has it. @returns stops it */
export function startRecorder(client: Client, records: Records): () => Promise<void> {
  const stop = new AbortController();
  const logger = pino({ level: 'silent' });
  const running = runRecorder({ client, records, logger, pace: PACE }, stop.signal);
  return async () => {
    stop.abort();
    await running;
  };
}
