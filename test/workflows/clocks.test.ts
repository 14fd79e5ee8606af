import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Activities, Step } from '../../src/activities/activities.js';
import { eventually } from '../support/eventually.js';
import { MINUTE } from '../support/orders.js';
import { PaymentWorld } from '../support/payment-world.js';

/** A number that stays PENDING until it is settled. */
const PENDING = '670000800';
/** The worker asks about a payment every two seconds. */
const terms = { pollFirstMs: 2_000, pollMaxMs: 2_000 };

/** By how much Temporal's clock is ahead of the worker's, in ms. */
let aheadMs = 0;

/** A worker with a clock of its own: its times are earlier than Temporal's, and what it is told is later. */
function withOwnClock({ takeTurn, ...others }: Activities): Activities {
  const told = <Given extends { readonly told?: { readonly version: number; readonly at: number } | undefined }>(
    given: Given,
  ): Given => ({ ...given, ...(given.told && { told: { ...given.told, at: given.told.at + aheadMs } }) });
  const shown = ({ todo, at, ...step }: Step): Step => ({
    ...step,
    at: at - aheadMs,
    todo: todo.kind === 'wait' && todo.until !== undefined ? { ...todo, until: todo.until - aheadMs } : todo,
  });
  return {
    ...others,
    takeTurn: async (id, taking) => shown(await takeTurn(id, told(taking))),
  };
}

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.start({ terms, activities: withOwnClock });
});
afterAll(() => world.stop());

const versionOf = async (id: string) =>
  Number((await world.made.book.query('SELECT version FROM states WHERE id = $1', [id]))[0]?.version);

async function pending(): Promise<string> {
  const { id } = (await world.post('/v1/payouts', { amount: 900, phone: PENDING })).body;
  await world.untilStatus(id, 'PENDING');
  return id;
}

const untilVersion = (id: string, version: number) =>
  eventually(
    () => versionOf(id),
    (now) => now >= version,
  );

describe("a worker whose clock isn't Temporal's", () => {
  it.each([
    ['behind', MINUTE],
    ['ahead', -MINUTE],
  ])('waits for as long as its own clock says (%s)', async (_, ms) => {
    aheadMs = ms;
    const id = await pending();
    await untilVersion(id, (await versionOf(id)) + 2);
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    await world.ended(id);
    const { events } = await world.client.workflow.getHandle(id).fetchHistory();
    const timers = (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) => timer?.startToFireTimeout ?? []);
    const waits = timers.map(({ seconds, nanos }) => Number(seconds ?? 0) + Number(nanos ?? 0) / 1e9);
    expect(waits.length).toBeGreaterThan(2);
    expect(waits.filter((wait) => wait < 0.5)).toEqual([]);
    // The time limit of the request alone.
    expect(waits.filter((wait) => wait > 10)).toHaveLength(1);
  });

  it('is found once by a run that a book which has gone back is told of', async () => {
    aheadMs = 10 * MINUTE;
    const { query } = world.made.book;
    const id = await pending();
    const before = await versionOf(id);
    await query('CREATE TABLE was AS SELECT * FROM states WHERE id = $1', [id]);
    await untilVersion(id, before + 3);
    await query(
      `UPDATE states SET version = was.version, asked = was.asked, attempt = was.attempt, sealed = was.sealed,
         wake_at = was.wake_at, changed_at = was.changed_at FROM was WHERE states.id = was.id`,
    );
    await untilVersion(id, before + 4);
    expect(await query('SELECT found FROM gaps')).toHaveLength(1);
    await world.settle(id, 'SUCCESSFUL');
    await world.untilStatus(id, 'SUCCESSFUL');
    await world.ended(id);
  });
});
