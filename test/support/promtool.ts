import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../stack/processes/lock.js';
import { lastLine, runCommand } from '../../stack/processes/run-command.js';
import {
  type Candidate,
  cacheFolder,
  findOnPath,
  firstThatWorks,
  isExecutableFile,
  type LookResult,
} from '../../stack/temporal/executables.js';

const MODULE = 'github.com/prometheus/prometheus/cmd/promtool@v0.305.0';

/** A build takes several minutes on two cores. */
export const PROMTOOL_LIMIT_MS = 30 * 60_000;

const ADVICE = 'Install Prometheus, which promtool is part of, or Go.';

const { env } = process;

/**
 * Prometheus's own checker of rules: on PATH, from the cache folder, out of Debian's package, which is unpacked there
 * and not installed, or built with Go.
 *
 * @throws NothingWorkedError with every place and the reason why it didn't work.
 */
export async function findPromtool(): Promise<string> {
  const folder = cacheFolder(env);
  await mkdir(folder, { recursive: true });
  return await withLock(
    join(folder, 'promtool.lock'),
    () => undefined,
    async () => {
      const cached = join(folder, 'promtool');
      const candidates: Candidate<string>[] = [
        {
          place: 'promtool on PATH',
          look: async () => checked(await findOnPath('promtool', env)),
        },
        { place: 'the cache folder', look: () => checked(cached) },
        { place: "Debian's package prometheus", look: () => unpacked(cached) },
        { place: 'go install', look: () => built(cached) },
      ];
      return (await firstThatWorks('promtool', candidates, ADVICE)).found;
    },
  );
}

async function checked(path: string | undefined): Promise<LookResult<string>> {
  if (path === undefined || !(await isExecutableFile(path))) return absent('no executable of that name');
  const outcome = await runCommand(path, ['--version'], { env, timeLimitMs: 60_000 });
  return outcome.kind === 'failed' ? absent(outcome.reason) : { kind: 'found', found: path, why: 'it runs' };
}

async function unpacked(target: string): Promise<LookResult<string>> {
  return await withTemporaryFolder(async (folder) => {
    const run = (file: string, ...args: string[]) =>
      runCommand(file, args, { env, cwd: folder, timeLimitMs: 5 * 60_000 });
    const download = await run('apt-get', 'download', '--quiet', 'prometheus');
    if (download.kind === 'failed') return absent(lastLine(download.output) || download.reason);
    const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.deb'));
    const unpack = await run('dpkg-deb', '-x', archive, 'unpacked');
    if (unpack.kind === 'failed') return absent(lastLine(unpack.output) || unpack.reason);
    return await kept(join(folder, 'unpacked/usr/bin/promtool'), target);
  });
}

async function built(target: string): Promise<LookResult<string>> {
  return await withTemporaryFolder(async (folder) => {
    const build = await runCommand('go', ['install', MODULE], {
      env: { ...env, GOBIN: folder },
      timeLimitMs: PROMTOOL_LIMIT_MS,
    });
    if (build.kind === 'failed') return absent(lastLine(build.output) || build.reason);
    return await kept(join(folder, 'promtool'), target);
  });
}

/** Puts an executable in its place at once, so that nobody finds half of it. */
async function kept(executable: string, target: string): Promise<LookResult<string>> {
  await copyFile(executable, `${target}.new`);
  await rename(`${target}.new`, target);
  return await checked(target);
}

function absent(reason: string): LookResult<string> {
  return { kind: 'absent', reason };
}

async function withTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-promtool-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
