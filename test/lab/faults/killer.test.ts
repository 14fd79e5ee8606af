import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Killer } from '../../../lab/faults/killer.js';
import type { PlannedKill } from '../../../lab/plan/server-faults.js';
import type { Child } from '../../../stack/processes/child.js';
import type { PaymentProcess, Stack, StackProcess } from '../../../stack/processes/stack.js';
import { eventually } from '../../support/eventually.js';
import { type Running, startSandbox } from '../../support/running-sandbox.js';
import { contextOf, stackAt } from '../chaos-context.js';

/** A process that does nothing but live until it is ended. */
interface Life {
  readonly pid: number;
  readonly ended: Promise<string>;
  end(how: string): void;
}

/** A process of this machine that can stand still. */
function startChild() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const pid = child.pid ?? 0;
  return {
    pid,
    /** By the state that Linux has of it. */
    isStopped: async () => /^State:\s+T/m.test(await readFile(`/proc/${pid}/status`, 'utf8')),
    end: () => child.kill('SIGKILL'),
  };
}

describe('the killer', () => {
  let provider: Running;
  let lives: Map<StackProcess, Life>;
  let history: string[];
  let stack: Stack;
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

  beforeEach(async () => {
    provider = await startSandbox();
    lives = new Map();
    history = [];
    pids = 0;
    failures = 0;
    for (const name of ['temporal', 'sandbox', 'worker', 'api'] as const) live(name);
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
  });

  const begin = async () => {
    const killer = new Killer(contextOf(stack, []));
    await killer.start();
    return killer;
  };
  const kill = (target: PaymentProcess, at = 0): PlannedKill => ({ target, at, downMs: 0 });

  it('kills as planned, and starts each again', async () => {
    const killer = await begin();
    await killer.run([kill('worker'), kill('temporal', 20), kill('api', 40), kill('sandbox', 60)]);

    expect(killer.kills).toEqual({ worker: 1, temporal: 1, api: 1, sandbox: 1 });
    expect(killer.collapses).toEqual([]);
    expect(history.filter((line) => line.includes('temporal'))).toEqual(['kill temporal', 'start temporal']);
    expect(history).toHaveLength(8);
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux("takes the records' database away, and lets another stand still without ending it", async () => {
    const database = startChild();
    live('records', database.pid);
    stack = { ...stack, recordsUrl: 'postgres://somewhere', temporal: stack.temporal };
    const killer = await begin();
    const running = killer.run(
      [],
      [
        { kind: 'recordsHang', at: 0, forMs: 3_000 },
        { kind: 'recordsAway', at: 10, forMs: 0 },
      ],
    );
    await eventually(database.isStopped, (is) => is);
    await running;
    expect(await database.isStopped()).toBe(false);
    expect(history).toEqual(['kill records', 'start records']);
    expect(killer.faults.toJSON()).toEqual({ recordsHang: 1, recordsAway: 1 });
    expect(killer.collapses).toEqual([]);
    database.end();
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
