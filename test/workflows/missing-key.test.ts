import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { derivePaymentId } from '../../src/payments/words/derive-payment-id.js';
import { type Encryption, type EncryptionKey, keysOf } from '../../src/temporal/encryption.js';
import { loggingRuntime } from '../../src/worker/log.js';
import { eventually } from '../support/eventually.js';
import { MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';
import { freshKey } from '../support/test-encryption.js';

const STAYS_PENDING = '670000800';

/** The workers' log. */
const lines: string[] = [];
const runtime = loggingRuntime(pino({}, { write: (line) => lines.push(line) }));

/** A worker that encrypts with the new key, and has those keys that are in the map. */
function encryptionWith(current: EncryptionKey, keys: ReadonlyMap<string, EncryptionKey>): Encryption {
  return { isOn: true, keys: { current: async () => current, find: async (id) => keys.get(id) } };
}

describe('a worker that takes an activity without having its key', () => {
  const [old, next] = [freshKey('old'), freshKey('next')];
  const id = derivePaymentId('payout', 'shop', 'without-the-key');
  let missed = 0;
  let world: PaymentWorld;

  /** Reports whether the payment has its activity under way, whose input is the next that a worker reads. */
  const isSending = () =>
    world.client.workflow
      .getHandle(id)
      .describe()
      .then(
        ({ raw }) => (raw.pendingActivities ?? []).length > 0,
        () => false,
      );

  beforeAll(async () => {
    world = await PaymentWorld.start({
      runtime,
      encryption: { keys: keysOf([old, next]), isOn: true },
      workerEncryption: {
        isOn: true,
        keys: {
          current: async () => next,
          find: async (keyId) => {
            if (keyId === 'old') return old;
            if (missed > 0 || !(await isSending())) return next;
            missed++;
            return undefined;
          },
        },
      },
    });
  });
  afterAll(() => world.stop());

  it('has certainly not sent it: the payment is sent once, by the next who can read it', async () => {
    const key = { 'idempotency-key': 'without-the-key' };
    await world.post('/v1/payouts', { amount: 900, phone: STAYS_PENDING }, key);
    await world.pass(MINUTE);
    await world.until(id, ({ transId }) => transId !== undefined);
    expect(missed).toBeGreaterThan(0);
    expect(world.transactionsOf(id)).toHaveLength(1);
    const types = (await world.events(id)).map(({ type }) => type);
    expect(types).toContain('send_failed');
    expect(types).not.toContain('unanswered');
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
  });
});

describe('a worker that has not been given the new key yet', () => {
  const [old, next] = [freshKey('old'), freshKey('next')];
  const known = new Map([['old', old]]);
  let world: PaymentWorld;

  beforeAll(async () => {
    world = await PaymentWorld.start({
      runtime,
      answerWithinMs: 500,
      encryption: { keys: keysOf([next, old]), isOn: true },
      workerEncryption: encryptionWith(old, known),
    });
  });
  afterAll(() => world.stop());

  it('leaves the payment as it is, and takes it up when it has the key', async () => {
    const order = { amount: 900, phone: STAYS_PENDING };
    const key = { 'idempotency-key': 'before-the-key' };
    const answer = await world.post('/v1/payouts', order, key);
    // It was stored, or nobody knows yet whether it was.
    expect([202, 503]).toContain(answer.status);
    const id = derivePaymentId('payout', 'shop', 'before-the-key');
    expect(world.transactionsOf(id)).toEqual([]);

    const logged = await eventually(
      async () => lines.map((line) => JSON.parse(line)),
      (all) => all.some(({ msg }) => msg === 'Failing workflow task'),
    );
    expect(logged.find(({ paymentId, err }) => paymentId === id && err !== undefined)).toMatchObject({
      level: 50,
      err: { message: expect.stringMatching(/^A payload .* key "next", .* Add that key to ENCRYPTION_KEYS/) },
    });

    known.set('next', next);
    await eventually(
      () => world.post('/v1/payouts', order, key),
      ({ status, body }) => status < 300 && body.transId !== undefined,
    );
    expect(world.transactionsOf(id)).toHaveLength(1);
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
  });
});
