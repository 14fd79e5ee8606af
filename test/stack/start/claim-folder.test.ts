import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { claimFolder } from '../../../stack/start/claim-folder.js';

describe('claiming a state folder', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-test-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('is refused while another has it', async () => {
    const release = await claimFolder(folder);
    await expect(claimFolder(folder)).rejects.toThrow(`another process runs on ${folder}`);
    await release();
  });

  it('works again once it was released', async () => {
    await (await claimFolder(folder))();
    await (await claimFolder(folder))();
  });

  it('works when its last owner was killed', async () => {
    const socket = relative(process.cwd(), join(folder, 'claim.sock'));
    const { status } = await abandon(socket);
    expect(status).toBe('SIGKILL');
    await (await claimFolder(folder))();
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
