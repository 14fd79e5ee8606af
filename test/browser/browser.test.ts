import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findChromium } from './browser.js';

describe('the browser of the browser tests', () => {
  it('is the one that CHROMIUM_PATH names', async () => {
    const found = await findChromium({ CHROMIUM_PATH: process.execPath, PATH: '' });
    expect(found.executablePath).toBe(process.execPath);
  });

  it('is asked for by name when CHROMIUM_PATH leads nowhere', async () => {
    await expect(findChromium({ CHROMIUM_PATH: '/nowhere/chromium' })).rejects.toThrow(
      "CHROMIUM_PATH is /nowhere/chromium, which can't be run",
    );
  });

  it('is the one that the project brings, unpacked once, when CHROMIUM_PATH is not set', async () => {
    const cache = await mkdtemp(join(tmpdir(), 'sanaga-chromium-'));
    try {
      const find = () => findChromium({ XDG_CACHE_HOME: cache, PATH: '/nowhere' }, 'linux-x64');
      const found = await Promise.all([find(), find()]);
      found.push(await find());
      const folders = await readdir(join(cache, 'sanaga'));
      expect(folders).toEqual([expect.stringMatching(/^chromium-[0-9.]+$/)]);
      const executablePath = join(cache, 'sanaga', ...folders, 'chromium');
      expect(found).toMatchObject([{ executablePath }, { executablePath }, { executablePath }]);
    } finally {
      await rm(cache, { recursive: true, force: true });
    }
  });

  it('is asked for with what to do where the project brings none', async () => {
    await expect(findChromium({ PATH: '/nowhere' }, 'darwin-arm64')).rejects.toThrow(
      'Install Chromium or Chrome, and set CHROMIUM_PATH to its executable',
    );
  });
});
