import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

describe('the Node that the project brings', () => {
  it('is 24', () => {
    expect(process.versions.node).toMatch(/^24\./);
  });

  it('runs the tests, from node_modules/.bin, whichever Node is installed', () => {
    const programs = fileURLToPath(new URL('../node_modules/.bin', import.meta.url));
    const brought = join(programs, process.platform === 'win32' ? 'node.exe' : 'node');
    expect(realpathSync(brought)).toBe(realpathSync(process.execPath));
  });
});
