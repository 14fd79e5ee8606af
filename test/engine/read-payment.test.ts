import { expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { RecordUnreadable } from '../../src/engine/errors.js';
import type { PaymentInTemporal, ReadContext } from '../../src/engine/find-payment.js';
import { readPayment } from '../../src/engine/read-payment.js';
import { idOf, paid } from '../support/ended-runs.js';

const client = { withDeadline: (_deadline: number, call: () => unknown) => call() } as unknown as Client;
const context = { client } as ReadContext;

/** A payment that has ended and left `result`. */
const ended = (result: unknown) =>
  ({
    kind: 'inTemporal',
    id: idOf(1),
    running: false,
    handle: { result: async () => result },
  }) as unknown as PaymentInTemporal;

test("an ended payment's content is what it has left", async () => {
  const left = await paid(1, 120_000).result();
  await expect(readPayment(context, ended(left))).resolves.toMatchObject({ stands: 'ended', payment: left.payment });
});

test.each([
  ['nothing', undefined],
  ['of a newer version', { v: 2 }],
])('an ended payment whose result is %s is named, and told not to be paid again', async (_, result) => {
  const reading = readPayment(context, ended(result));
  await expect(reading).rejects.toThrow(RecordUnreadable);
  await expect(reading).rejects.toMatchObject({
    paymentId: idOf(1),
    message: expect.stringContaining("Don't pay it again"),
    cause: expect.objectContaining({ message: expect.stringContaining("can't be read") }),
  });
});
