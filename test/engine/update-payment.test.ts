import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { TooManyUpdates } from '../../src/engine/errors.js';
import { MAX_UPDATES, SharedUpdates } from '../../src/engine/update-payment.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { KEYS } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { terms } from '../support/orders.js';
import { HASTY_MS, link, useStack } from '../support/payment-stack.js';

const one = 'col_1' as PaymentId;
const other = 'col_2' as PaymentId;

/** An update that is in flight until it is answered. */
function pending() {
  const ids: string[] = [];
  const answers: (() => void)[] = [];
  return {
    ids,
    send: (updateId: string) =>
      new Promise<string>((resolve) => {
        ids.push(updateId);
        answers.push(() => resolve(updateId));
      }),
    answer: () => {
      for (const give of answers.splice(0)) give();
    },
  };
}

describe('updates that merchants have in flight for a payment', () => {
  it('are one for all who ask for the same, and another one for who asks after its answer', async () => {
    const updates = new SharedUpdates();
    const { ids, send, answer } = pending();
    const first = [updates.send(one, 'refresh', send), updates.send(one, 'refresh', send)];
    expect(new Set(ids).size).toBe(1);
    answer();
    await Promise.all(first);
    const second = updates.send(one, 'refresh', send);
    answer();
    expect(new Set(ids)).toEqual(new Set([ids[0], await second]));
    expect(ids[0]).not.toBe(await second);
  });

  it('stay shared when one of those who wait gives up', async () => {
    const updates = new SharedUpdates();
    const { ids, send, answer } = pending();
    const patient = updates.send(one, 'refresh', send);
    const hasty = updates.send(one, 'refresh', () => Promise.reject(new Error('given up')));
    await expect(hasty).rejects.toThrow('given up');
    const late = updates.send(one, 'refresh', send);
    answer();
    await Promise.all([patient, late]);
    expect(new Set(ids).size).toBe(1);
  });

  it('are four different ones at most, whatever is in flight for others', async () => {
    const updates = new SharedUpdates();
    const { send, answer } = pending();
    const taken = Array.from({ length: MAX_UPDATES }, (_, number) => updates.send(one, `resend.${number}`, send));
    await expect(updates.send(one, 'refresh', send)).rejects.toBeInstanceOf(TooManyUpdates);
    taken.push(updates.send(one, 'resend.0', send), updates.send(other, 'refresh', send));
    answer();
    await Promise.all(taken);
    const again = updates.send(one, 'refresh', send);
    answer();
    await again;
  });
});

describe('a merchant who floods a payment', () => {
  const stack = useStack();

  it('with refreshes causes few updates, and each is answered', async () => {
    const updateIds = new Set<string | undefined>();
    const api = await stack.startMore({
      interceptor: {
        startUpdate: async (input, next) => {
          updateIds.add(input.options.updateId);
          return await next(input);
        },
      },
    });
    const { id } = await stack.begun('/v1/collections', link);
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payment-status', delayMs: 2_500, externalId: id });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => api.ask('POST', `/v1/payments/${id}/refresh`, { key: KEYS.shop })),
    );
    await api.stop();
    expect(answers.filter(({ status }) => status !== 200 && status !== 202)).toEqual([]);
    expect(updateIds.size).toBeLessThanOrEqual(4);
  });

  it('through five API processes at once leaves room for a decision', async () => {
    const grace = { ...terms, ambiguousGraceMs: 500, resolveAfterMs: 0 };
    const hasty = await stack.startMore({ terms: grace, answerWithinMs: HASTY_MS });
    const id = await stack.doubtfulPayout(hasty);
    const path = `/v1/payments/${id}`;
    const read = () => stack.api.ask('GET', path, { key: KEYS.operator });
    const { body } = await eventually(read, ({ body: { status } }) => status === 'REVIEW');
    const apis = [stack.api, hasty];
    while (apis.length < 5) apis.push(await stack.startMore());
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'transaction', delayMs: 1_000, rate: 1 });

    let isOver = false;
    const keepsAsking = async (ask: () => Promise<unknown>) => {
      while (!isOver) {
        await ask();
        // A request that is refused at once would otherwise flood this process, not the payment.
        await pause(100);
      }
    };
    // Sixteen updates at a time, but that those who wait for the outcome share one: more than Temporal takes.
    const flood = apis.flatMap((api) => [
      keepsAsking(() => api.ask('POST', `${path}/refresh`, { key: KEYS.shop })),
      keepsAsking(() => api.ask('POST', `${path}/refresh`, { key: KEYS.operator })),
      keepsAsking(() => api.ask('GET', `${path}/provider`, { key: KEYS.operator })),
      keepsAsking(() => api.ask('GET', `${path}?wait=2`, { key: KEYS.shop })),
    ]);
    const decision = { action: 'fail', review: body.review?.number, why: 'looked', force: true };
    // A decision that Temporal has not taken by the time of the response is sent again, as operators are told.
    const answered: number[] = [];
    const decide = async () => {
      const { status } = await hasty.ask('POST', `${path}/resolve`, { key: KEYS.operator, body: decision });
      answered.push(status);
      return await read();
    };
    await eventually(decide, ({ body: { status: now } }) => now === 'FAILED').finally(() => {
      isOver = true;
    });
    await Promise.all(flood);
    expect(answered.filter((status) => status === 200 || status === 202)).not.toEqual([]);
    for (const api of apis.slice(1)) await api.stop();
  });
});
