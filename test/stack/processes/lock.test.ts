import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockFolder, withLock } from '../../../stack/processes/lock.js';
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';

describe('a lock', () => {
  let scratch: ScratchFolder;
  let file: string;

  beforeEach(async () => {
    scratch = await makeScratchFolder();
    file = join(scratch.path, 'the.lock');
  });

  afterEach(async () => {
    await scratch.remove();
  });

  it('lets one task run at a time, in whatever order', async () => {
    let running = 0;
    let most = 0;
    const task = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return 'done';
    };

    const results = await Promise.all([1, 2, 3].map(async () => await withLock(file, () => undefined, task)));

    expect(results).toEqual(['done', 'done', 'done']);
    expect(most).toBe(1);
  });

  it('is free again after a task that failed', async () => {
    const failing = withLock(
      file,
      () => undefined,
      async () => {
        throw new Error('no luck');
      },
    );

    await expect(failing).rejects.toThrow('no luck');
    await expect(stat(file)).rejects.toThrow(/ENOENT/);
  });

  it('tells which process it waits for', async () => {
    const holder = spawn('sleep', ['60']);
    await writeFile(file, String(holder.pid));
    const waitedFor: number[] = [];

    await withLock(
      file,
      (pid) => {
        waitedFor.push(pid);
        holder.kill();
      },
      async () => undefined,
    );

    expect(waitedFor).toEqual([holder.pid]);
  });

  it('is taken over from a process that is gone', async () => {
    const gone = spawn('true');
    await once(gone, 'exit');
    await writeFile(file, String(gone.pid));
    const waitedFor: number[] = [];

    expect(
      await withLock(
        file,
        (pid) => waitedFor.push(pid),
        async () => 'mine',
      ),
    ).toBe('mine');
    expect(waitedFor).toEqual([]);
  });
});

describe('locking a state folder', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-test-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('is refused while another has it', async () => {
    const release = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(`another process runs on ${folder}`);
    await release();
  });

  it('works again once it is released', async () => {
    await (await lockFolder(folder))();
    await (await lockFolder(folder))();
  });

  it('works when its last owner was killed', async () => {
    const socket = relative(process.cwd(), join(folder, 'lock.sock'));
    const { status } = await abandon(socket);
    expect(status).toBe('SIGKILL');
    await (await lockFolder(folder))();
  });
});

/** Leaves a socket behind, as a process that was killed does. */
async function abandon(path: string): Promise<{ status: string }> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`;
  const owner = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(owner.stdout, 'data');
  owner.kill('SIGKILL');
  const [, signal] = await once(owner, 'exit');
  return { status: String(signal) };
}
