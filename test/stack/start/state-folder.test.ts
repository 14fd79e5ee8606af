import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findRunning, noteRunning } from '../../../stack/start/state-folder.js';
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';

const running = {
  pid: process.pid,
  ports: { api: 3000, sandbox: 4000 },
  temporal: { address: '127.0.0.1:7233', namespace: 'default' },
  taskQueue: 'payments',
  hasGeneratedKey: true,
  settings: { MERCHANTS_FILE: 'merchants.json' },
};

describe('the note of a running start', () => {
  let scratch: ScratchFolder;
  beforeEach(async () => {
    scratch = await makeScratchFolder();
  });
  afterEach(() => scratch.remove());

  it('is found while start runs, and gone after', async () => {
    const folder = scratch.path;
    expect(await findRunning(folder)).toBeUndefined();
    const forget = await noteRunning(folder, running);
    expect(await findRunning(folder)).toEqual(running);
    await forget();
    expect(await findRunning(folder)).toBeUndefined();
  });

  it('is for its owner alone', async () => {
    const folder = scratch.path;
    await noteRunning(folder, running);
    expect((await stat(join(folder, 'running.json'))).mode & 0o777).toBe(0o600);
  });

  it('does not count when start was killed', async () => {
    const folder = scratch.path;
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(child, 'exit');
    await noteRunning(folder, { ...running, pid: child.pid ?? 0 });
    expect(await findRunning(folder)).toBeUndefined();
  });
});
