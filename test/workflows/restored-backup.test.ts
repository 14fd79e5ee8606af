import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNow } from '../../src/engine/workflow-start.js';
import { approveUpdate, expireUpdate } from '../../src/workflows/messages.js';
import { paymentId, terms as usualTerms } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

/** The time in which a held payout may be found, in ms. */
const terms = { ...usualTerms, approveAbove: 899, ambiguousGraceMs: 3_000 };

const PENDING = '670000800';

let folder: string;
let world: PaymentWorld;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-restored-'));
  await Promise.all(['now', 'backup'].map((name) => mkdir(join(folder, name))));
  world = await PaymentWorld.start({
    realServer: true,
    databaseFile: join(folder, 'now', 'temporal.db'),
    answerWithinMs: 1_200,
    terms: { providerTimeoutMs: 2_000, ambiguousGraceMs: 60_000, resolveAfterMs: 0 },
  });
});
afterAll(async () => {
  await world.stop();
  await rm(folder, { recursive: true });
});

/** Copies all the files of Temporal's database, while no server has them open. */
async function copyDatabase(from: 'now' | 'backup', to: 'now' | 'backup'): Promise<void> {
  await rm(join(folder, to), { recursive: true });
  await mkdir(join(folder, to));
  for (const file of await readdir(join(folder, from)))
    await copyFile(join(folder, from, file), join(folder, to, file));
}

const order = async (path: 'collections' | 'payouts', body: object) => (await world.post(`/v1/${path}`, body)).body.id;
const taken = (id: string) => world.until(id, ({ transId }) => transId !== undefined);

describe('payments that were ordered before a backup of Temporal, and sent since', () => {
  it('are not sent again from the backup, and no link is expired that a payer may hold', async () => {
    // What the API has no link for is begun, and waits for a worker.
    await world.stopWorker();
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'initiate-pay' });
    const link = await order('collections', { method: 'link', amount: 5_000 });
    const money = [
      await order('payouts', { amount: 900, phone: PENDING }),
      await order('collections', { method: 'direct', amount: 700, phone: PENDING }),
    ];
    await world.crashTemporal(() => copyDatabase('now', 'backup'));

    await world.startWorker();
    const held = await world.until(link, (payment) => payment.link !== undefined);
    for (const id of money) {
      await taken(id);
      await world.settle(id, 'SUCCESSFUL');
      await world.untilStatus(id, 'SUCCESSFUL');
    }
    await world.stopWorker();
    await world.crashTemporal(() => copyDatabase('backup', 'now'));

    // By the list alone, read before a first request, it wouldn't be known: it fails for some.
    world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'transaction', count: 2 });
    world.restoredAt = Date.now();
    await world.startWorker();
    for (const id of money) {
      await world.untilStatus(id, 'SUCCESSFUL');
      expect(world.transactionsOf(id)).toHaveLength(1);
    }
    expect((await taken(link)).transId).toBe(held.transId);
    expect(world.transactionsOf(link)).toMatchObject([{ transId: held.transId, status: 'CREATED' }]);
    await world.visit(held, 'pay');
    await world.untilStatus(link, 'SUCCESSFUL');
  });
});

describe('a payout that was held in a backup of Temporal, and cancelled since', () => {
  it('is put before a person when it is approved, though the workers are told of no restore any more', async () => {
    const id = paymentId('pay_held');
    const ordered = { id, kind: 'payout', amount: 900, phone: '670000000', orderedBy: 'ann', metadata: {} } as const;
    const input = { v: 1, order: ordered, terms, fingerprint: 'f', requestId: 'r' } as const;
    const handle = world.client.workflow.getHandle(id);
    await startNow(world.client, { input, merchant: 'shop', taskQueue: 'payments', createdAt: Date.now() });
    const { held } = await world.until(id, (payment) => payment.held !== undefined);
    await world.stopWorker();
    await world.crashTemporal(() => copyDatabase('now', 'backup'));

    await world.startWorker();
    await handle.executeUpdate(expireUpdate, { args: [{ by: { role: 'merchant' } }] });
    await world.untilStatus(id, 'FAILED');
    await world.stopWorker();
    await world.crashTemporal(() => copyDatabase('backup', 'now'));

    world.restoredAt = Date.now();
    await world.startWorker();
    await world.stopWorker();
    world.restoredAt = undefined;
    await world.startWorker();
    await handle.executeUpdate(approveUpdate, { args: [{ by: 'bob', digest: held?.digest ?? '' }] });
    expect((await world.untilStatus(id, 'REVIEW')).reason).toContain(
      'restored from a backup while the payout was held',
    );
    expect(world.transactionsOf(id)).toEqual([]);
    expect((await world.resolve(id, { action: 'resend', force: true })).status).toBeLessThan(300);
    await taken(id);
    expect(world.transactionsOf(id)).toHaveLength(1);
  });
});
