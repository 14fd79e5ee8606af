import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { NOTIFIABLE_PAYMENTS } from '../../src/records/index-queries.js';
import { Records } from '../../src/records/records.js';
import { freePort } from '../../stack/processes/ports.js';
import { type PGliteServer, startPGliteServer } from '../../stack/records/pglite-server.js';
import { merchantsWith } from '../support/api-under-test.js';
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
      );
      expect(events).toMatchObject([{ type: 'payment.attempt_failed', paymentId: payment.id }]);
    } finally {
      await stop();
    }
  });
});

describe('a payout that nobody approves', () => {
  const keys = [
    { name: 'shop', person: 'ann', secret: 'secret-of-ann', scopes: ['payouts', 'read'] },
    { name: 'shop', person: 'bob', secret: 'secret-of-bob', scopes: ['approve'] },
  ] as const;

  it('is recorded while it waits and once it has ended, and stands in lists as unsent', async () => {
    const api = await stack.startMore({ merchants: merchantsWith(keys), records, answerWithinMs: 20_000 });
    const ask = (method: string, path: string, key: string, more: object = {}) =>
      api.ask(method, path, { key: `secret-of-${key}`, ...more });
    const body = { amount: 90_000, phone: '677000000', approval: true, externalId: 'wages-11' };
    const headers = { 'idempotency-key': 'wages-11' };
    const { body: held } = await ask('POST', '/v1/payouts', 'ann', { body, headers });
    // Nobody is to be notified any more: operators needn't look for what is due.
    await eventually(
      () => api.client.workflow.count(`WorkflowId = "${held.id}" AND HeldFor = "approval" AND PaymentFinal IS NULL`),
      ({ count }) => count === 1,
    );
    expect((await api.client.workflow.count(`${NOTIFIABLE_PAYMENTS} AND WorkflowId = "${held.id}"`)).count).toBe(0);

    const stop = startRecorder(stack.api.client, records);
    const types = async () =>
      (await records.events({ after: 0 }, 10)).filter((one) => one.paymentId === held.id).map(({ type }) => type);
    try {
      await eventually(types, ({ length }) => length === 1);
      await ask('POST', `/v1/payouts/${held.id}/reject`, 'bob', { body: { why: 'no such person' } });
      expect(await eventually(types, ({ length }) => length === 2)).toEqual(['payment.held', 'payment.failed']);
    } finally {
      await stop();
    }
    const { body: list } = await ask('GET', '/v1/payments?externalId=wages-11', 'ann');
    expect(list.data).toMatchObject([{ id: held.id, status: 'FAILED', final: true, failureCode: 'not_approved' }]);
    expect(list.data[0]).not.toHaveProperty('transId');
    const { text } = await ask('GET', '/v1/payments?externalId=wages-11', 'ann', { headers: { accept: 'text/csv' } });
    expect(text).toMatch(new RegExp(`${held.id},.*FAILED.*not_approved`));
    expect(stack.transactionsOf(held.id)).toEqual([]);
  });
});
