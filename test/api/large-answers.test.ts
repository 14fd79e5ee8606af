import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import PQueue from 'p-queue';
import { pino } from 'pino';
import { Records } from '../../src/records/records.js';
import { connectClient } from '../../src/temporal/connection.js';
import { freePort } from '../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../stack/records/pglite-server.js';
import { type ApiUnderTest, KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { payout, useStack } from '../support/payment-stack.js';
import { startRecorder } from '../support/running-recorder.js';
import { testEncryption } from '../support/test-encryption.js';

const stack = useStack();

/** Together they are larger than the 4 MiB that gRPC takes of an answer, if it isn't told otherwise. */
const PAYMENTS = 180;
const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, item) => [`item-${item}`, 'x'.repeat(500)]));

let server: PGliteServer;
let records: Records;

beforeAll(async () => {
  const port = await freePort();
  server = await startPGliteServer(port);
  records = Records.open(`postgres://postgres@127.0.0.1:${port}/postgres`, testEncryption, pino({ level: 'silent' }));
  await records.migrate();
  // Refused, they end at once.
  stack.sandbox.faults.add({ fault: 'lowBalance', endpoint: 'payout', rate: 1 });
  const queue = new PQueue({ concurrency: 10 });
  // A busy machine answers before the provider has.
  const pay = () =>
    eventually(
      () => stack.post('/v1/payouts', { ...payout, metadata }, randomUUID()),
      ({ status }) => [202, 422].includes(status),
    );
  await queue.addAll(Array.from({ length: PAYMENTS }, () => pay));
});
afterAll(async () => {
  await records.close();
  await server.stop();
});

async function listed(api: ApiUnderTest): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { status, body } = await api.ask('GET', `/v1/payments?limit=100${cursor && `&cursor=${cursor}`}`, {
      key: KEYS.shop,
    });
    expect(status).toBe(200);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }
  return ids;
}

describe.each([
  ['as Temporal gives them', undefined],
  ['when a page of them is refused as too large', 400_000],
])('payments with as much metadata as they may have, %s', (_, maxAnswerBytes) => {
  it('are all on the pages of a list', async () => {
    const api = await stack.startMore({ ...(maxAnswerBytes && { maxAnswerBytes }) });
    const ids = await eventually(
      () => listed(api),
      (all) => all.length >= PAYMENTS,
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are all recorded, and among the events', async () => {
    const target = { address: stack.address, namespace: 'default' };
    const client = connectClient(target, testEncryption, {}, maxAnswerBytes);
    const stop = startRecorder(client, records);
    try {
      const events = await eventually(
        () => records.events({ after: 0 }, PAYMENTS + 1).catch(() => []),
        (all) => all.length >= PAYMENTS,
      );
      expect(events.every(({ payment }) => payment?.failureCode === 'rejected_by_provider')).toBe(true);
      const { recordedUntil = 0 } = await records.recorderState();
      expect(recordedUntil).toBeGreaterThan(0);
    } finally {
      await stop();
      await client.connection.close();
    }
  });
});
