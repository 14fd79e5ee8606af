import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type LinkOperations, Links, requestLink } from '../../src/engine/links.js';
import { HOUR, linkOrder, paymentId, terms, transId } from '../support/orders.js';

afterEach(() => {
  jest.useRealTimers();
});

const notThere = async () => ({ kind: 'unavailable', reason: 'not there' }) as const;

describe('a link that is asked for', () => {
  const ask = (initiatePay: Parameters<typeof requestLink>[0]['initiatePay']) =>
    requestLink({ initiatePay, expirePay: notThere }, linkOrder, terms, 1_000, new AbortController().signal);

  it('is of no further concern until the first poll', async () => {
    const { idleMs, payment } = await ask(async () => ({
      kind: 'accepted',
      transId: transId('T1'),
      link: 'https://pay.example/T1',
    }));
    expect(payment.phase.kind).toBe('following');
    expect(idleMs).toBe(terms.pollFirstMs);
  });

  it.each([
    { kind: 'ambiguous', reason: 'reset' },
    { kind: 'notSent', reason: 'refused' },
    { kind: 'rejected', message: 'no', statusCode: 400 },
  ] as const)('has something to do at once when it is $kind', async (outcome) => {
    expect((await ask(async () => outcome)).idleMs).toBeUndefined();
  });

  it("names the payment alone, as the workflow's request does", async () => {
    let sent: unknown;
    await ask(async (request) => {
      sent = request;
      return { kind: 'notSent', reason: 'refused' };
    });
    expect(sent).toMatchObject({ externalId: linkOrder.id, userId: linkOrder.id, amount: linkOrder.amount });
  });
});

/** A world of one payment, in which starts can be made to fail. Links and payments are called by their numbers. */
class World implements LinkOperations<number, number> {
  readonly isUnique = false;
  readonly expired: number[] = [];
  asked = 0;
  begun: number | undefined;
  /** Result of each start, the next one first; without one, it works. */
  readonly starts: ('fails' | 'fails for good' | 'is begun, and fails')[] = [];
  isStopping = false;

  find = async () => this.begun;
  findStarted = async () => this.begun ?? 0;
  ask = async () => ++this.asked;
  isLink = () => true;
  isStartedWith = (found: number, made: number) => found === made;
  expire = (made: number) => void this.expired.push(made);
  pause = async () => !this.isStopping;
  mayHaveStarted = (error: unknown) => error instanceof Error && error.message !== 'fails for good';

  async start(made: number): Promise<boolean> {
    const failure = this.starts.shift();
    const isFirst = this.begun === undefined;
    if (failure === undefined || failure === 'is begun, and fails') this.begun ??= made;
    if (failure !== undefined) throw new Error(failure);
    return isFirst;
  }
}

const id = paymentId('col_1');
const settled = () => new Promise((resolve) => setTimeout(resolve, 10));

describe('a payment that is opened with a link', () => {
  it('is opened once, by whoever comes first, and found by all others', async () => {
    const [links, world] = [new Links<number>(), new World()];
    const opened = await Promise.all([links.open(id, world), links.open(id, world)]);
    expect(opened).toEqual([
      { kind: 'started', made: 1, isNew: true },
      { kind: 'found', found: 1 },
    ]);
    expect(world.asked).toBe(1);
  });

  it('gives way to one that another process has begun, and its own link is expired', async () => {
    const [links, world] = [new Links<number>(), new World()];
    world.ask = async () => {
      world.begun = 7;
      return 8;
    };
    expect(await links.open(id, world)).toEqual({ kind: 'found', found: 7 });
    expect(world.expired).toEqual([8]);
  });

  it('is begun by itself when its start has failed, and its link is used', async () => {
    const [links, world] = [new Links<number>(), new World()];
    world.starts.push('fails', 'fails');
    await expect(links.open(id, world)).rejects.toThrow('fails');
    await settled();
    expect(world).toMatchObject({ asked: 1, begun: 1, expired: [] });
  });

  it('is found when its start was taken for a failed one', async () => {
    const [links, world] = [new Links<number>(), new World()];
    world.starts.push('is begun, and fails');
    await expect(links.open(id, world)).rejects.toThrow('fails');
    await settled();
    expect(await links.open(id, world)).toEqual({ kind: 'found', found: 1 });
    expect(world.expired).toEqual([]);
  });

  it.each([
    ['can’t succeed', (world: World) => world.starts.push('fails for good')],
    ['has failed for ten minutes', (world: World) => world.starts.push(...Array(25).fill('fails'))],
    [
      'failed in a process that is to stop',
      (world: World) => {
        world.starts.push('fails');
        world.isStopping = true;
      },
    ],
  ])('has its link expired when its start %s', async (_, prepare) => {
    const [links, world] = [new Links<number>(), new World()];
    prepare(world);
    await expect(links.open(id, world)).rejects.toThrow('fails');
    await settled();
    expect(world).toMatchObject({ expired: [1], begun: undefined });
    expect(await links.open(id, world)).toEqual({ kind: 'started', made: 2, isNew: true });
  });

  it('is begun with the same link by a repeated request, when Temporal has lost it', async () => {
    const [links, world] = [new Links<number>(), new World()];
    await links.open(id, world);
    world.begun = undefined;
    expect(await links.open(id, world)).toEqual({ kind: 'started', made: 1, isNew: false });
    expect(world).toMatchObject({ asked: 1, expired: [] });
  });

  it('keeps a link that somebody was given from being expired, though another payment has taken its place', async () => {
    const [links, world] = [new Links<number>(), new World()];
    await links.open(id, world);
    world.find = async () => undefined;
    world.begun = 7;
    expect(await links.open(id, world)).toEqual({ kind: 'found', found: 7 });
    expect(world.expired).toEqual([]);
  });
});

describe('somebody who comes when a link is asked for', () => {
  it('can wait until that is over, however it went', async () => {
    const [links, world] = [new Links<number>(), new World()];
    let fail = () => {};
    world.ask = () =>
      new Promise((_, reject) => {
        fail = () => reject(new Error('the provider is down'));
      });
    const opened = links.open(id, world);
    await settled();
    const waits = links.untilOpened(id);
    fail();
    await Promise.all([expect(opened).rejects.toThrow('down'), waits]);
    await links.untilOpened(id);
  });
});

describe('the links that a process has made', () => {
  it('are remembered for an hour, and woken once', async () => {
    jest.useFakeTimers({ now: 0 });
    const links = new Links<number>();
    await links.open(id, new World());
    expect([links.takeForFirstHint(id), links.takeForFirstHint(id), links.find(id)]).toEqual([1, undefined, 1]);
    jest.setSystemTime(HOUR);
    expect(links.find(id)).toBeUndefined();
  });

  it('are forgotten when there are too many, the first one first', async () => {
    const links = new Links<number>();
    for (let number = 0; number <= 5_000; number++) await links.open(paymentId(`col_${number}`), new World());
    expect([links.find(paymentId('col_0')), links.find(paymentId('col_1'))]).toEqual([undefined, 1]);
  });
});
