import { readFileSync } from 'node:fs';
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
    expect(image).toMatch(/^[\w./-]+:(?:v?\d+\.\d+[\w.-]*|\$\{SANAGA_TAG:-\d+\.\d+\.\d+\})$/);
  });

  it('has the Node that everything is developed and tested on', () => {
    const { version } = JSON.parse(file('scripts/node/package.json'));
    const nodes = images.filter((image) => image.startsWith('node:'));
    expect(nodes.length).toBeGreaterThan(0);
    for (const image of nodes) expect(image).toBe(`node:${version}-bookworm-slim`);
  });
});
