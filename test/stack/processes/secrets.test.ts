import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keptSecrets, makeSecrets } from '../../../stack/processes/secrets.js';

describe('secrets', () => {
  let folder: string;

  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'sanaga-test-')), 'state');
  });

  afterEach(async () => {
    await rm(join(folder, '..'), { recursive: true, force: true });
  });

  const permissions = async (path: string) => (await stat(path)).mode & 0o777;

  it('are all different, and new each time', () => {
    const all = [...Object.values(makeSecrets()), ...Object.values(makeSecrets())];
    expect(new Set(all).size).toBe(all.length);
  });

  it('are kept from one start to the next', async () => {
    const first = await keptSecrets(folder);
    expect(await keptSecrets(folder)).toEqual(first);
  });

  it('are readable for their owner alone', async () => {
    await keptSecrets(folder);
    expect(await permissions(folder)).toBe(0o700);
    expect(await permissions(join(folder, 'secrets.json'))).toBe(0o600);
  });

  it('are the same for two that start at the same time', async () => {
    const [one, other] = await Promise.all([keptSecrets(folder), keptSecrets(folder)]);
    expect(one).toEqual(other);
    expect(await readdir(folder)).toEqual(['secrets.json']);
  });

  it.each(['', 'nonsense', '{"apiKey": "short"}'])(
    'are never replaced when the file holds "%s"',
    async (content) => {
      await keptSecrets(folder);
      const file = join(folder, 'secrets.json');
      await writeFile(file, content);
      await expect(keptSecrets(folder)).rejects.toThrow(/secrets\.json can't be read: remove it/);
      expect(await readFile(file, 'utf8')).toBe(content);
    },
  );
});
