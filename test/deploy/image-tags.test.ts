import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const file = (path: string) => readFileSync(path, 'utf8');
const named = (path: string, pattern: RegExp) => [...file(path).matchAll(pattern)].map(([, name = '']) => name);

const images = [
  ...named('docker-compose.yml', /^\s*image: (\S+)/gm),
  // Stages of our own have no tag.
  ...named('Dockerfile', /^FROM (\S+:\S+)/gm),
];

describe('an image', () => {
  it.each([...new Set(images)])('has an exact version for its tag: %s', (image) => {
    expect(image).toMatch(/^[\w./-]+:(?:v?\d+\.\d+[\w.-]*(?:@sha256:[0-9a-f]{64})?|\$\{SANAGA_TAG:-\d+\.\d+\.\d+\})$/);
  });

  it('has the Node that everything is developed and tested on', () => {
    const { version } = JSON.parse(file('scripts/node/package.json'));
    const nodes = images.filter((image) => image.startsWith('node:'));
    expect(nodes.length).toBeGreaterThan(0);
    for (const image of nodes) expect(image).toMatch(new RegExp(`^node:${version}-bookworm-slim@`));
  });

  it('has one digest wherever it is named, and only some may lack it until a release', () => {
    const unknown = ['temporalio/', 'prometheuscommunity/postgres-exporter:'];
    const digests = new Map<string, Set<string>>();
    for (const image of images.filter((name) => !name.startsWith('sanaga'))) {
      const [name = '', digest = ''] = image.split('@');
      digests.set(name, (digests.get(name) ?? new Set()).add(digest));
    }
    for (const [name, found] of digests) expect([name, found.size]).toEqual([name, 1]);
    const unpinned = [...digests].filter(([, found]) => found.has('')).map(([name]) => name);
    expect(unpinned.filter((name) => !unknown.some((start) => name.startsWith(start)))).toEqual([]);
  });
});

describe('an action of the workflow', () => {
  const actions = named('.github/workflows/ci.yml', /uses: (.+)$/gm);

  it.each([...new Set(actions)])('is a commit, with its version beside it: %s', (action) => {
    expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('is the same commit in each job', () => {
    const names = new Set(actions.map((action) => action.split('@')[0]));
    expect(new Set(actions).size).toBe(names.size);
  });
});

describe('npm run pin', () => {
  it('adds what is missing, and leaves what is there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sanaga-pin-'));
    try {
      for (const name of ['scripts/pin.js', 'scripts/supported-node.js', 'package.json']) {
        await cp(name, join(folder, name));
      }
      const digest = `sha256:${'1'.repeat(64)}`;
      const other = `sha256:${'2'.repeat(64)}`;
      await writeFile(
        join(folder, 'docker-compose.yml'),
        `  image: sanaga:\${SANAGA_TAG:-0.1.0}\n  image: sanaga-a:1.2\n  image: a/b:1.2.3\n    image: c:4.5@${other}\n`,
      );
      await writeFile(
        join(folder, 'Dockerfile'),
        'FROM c:4.5-slim AS build\nFROM build AS prune\nFROM scratch AS base\n',
      );
      await writeFile(join(folder, 'docker'), `#!/bin/sh\necho ${digest}\n`, { mode: 0o755 });
      const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
      await promisify(execFile)(process.execPath, [join(folder, 'scripts/pin.js')], { env });
      expect(file(join(folder, 'docker-compose.yml'))).toBe(
        `  image: sanaga:\${SANAGA_TAG:-0.1.0}\n  image: sanaga-a:1.2\n  image: a/b:1.2.3@${digest}\n    image: c:4.5@${other}\n`,
      );
      expect(file(join(folder, 'Dockerfile'))).toBe(
        `FROM c:4.5-slim@${digest} AS build\nFROM build AS prune\nFROM scratch AS base\n`,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
