import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Records } from '../../src/records/records.js';
import { freePort } from '../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../stack/records/pglite-server.js';
import { eventually } from '../support/eventually.js';
import { link, useStack } from '../support/payment-stack.js';
import { startRecorder } from '../support/running-recorder.js';
import { testEncryption } from '../support/test-encryption.js';

const stack = useStack();
let server: PGliteServer;
let records: Records;

beforeAll(async () => {
  const port = await freePort();
  server = await startPGliteServer(port);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  records = Records.open(url, testEncryption, pino({ level: 'silent' }));
  await records.migrate();
});
afterAll(async () => {
  await records.close();
  await server.stop();
});

describe("a link's attempt that has failed", () => {
  it('is among the events though its payer has tried again before the recorder looked', async () => {
    const payment = await stack.begun('/v1/collections', link);
    const entry = stack.sandbox.ledger.find(payment.transId);
    if (entry === undefined) throw new Error('the provider has no such transaction');
    for (const status of ['FAILED', 'PENDING'] as const) {
      entry.status = status;
      await stack.post(`/v1/payments/${payment.id}/refresh`);
      await eventually(
        () => stack.read(payment.id),
        ({ body }) => body.status === status,
      );
    }
    const stop = startRecorder(stack.api.client, records);
    try {
      const events = await eventually(
        () => records.events({ after: 0 }, 10).catch(() => []),
        ({ length }) => length > 0,
        30_000,
      );
      expect(events).toMatchObject([{ type: 'payment.attempt_failed', paymentId: payment.id }]);
    } finally {
      await stop();
    }
  });
});
