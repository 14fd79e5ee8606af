import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { built, PROJECT } from '../support/built.js';

const run = promisify(execFile);
const git = (args: readonly string[], cwd = project) => run('git', [...args], { cwd });

/** A copy of the project in a repository of its own, built as this one is. */
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'sanaga-to-release-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: PROJECT });
  for (const name of String(files).split('\0').filter(Boolean)) {
    // A file that was removed and not yet committed is listed, too.
    await cp(join(PROJECT, name), join(project, name)).catch(() => undefined);
  }
  for (const folder of ['lib', 'build', 'dist']) {
    await cp(dirname(built(`${folder}/.built`)), join(project, folder), { recursive: true });
  }
  await symlink(join(PROJECT, 'node_modules'), join(project, 'node_modules'));
  await git(['init', '--quiet', '--initial-branch', 'main']);
  await git(['add', '--all']);
  await commit('Everything');
});
afterAll(() => rm(project, { recursive: true, force: true }));

const commit = (subject: string) =>
  git(['-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--all', '--message', subject]);

async function release(...args: string[]) {
  try {
    const { stdout, stderr } = await run('node', ['scripts/release.js', ...args], { cwd: project });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as { readonly code: number; readonly stdout: string; readonly stderr: string };
  }
}

describe('npm run release', () => {
  it('leaves the packages of a version, its notes and the digests of all', async () => {
    const { code, stdout, stderr } = await release('0.1.0');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split(/\s+/).slice(1, 7)).toEqual([
      'NOTES.md',
      'SHA256SUMS',
      'sanaga-0.1.0.cdx.json',
      'sanaga-0.1.0.tgz',
      'sanaga-chart-0.1.0.tgz',
      'sanaga-images-0.1.0.tar.gz',
    ]);
    const made = join(project, 'release/0.1.0');
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: made });
    expect(await readFile(join(made, 'NOTES.md'), 'utf8')).toMatch(/^The first version\.\n/);
    const { stdout: chart } = await run('tar', ['-tzf', 'sanaga-chart-0.1.0.tgz'], { cwd: made });
    expect(chart.split('\n')).toEqual(expect.arrayContaining(['sanaga/Chart.yaml', 'sanaga/values.yaml']));
    expect(chart).not.toContain('sanaga/ci');
    const licence = await readFile(join(PROJECT, 'LICENSE'), 'utf8');
    for (const [archive, name] of [
      ['sanaga-0.1.0.tgz', 'package/LICENSE'],
      ['sanaga-chart-0.1.0.tgz', 'sanaga/LICENSE'],
      ['sanaga-images-0.1.0.tar.gz', 'LICENSE'],
    ] as const) {
      const { stdout: text } = await run('tar', ['-xzOf', archive, name], { cwd: made });
      expect([archive, text === licence]).toEqual([archive, true]);
    }
    // The project's folder has another name here.
    expect(JSON.parse(await readFile(join(made, 'sanaga-0.1.0.cdx.json'), 'utf8')).metadata.component).toMatchObject({
      ...{ type: 'application', name: 'sanaga', version: '0.1.0', purl: 'pkg:npm/sanaga@0.1.0' },
    });
    expect((await git(['status', '--porcelain'])).stdout).toBe('');
  });

  it('says which files are of another version', async () => {
    const { code, stderr } = await release('0.2.0');
    expect(code).toBe(1);
    expect(stderr).toContain('release: package.json has the version 0.1.0\n');
    expect(stderr).toContain('release: deploy/helm/sanaga/Chart.yaml (appVersion) has the version 0.1.0\n');
    expect(stderr).toContain('release: CHANGELOG.md has no heading "## 0.2.0 (YYYY-MM-DD)" with text below it\n');
    expect(await release()).toMatchObject({ code: 1, stderr: expect.stringContaining('npm run release -- 0.1.0') });
  });

  it('takes no tree with changes', async () => {
    await writeFile(join(project, 'README.md'), 'Changed.\n');
    expect(await release('0.1.0')).toMatchObject({ code: 1, stderr: expect.stringContaining('M README.md') });
    await git(['checkout', '--quiet', 'README.md']);
  });

  it('leaves nothing when the images could not be built of what Docker gets', async () => {
    await writeFile(join(project, '.dockerignore'), '*\n!package.json\n!src\n');
    await commit('Forget most files');
    const { code, stderr } = await release('0.1.0');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('what it copies: package-lock.json') });
    await expect(readFile(join(project, 'release/0.1.0/NOTES.md'))).rejects.toThrow('ENOENT');
  });
});
