import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentWorld } from '../support/payment-world.js';

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
  }, 240_000);
});
