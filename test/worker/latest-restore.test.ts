import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@temporalio/client';
import { latestRestore } from '../../src/worker/latest-restore.js';
import { RESTORE_WORKFLOW } from '../../src/workflows/messages.js';
import { DAY, HOUR, MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

const YESTERDAY = Date.now() - DAY;

let world: PaymentWorld;
let client: Client;
beforeAll(async () => {
  world = await PaymentWorld.start({ realServer: true });
  // As the worker's, which has no keys.
  client = new Client({ connection: world.env.connection });
});
afterAll(() => world.stop());

const kept = () => client.workflow.getHandle(RESTORE_WORKFLOW.id);
const told = (restoredAt?: number) => latestRestore(client, 'payments', restoredAt);

describe('the time of the latest restore', () => {
  it('is none before any worker is told of one', async () => {
    expect(await told()).toBeUndefined();
    await expect(kept().describe()).rejects.toThrow();
  });

  describe('that a worker was told of', () => {
    beforeAll(async () => {
      expect(await told(YESTERDAY)).toBe(YESTERDAY);
    });
    afterEach(async () => {
      expect((await kept().describe()).status.name).toBe('RUNNING');
    });

    it('is known to workers that are told of none', async () => {
      expect(await told()).toBe(YESTERDAY);
    });

    it('stays when a worker starts again that has an earlier one', async () => {
      expect(await told(YESTERDAY - HOUR)).toBe(YESTERDAY);
      expect(await told()).toBe(YESTERDAY);
    });

    it('is kept once more when somebody has stopped its workflow', async () => {
      await kept().terminate();
      expect(await told()).toBe(YESTERDAY);
    });

    it('is the later one, of workers that start at once', async () => {
      const each = [3, 0, 2, 1].map((minutes) => told(YESTERDAY + minutes * MINUTE));
      await Promise.all(each);
      expect(await told()).toBe(YESTERDAY + 3 * MINUTE);
    });

    it('gives way to a later one, and a mistaken one to come to any', async () => {
      expect(await told(YESTERDAY + HOUR)).toBe(YESTERDAY + HOUR);
      expect(await told(Date.now() + DAY)).toBeGreaterThan(Date.now());
      expect(await told(YESTERDAY)).toBe(YESTERDAY);
      expect(await told()).toBe(YESTERDAY);
    });
  });
});
