import { describe, expect, it } from '@jest/globals';
import type { FaultRequest } from '../../../sandbox/faults/fault-rule.js';
import { notificationForm } from '../../../sandbox/faults/odd-forms.js';
import { readNotification } from '../../../src/provider/notification.js';
import {
  MINUTE,
  openLink,
  payDirectly,
  payLink,
  phones,
  SECOND,
  services,
  startSandbox,
  statusOf,
} from '../../support/running-sandbox.js';
import { type Received, startMerchantHook } from '../merchant-hook.js';

const PAYMENT = `col_${'0'.repeat(32)}`;

async function withFaults(...faults: FaultRequest[]) {
  const hook = await startMerchantHook();
  const collection = { ...services.collection, webhookUrl: hook.url };
  const running = await startSandbox({ services: { ...services, collection }, webhookDelayMs: 0 });
  for (const fault of faults) running.sandbox.faults.add(fault);
  const notificationsOf = (transId: string) => running.sandbox.ledger.find(transId)?.notifications;
  return { hook, running, notificationsOf };
}

describe('a fault of a notification', () => {
  it('drops it, tries included', async () => {
    const { hook, running, notificationsOf } = await withFaults({ fault: 'webhookDrop' });
    const transId = await payDirectly(running);
    await running.advance(MINUTE);
    expect(hook.received).toHaveLength(0);
    expect(notificationsOf(transId)).toMatchObject([{ faults: ['webhookDrop'], acknowledged: false, tries: [] }]);
    await payDirectly(running);
    await running.advance(MINUTE);
    expect(hook.received).toHaveLength(1);
  });

  it('doubles it', async () => {
    const { hook, running } = await withFaults({ fault: 'webhookDouble' });
    await payDirectly(running);
    await running.advance(MINUTE);
    expect(hook.received).toHaveLength(2);
    expect(hook.received[0]?.text).toBe(hook.received[1]?.text);
  });

  it('delays it', async () => {
    const { hook, running } = await withFaults({ fault: 'webhookDelay', delayMs: 30 * SECOND });
    payLink(running, await openLink(running));
    await running.advance(30 * SECOND - 1);
    expect(hook.received).toHaveLength(0);
    await running.advance(1);
    expect(hook.received).toHaveLength(1);
  });

  it('holds it back until the next one of the same transaction has gone out', async () => {
    const { hook, running } = await withFaults({ fault: 'webhookReorder' });
    const transId = await openLink(running);
    payLink(running, transId, phones.fails);
    await running.advance(SECOND);
    expect(hook.received).toHaveLength(0);
    payLink(running, transId);
    await running.advance(SECOND);
    await running.sandbox.quiet();
    expect(hook.statuses()).toEqual(['SUCCESSFUL', 'FAILED']);
    await running.advance(5 * MINUTE);
    expect(hook.received).toHaveLength(2);
  });

  it('holds it back no longer than so long when there is no next one', async () => {
    const { hook, running } = await withFaults({ fault: 'webhookReorder', delayMs: 10 * SECOND });
    payLink(running, await openLink(running));
    await running.advance(10 * SECOND);
    expect(hook.statuses()).toEqual(['SUCCESSFUL']);
  });

  it('forges one that contradicts it, and leaves the truth alone', async () => {
    const { hook, running, notificationsOf } = await withFaults({ fault: 'webhookForge' });
    const transId = await payDirectly(running, { externalId: 'order-7', phone: phones.fails });
    await running.advance(MINUTE);
    const bodies = hook.received.map(({ text }): unknown => JSON.parse(text));
    expect(new Set(hook.statuses())).toEqual(new Set(['FAILED', 'SUCCESSFUL']));
    expect(bodies).toMatchObject(Array(2).fill({ transId, externalId: 'order-7', amount: 1000 }));
    expect(await statusOf(running, transId)).toBe('FAILED');
    expect(notificationsOf(transId)).toMatchObject([{ faults: [] }, { faults: ['webhookForge'] }]);
  });

  it('tries the forged one only once, acknowledged or not', async () => {
    const { hook, running, notificationsOf } = await withFaults({ fault: 'webhookForge' });
    hook.answers.splice(0, 1, 500);
    const transId = await payDirectly(running);
    await running.advance(MINUTE);
    expect(notificationsOf(transId)?.map(({ tries }) => tries.length)).toEqual([3, 1]);
  });

  it('forges the amount, or the status it is told to', async () => {
    const { hook, running } = await withFaults(
      { fault: 'webhookForge', amount: 5 },
      { fault: 'webhookForge', status: 'EXPIRED' },
    );
    await payDirectly(running);
    await running.advance(MINUTE);
    const notified = hook.received
      .map(({ text }) => JSON.parse(text))
      .map(({ status, amount }) => `${status} ${amount}`);
    expect(notified.sort()).toEqual(['EXPIRED 1000', 'SUCCESSFUL 1000', 'SUCCESSFUL 5']);
  });

  it('breaks its body off', async () => {
    const { hook, running } = await withFaults({ fault: 'webhookMalformed' });
    await payDirectly(running);
    await running.advance(MINUTE);
    expect(() => JSON.parse(hook.received[0]?.text ?? '{}')).toThrow(SyntaxError);
  });

  it('makes its body huge, and still a Transaction', async () => {
    const { hook, running } = await withFaults({ fault: 'webhookHuge', bytes: 2_000_000 });
    await payDirectly(running);
    await running.advance(MINUTE);
    expect(hook.received[0]?.text.length).toBeGreaterThan(2_000_000);
    expect(hook.statuses()).toEqual(['SUCCESSFUL']);
  });

  it.each(notificationForm.options)('has an odd form, and is read all the same: %s', async (form) => {
    const { hook, running } = await withFaults({ fault: 'webhookOddForm', form });
    const transId = await payDirectly(running, { externalId: PAYMENT });
    await running.advance(MINUTE);
    const [{ bytes }] = hook.received as [Received];
    const { hints } = await readNotification(bytes, { contentType: 'application/json' }, 10_000);
    const status = form === 'noStatus' ? {} : { status: 'SUCCESSFUL' };
    expect(hints).toEqual([{ transId, paymentId: PAYMENT, externalId: PAYMENT, ...status }]);
  });

  it('has its dates off', async () => {
    const { hook, running } = await withFaults({ fault: 'clockSkew', endpoint: 'webhook' });
    await payDirectly(running);
    await running.advance(MINUTE);
    expect(JSON.parse(hook.received[0]?.text ?? '{}')).toMatchObject({ dateInitiated: '2025-03-11' });
  });

  it('is aimed at one transaction by its externalId', async () => {
    const { hook, running } = await withFaults({ fault: 'webhookDrop', externalId: 'order-2' });
    for (const externalId of ['order-1', 'order-2', 'order-3']) await payDirectly(running, { externalId });
    await running.advance(MINUTE);
    expect(hook.received.map(({ text }) => JSON.parse(text).externalId).sort()).toEqual(['order-1', 'order-3']);
    expect(running.sandbox.faults.totals.get('webhookDrop')).toBe(1);
  });
});
