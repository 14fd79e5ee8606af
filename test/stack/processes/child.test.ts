import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Child, startChild, untilReady } from '../../../stack/processes/child.js';
import { eventually } from '../../support/eventually.js';
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';

const STAYS = 'console.log("up"); setInterval(() => {}, 1000);';

describe('a child process that logs to a file', () => {
  let folder: string;
  const children: Child[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-test-'));
  });

  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.stop(0)));
    await rm(folder, { recursive: true, force: true });
  });

  async function run(program: string, env: NodeJS.ProcessEnv = {}): Promise<Child> {
    const file = join(folder, 'part.mjs');
    await writeFile(file, program);
    const child = await startChild({
      name: 'part',
      file: process.execPath,
      args: [file],
      env,
      logFile: join(folder, 'part.log'),
    });
    children.push(child);
    return child;
  }

  const written = async (child: Child) =>
    await untilReady(child, async () => (await child.logTail()).includes('up'), 30_000);

  it('gets the environment it is given, and no more', async () => {
    const child = await run('console.log(JSON.stringify(process.env));', { PORT: '3000' });
    await child.ended;
    expect(JSON.parse(await child.logTail())).toEqual({ PORT: '3000' });
  });

  it('writes both its streams to its log, which only its owner may read', async () => {
    const child = await run('console.log("out"); console.error("err");');
    expect(await child.ended).toBe('code 0');
    expect((await child.logTail()).split('\n').sort()).toEqual(['err', 'out']);
  });

  it('keeps the previous log beside its own', async () => {
    await (await run('console.log("first");')).ended;
    await (await run('console.log("second");')).ended;
    expect(await readFile(join(folder, 'part.log'), 'utf8')).toBe('second\n');
    expect(await readFile(join(folder, 'part.log.before'), 'utf8')).toBe('first\n');
  });

  it('is stopped gently', async () => {
    const child = await run(`process.on('SIGTERM', () => process.exit(3)); ${STAYS}`);
    await written(child);
    await child.stop(10_000);
    expect(await child.ended).toBe('code 3');
  });

  it('is stopped by the signal that it is to be stopped by', async () => {
    const file = join(folder, 'part.mjs');
    await writeFile(file, `process.on('SIGINT', () => process.exit(4)); ${STAYS}`);
    const options = { name: 'part', file: process.execPath, args: [file], env: {}, stopSignal: 'SIGINT' } as const;
    const child = await startChild({ ...options, logFile: join(folder, 'part.log') });
    children.push(child);
    await written(child);
    await child.stop(10_000);
    expect(await child.ended).toBe('code 4');
  });

  it('is killed when it ignores that', async () => {
    const child = await run(`process.on('SIGTERM', () => {}); ${STAYS}`);
    await written(child);
    await child.stop(100);
    expect(await child.ended).toBe('SIGKILL');
  });

  it('can be killed at once', async () => {
    const child = await run(STAYS);
    await child.kill();
    expect(await child.ended).toBe('SIGKILL');
  });

  it('appends to a log when it is told to', async () => {
    const file = join(folder, 'part.mjs');
    const options = {
      name: 'part',
      file: process.execPath,
      args: [file],
      env: {},
      logFile: join(folder, 'part.log'),
      appendLog: true,
    };
    for (const word of ['first', 'second']) {
      await writeFile(file, `console.log("${word}");`);
      await (await startChild(options)).ended;
    }
    expect(await readFile(options.logFile, 'utf8')).toBe('first\nsecond\n');
  });

  it('can be stopped after its end', async () => {
    const child = await run('');
    await child.ended;
    await child.stop(10_000);
    expect(await child.ended).toBe('code 0');
  });

  it('is not ready when it has ended: the error shows the end of its log', async () => {
    const child = await run('console.error("PORT is not a port"); process.exit(78);');
    await expect(untilReady(child, async () => false)).rejects.toThrow('part: ended with code 78\nPORT is not a port');
  });

  it('is not ready when its probe never succeeds', async () => {
    const child = await run(STAYS);
    const probe = () => Promise.reject(new Error('refused'));
    await expect(untilReady(child, probe, 200)).rejects.toThrow('part: not ready after 0.2 s');
  });
});

describe('a child process without a log file', () => {
  let scratch: ScratchFolder;
  const started: Child[] = [];

  beforeEach(async () => {
    scratch = await makeScratchFolder();
  });

  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop(0);
    await scratch.remove();
  });

  async function start(body: string): Promise<Child> {
    const file = await scratch.script('server', body);
    const server = await startChild({ name: 'server', file, args: [], env: { PATH: '/usr/bin:/bin' } });
    started.push(server);
    return server;
  }

  it('is stopped by SIGTERM', async () => {
    const server = await start('exec sleep 60');

    await server.stop(5_000);

    expect(await server.ended).toBe('SIGTERM');
    expect(isAlive(server.pid)).toBe(false);
  });

  it('is stopped by SIGKILL when it ignores SIGTERM', async () => {
    const server = await start("trap '' TERM; echo ready; while :; do sleep 0.1; done");
    await eventually(
      () => server.logTail(),
      (line) => line === 'ready',
    );

    await server.stop(300);

    expect(await server.ended).toBe('SIGKILL');
  });

  it('can be killed at once', async () => {
    const server = await start("trap '' TERM; echo ready; while :; do sleep 0.1; done");

    await server.kill();

    expect(await server.ended).toBe('SIGKILL');
    expect(isAlive(server.pid)).toBe(false);
  });

  it('tells how it ended and what it wrote last', async () => {
    const server = await start('echo "no room" >&2; exit 4');

    expect(await server.ended).toBe('code 4');
    await eventually(
      () => server.logTail(),
      (line) => line === 'no room',
    );
    await server.stop(5_000);
  });

  it('is in a process group of its own, so that Ctrl-C in the terminal does not reach it', async () => {
    const server = await start('exec sleep 60');

    // Only the leader of a process group has a group of its own number.
    expect(process.kill(-server.pid, 0)).toBe(true);
  });

  it('cannot be started from a file that is not there', async () => {
    const missing = { name: 'server', file: '/nowhere/server', args: [], env: {} };
    await expect(startChild(missing)).rejects.toThrow(/ENOENT/);
  });

  it.each([
    ['SIGTERM', {}],
    ['SIGINT', { stopSignal: 'SIGINT' }],
  ])('is stopped by %s when the process that started it is killed', async (signal, stopSignal) => {
    const signalFile = join(scratch.path, 'signal');
    const traps = ['TERM', 'INT'].map((name) => `trap 'echo SIG${name} > ${signalFile}; exit' ${name}`).join('; ');
    const endless = `${traps}; : > ${signalFile}; while :; do sleep 0.1; done`;
    const file = await scratch.script('server', endless);
    const modulePath = new URL('../../../stack/processes/child.ts', import.meta.url);
    const options = { name: 'server', file, args: [], env: { PATH: '/usr/bin:/bin' }, ...stopSignal };
    const starts = `import('${modulePath}').then(({ startChild }) => startChild(${JSON.stringify(options)}))`;
    const keepsAlive = 'setInterval(() => undefined, 1_000)';
    const parent = spawn(process.execPath, ['-e', `${starts}.then(({ pid }) => console.log(pid)); ${keepsAlive}`]);
    const [printed] = await once(parent.stdout, 'data');
    const pid = Number(String(printed));
    await eventually(async () => existsSync(signalFile), Boolean);

    parent.kill('SIGKILL');

    await eventually(
      async () => isAlive(pid),
      (is) => !is,
    );
    expect(await readFile(signalFile, 'utf8')).toBe(`${signal}\n`);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
