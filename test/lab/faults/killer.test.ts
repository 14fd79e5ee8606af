import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Killer } from '../../../lab/faults/killer.js';
import type { KillTarget, PlannedKill } from '../../../lab/plan/server-faults.js';
import type { Postgres } from '../../../stack/postgres/postgres.js';
import type { Child } from '../../../stack/processes/child.js';
import type { Stack, StackProcess } from '../../../stack/processes/stack.js';
import { eventually } from '../../support/eventually.js';
import { type Running, startSandbox } from '../../support/running-sandbox.js';
import { bookAt, contextOf, stackAt } from '../chaos-context.js';

/** A process that does nothing but live until it is ended. */
interface Life {
  readonly pid: number;
  readonly ended: Promise<string>;
  end(how: string): void;
}

describe('the killer', () => {
  let provider: Running;
  let lives: Map<StackProcess, Life>;
  let history: string[];
  let stack: Stack;
  let book: Postgres;
  let data: string;
  let pids: number;
  let failures: number;

  const live = (name: StackProcess, pid = ++pids): Life => {
    let end: (how: string) => void = () => undefined;
    const ended = new Promise<string>((resolve) => {
      end = resolve;
    });
    const life = { pid, ended, end };
    lives.set(name, life);
    return life;
  };
  const lifeOf = (name: StackProcess): Life => {
    const life = lives.get(name);
    if (life === undefined) throw new Error(`${name} never lived`);
    return life;
  };
  const childOf = (name: StackProcess): Child => ({
    ...lifeOf(name),
    name,
    logFile: '',
    logTail: async () => '',
    stop: async () => undefined,
    kill: async () => undefined,
  });

  const madeBook = (): Postgres => {
    const end = async (what: string) => {
      history.push(`${what} book`);
      lifeOf('book').end('SIGKILL');
    };
    return {
      ...bookAt({
        data,
        kill: () => end('kill'),
        halt: () => end('halt'),
        start: async () => {
          history.push('start book');
          live('book');
        },
        freeze: async () => {
          history.push('freeze book');
          return () => history.push('thaw book');
        },
      }),
      get pid() {
        return lifeOf('book').pid;
      },
      get ended() {
        return lifeOf('book').ended;
      },
    };
  };

  beforeEach(async () => {
    provider = await startSandbox();
    lives = new Map();
    history = [];
    pids = 0;
    failures = 0;
    for (const name of ['temporal', 'sandbox', 'worker', 'api', 'book'] as const) live(name);
    data = join(await mkdtemp(join(tmpdir(), 'sanaga-killer-')), 'data');
    stack = stackAt({
      sandboxUrl: provider.url,
      get temporal() {
        const { pid, ended } = lifeOf('temporal');
        const target = { address: '', namespace: '' };
        const nothing = async () => undefined;
        return { kind: 'embedded' as const, target, env: {}, pid, ended, stop: nothing, kill: nothing };
      },
      part: childOf,
      kill: async (name) => {
        history.push(`kill ${name}`);
        lifeOf(name).end('SIGKILL');
      },
      restart: async (name) => {
        history.push(`start ${name}`);
        if (failures-- > 0) throw new Error('its port is taken');
        live(name);
        return childOf(name);
      },
      restartTemporal: async () => {
        history.push('start temporal');
        live('temporal');
      },
    });
    book = madeBook();
  });

  afterEach(() => rm(join(data, '..'), { recursive: true }));

  const begin = async () => {
    const killer = new Killer(contextOf(stack, [], undefined, undefined, book));
    await killer.start();
    return killer;
  };
  const kill = (target: KillTarget, at = 0): PlannedKill => ({ target, at, downMs: 0 });

  it('kills as planned, and starts each again', async () => {
    const killer = await begin();
    await killer.run([kill('worker'), kill('temporal', 20), kill('api', 40), kill('sandbox', 60), kill('book', 80)]);

    expect(killer.kills).toEqual({ worker: 1, temporal: 1, api: 1, sandbox: 1, book: 1 });
    expect(killer.collapses).toEqual([]);
    expect(history.filter((line) => line.includes('temporal'))).toEqual(['kill temporal', 'start temporal']);
    expect(history.filter((line) => line.includes('book'))).toEqual(['kill book', 'start book']);
    expect(history).toHaveLength(10);
  });

  it('takes the book away, and lets it stand still without ending it', async () => {
    const killer = await begin();
    await killer.run(
      [],
      [
        { kind: 'bookHangs', at: 0, forMs: 50 },
        { kind: 'bookAway', at: 10, forMs: 0 },
      ],
    );
    expect(history).toEqual(['freeze book', 'thaw book', 'kill book', 'start book']);
    expect(killer.faults.toJSON()).toEqual({ bookHangs: 1, bookAway: 1 });
    expect(killer.collapses).toEqual([]);
  });

  it("puts the copy of the book's files in their place, and remembers the time that is lost", async () => {
    await mkdir(data);
    const file = join(data, 'rows');
    await writeFile(file, 'before');
    const killer = await begin();
    const before = Date.now();
    const running = killer.run([], [], [{ store: 'book', copiedAt: 0, restoredAt: 500 }]);
    await eventually(
      async () => history.length,
      (steps) => steps === 2,
    );
    await writeFile(file, 'after');
    await running;
    expect(await readFile(file, 'utf8')).toBe('before');
    expect(history).toEqual(['halt book', 'start book', 'kill book', 'start book']);
    expect(killer.lost?.from).toBeGreaterThanOrEqual(before);
    expect(killer.lost?.to).toBeGreaterThan(killer.lost?.from ?? 0);
    expect(killer.faults.toJSON()).toEqual({ bookRestored: 1 });
    expect(killer.collapses).toEqual([]);
  });

  it('never kills a process that is not up again', async () => {
    const killer = await begin();
    await killer.run([kill('worker'), kill('worker'), kill('worker')]);

    expect(history).toEqual(Array.from({ length: 3 }, () => ['kill worker', 'start worker']).flat());
  });

  it('tries again when a process does not start', async () => {
    failures = 2;
    const killer = await begin();
    await killer.run([kill('api')]);
    expect(history).toEqual(['kill api', 'start api', 'start api', 'start api']);
  });

  it('tells of a process that ends by itself, and starts it again', async () => {
    const killer = await begin();
    lifeOf('worker').end('code 1');
    await lifeOf('worker').ended;
    await killer.settled();

    expect(killer.collapses).toEqual(['worker ended by itself with code 1']);
    expect(history).toEqual(['start worker']);
    expect(killer.kills.worker).toBe(0);
  });

  it("counts the provider's faults before it kills it, and puts new ones in force", async () => {
    const killer = await begin();
    const rules = provider.sandbox.faults.list().length;
    expect(rules).toBeGreaterThan(10);
    provider.sandbox.faults.record('lowBalance');
    await killer.run([kill('sandbox')]);

    expect(killer.faults.of('lowBalance')).toBe(1);
    expect(provider.sandbox.faults.list().length).toBeGreaterThanOrEqual(2 * rules);
  });
});
