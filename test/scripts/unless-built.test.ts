import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

interface Made {
  readonly root: string;
  readonly folder: string;
  readonly sources: readonly string[];
  readonly force?: boolean;
}
type UnlessBuilt = (made: Made, build: () => Promise<void>) => Promise<void>;

const script = new URL('../../scripts/unless-built.js', import.meta.url).href;
const { unlessBuilt }: { readonly unlessBuilt: UnlessBuilt } = await import(script);

let root: string;
let builds: number;

const at = (name: string) => join(root, name);
const save = (name: string, text: string) => writeFile(at(name), text);

/** Builds out/ of src/, the lockfile and the script, as often as it has to be. */
function build({ force = false, meanwhile = async () => {} } = {}): Promise<void> {
  const sources = ['lock.json', 'build.js', 'src'];
  return unlessBuilt({ root, folder: 'out', sources, force }, async () => {
    builds += 1;
    await mkdir(at('out/deep'), { recursive: true });
    await save('out/deep/main.js', await readFile(at('src/deep/main.ts'), 'utf8'));
    await meanwhile();
  });
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sanaga-unless-built-'));
  builds = 0;
  await mkdir(at('src/deep'), { recursive: true });
  for (const name of ['src/deep/main.ts', 'src/other.ts', 'lock.json', 'build.js']) await save(name, 'first');
  await build();
});
afterEach(() => rm(root, { recursive: true }));

describe('a folder that is built', () => {
  it('is left alone while nothing has changed', async () => {
    await build();
    await save('src/other.ts', 'first');
    await build();
    expect(builds).toBe(1);
  });

  it.each([
    ['a source is changed', () => save('src/deep/main.ts', 'again')],
    ['a source is changed without another length or a later time', () => save('src/deep/main.ts', 'tsrif')],
    ['a source is added', () => save('src/new.ts', '')],
    ['a source is deleted', () => rm(at('src/other.ts'))],
    ['a source is renamed', () => rm(at('src/other.ts')).then(() => save('src/another.ts', 'first'))],
    ['another dependency is installed', () => save('lock.json', 'second')],
    ['the lockfile goes', () => rm(at('lock.json'))],
    ['the script that builds it is changed', () => save('build.js', 'second')],
    ['what was built is changed', () => save('out/deep/main.js', 'by hand')],
    ['something of what was built is deleted', () => rm(at('out/deep/main.js'))],
    ['something is added to what was built', () => save('out/stray.js', '')],
    ['it is deleted', () => rm(at('out'), { recursive: true })],
  ])('is built anew, and then left alone, when %s', async (_, change) => {
    await change();
    await build();
    await build();
    expect(builds).toBe(2);
    expect(await readFile(at('out/deep/main.js'), 'utf8')).toBe(await readFile(at('src/deep/main.ts'), 'utf8'));
  });

  it('is built anew when it is asked for', async () => {
    await build({ force: true });
    expect(builds).toBe(2);
  });

  it('is built anew when the build before was broken off', async () => {
    await save('src/other.ts', 'second');
    const broken = build({ meanwhile: () => Promise.reject(new Error('broken off')) });
    await expect(broken).rejects.toThrow('broken off');
    await build();
    expect(builds).toBe(3);
  });

  it('is built anew when a source was saved while it was being built', async () => {
    await save('src/other.ts', 'second');
    await build({ meanwhile: () => save('src/deep/main.ts', 'late') });
    await build();
    expect(builds).toBe(3);
    expect(await readFile(at('out/deep/main.js'), 'utf8')).toBe('late');
  });
});
