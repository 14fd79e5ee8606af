import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const lockFile = z.object({
  packages: z.record(z.string(), z.object({ integrity: z.string().optional(), link: z.boolean().optional() })),
});

describe('the lock file', () => {
  it.each(['package-lock.json', 'bench/peers/dbos/package-lock.json', 'bench/peers/restate/package-lock.json'])(
    'has a digest of each package that comes from a registry: %s',
    (path) => {
      const { packages } = lockFile.parse(JSON.parse(readFileSync(path, 'utf8')));
      const installed = Object.entries(packages).filter(
        ([name, { link }]) => name.includes('node_modules/') && link !== true,
      );
      const without = installed.filter(([, { integrity = '' }]) => !/^sha512-/.test(integrity));
      expect(installed.length).toBeGreaterThan(0);
      expect(without.map(([name]) => name)).toEqual([]);
    },
  );
});
