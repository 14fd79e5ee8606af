import { status as grpc } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment, type TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { Unavailable } from '../../src/engine/errors.js';
import { findByTransId } from '../../src/engine/find-by-transaction.js';
import { connectClient } from '../../src/temporal/connection.js';
import { orderedPayouts } from '../../src/worker/ordered-payouts.js';
import { startTimeSkippingEnvironment } from '../../stack/temporal/time-skipping.js';
import { testEncryption } from '../support/test-encryption.js';

/** The time-skipping server has none, and says so. */
describe('an index that cannot be asked', () => {
  let env: TestWorkflowEnvironment;
  let client: ReturnType<typeof connectClient>;

  beforeAll(async () => {
    env = await startTimeSkippingEnvironment({ report: () => undefined });
    client = connectClient({ address: env.address, namespace: 'default' }, testEncryption);
  });
  afterAll(async () => {
    await client.connection.close();
    await env.teardown();
  });

  it("is not taken for a day without payouts: a merchant's limit would begin anew", async () => {
    const activity = new MockActivityEnvironment(undefined, {
      client,
      logger: new DefaultLogger('ERROR', () => undefined),
    });
    await expect(activity.run(orderedPayouts, 'shop', '2026-11-21')).rejects.toMatchObject({
      code: grpc.UNIMPLEMENTED,
    });
  });

  it('is not taken for one in which nobody has a transaction', async () => {
    await expect(findByTransId({ client }, 'PbyCuFjOcKUumnR0')).rejects.toThrow(Unavailable);
  });
});
