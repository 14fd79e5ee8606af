import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { transformFile } from '@swc/core';
import { type ServerProcess, startServerProcess } from '../../../stack/temporal/server-process.js';
import { makeScratchFolder, type ScratchFolder } from './scratch-folder.js';

describe('a server process', () => {
  let scratch: ScratchFolder;
  const started: ServerProcess[] = [];

  beforeEach(async () => {
    scratch = await makeScratchFolder();
  });

  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop(0);
    await scratch.remove();
  });

  async function start(body: string): Promise<ServerProcess> {
    const file = await scratch.script('server', body);
    const server = await startServerProcess(file, [], { PATH: '/usr/bin:/bin' });
    started.push(server);
    return server;
  }

  it('is stopped by SIGTERM', async () => {
    const server = await start('exec sleep 60');

    await server.stop();

    expect(await server.ended).toBe('SIGTERM');
    expect(isAlive(server.pid)).toBe(false);
  });

  it('is stopped by SIGKILL when it does not heed SIGTERM', async () => {
    const server = await start("trap '' TERM; echo ready; while :; do sleep 0.1; done");
    await until(() => server.log() === 'ready');

    await server.stop(300);

    expect(await server.ended).toBe('SIGKILL');
  });

  it('is killed at once when it is to be', async () => {
    const server = await start("trap '' TERM; echo ready; while :; do sleep 0.1; done");

    await server.kill();

    expect(await server.ended).toBe('SIGKILL');
    expect(isAlive(server.pid)).toBe(false);
  });

  it('tells how it ended by itself and what it wrote last', async () => {
    const server = await start('echo "no room" >&2; exit 4');

    expect(await server.ended).toBe('code 4');
    await until(() => server.log() === 'no room');
    await server.stop();
  });

  it('is in a process group of its own, so that Ctrl-C in the terminal leaves it to us', async () => {
    const server = await start('exec sleep 60');

    // Only the leader of a process group has a group of its own number.
    expect(process.kill(-server.pid, 0)).toBe(true);
  });

  it('cannot be started from a file that is not there', async () => {
    await expect(startServerProcess('/nowhere/server', [], {})).rejects.toThrow(/ENOENT/);
  });

  it('is stopped when the process that guards it is killed', async () => {
    const victim = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    const died = once(victim, 'exit');
    const guard = join(scratch.path, 'guard.cjs');
    await writeFile(guard, await compiled('stop-with-parent.ts'));
    const guardIt = `require(${JSON.stringify(guard)}).stopWithParent(${victim.pid}); console.log('guarding')`;
    const parent = spawn(process.execPath, ['-e', `${guardIt}; setInterval(() => undefined, 1_000)`]);
    await once(parent.stdout, 'data');

    parent.kill('SIGKILL');

    const [, signal] = await died;
    expect(signal).toBe('SIGTERM');
  }, 20_000);
});

/** One of our modules as CommonJS, for a process outside of the test runner. */
async function compiled(name: string): Promise<string> {
  const source = fileURLToPath(new URL(`../../../stack/temporal/${name}`, import.meta.url));
  const options = {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  } as const;
  return (await transformFile(source, options)).code;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error('it did not come about within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
