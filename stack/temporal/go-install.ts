import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkTemporal } from './check-temporal.js';
import { withLock } from './lock.js';
import { findOnPath } from './on-path.js';
import { lastLine, runCommand } from './run-command.js';

const CLI_VERSION = '1.5.1';
const MODULE = `github.com/temporalio/cli/cmd/temporal@v${CLI_VERSION}`;

/** Two and a half minutes on two cores; anything beyond this is stuck. */
const BUILD_LIMIT = 30 * 60_000;
const BUILD_FOLDER = 'build-';

export type Build =
  | { readonly kind: 'built'; readonly path: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Where {@link buildTemporal} leaves the executable. */
export function builtTemporalPath(folder: string): string {
  return join(folder, `temporal-${CLI_VERSION}`);
}

/**
 * Builds the Temporal CLI with Go into the cache folder, once: two processes at the same time build it once, and a
 * build that is cut short leaves nothing that looks whole. Go's own settings (GOPROXY, GOTOOLCHAIN…) hold.
 */
export async function buildTemporal(options: {
  folder: string;
  env: NodeJS.ProcessEnv;
  report: (line: string) => void;
  progressEvery?: number;
}): Promise<Build> {
  const { folder, env, report } = options;
  const go = await findOnPath('go', env);
  if (go === undefined) return { kind: 'refused', reason: 'go is not on PATH' };

  await mkdir(folder, { recursive: true });
  const onWait = (pid: number) => report(`temporal: waiting for process ${pid}, which is building it`);
  return await withLock(join(folder, 'temporal.lock'), onWait, async () => {
    const path = builtTemporalPath(folder);
    // Whoever held the lock before has built it; what is there but does not run is built anew.
    const { kind } = await checkTemporal(path, env);
    if (kind === 'usable') return { kind: 'built', path };
    return await build(go, path, options);
  });
}

async function build(
  go: string,
  path: string,
  { folder, env, report, progressEvery = 10_000 }: Parameters<typeof buildTemporal>[0],
): Promise<Build> {
  await removeAbandonedBuilds(folder);
  const bin = await mkdtemp(join(folder, BUILD_FOLDER));
  report(`temporal: building with "go install ${MODULE}", which takes some minutes, once`);
  try {
    const outcome = await runCommand(go, ['install', MODULE], {
      env: { ...env, GOBIN: bin },
      timeLimit: BUILD_LIMIT,
      progressEvery,
      onProgress: (elapsed) => report(`temporal: still building after ${Math.round(elapsed / 1_000)} s`),
    });
    if (outcome.kind === 'failed') {
      return { kind: 'refused', reason: `go install ${outcome.reason}: ${lastLine(outcome.output)}` };
    }
    await rename(join(bin, 'temporal'), path);
    return { kind: 'built', path };
  } finally {
    await rm(bin, { recursive: true, force: true });
  }
}

/** Under the lock no other build is running, so whatever is there belongs to one that was cut short. */
async function removeAbandonedBuilds(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith(BUILD_FOLDER))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
