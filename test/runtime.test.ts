import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

describe('the Node that the project brings', () => {
  it('is 24', () => {
    expect(process.versions.node).toMatch(/^24\./);
  });

  it('runs the tests, from node_modules/.bin, whichever Node is installed', () => {
    const brought = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
    expect(realpathSync(brought)).toBe(realpathSync(process.execPath));
  });
});
