import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from '../processes/lock.js';
import { lastLine, runCommand } from '../processes/run-command.js';
import {
  type Candidate,
  cacheFolder,
  findOnPath,
  firstThatWorks,
  isExecutableFile,
  type LookResult,
} from './executables.js';
import { downloadWithSdk, sdkDownloadPath } from './sdk-download.js';

/** A Temporal CLI that has been asked for its version. */
export interface TemporalExecutable {
  readonly path: string;
  /** The version of the server in it. */
  readonly version: string;
}

export interface FindTemporalOptions {
  readonly report: (line: string) => void;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  readonly download?: typeof downloadWithSdk;
  readonly build?: typeof buildTemporal;
}

const ADVICE =
  'Install the Temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to use a running server.';

/**
 * Finds the Temporal CLI whose dev server is to be started: `temporal` on PATH, then the cache folder, the SDK's
 * download, and a build with Go. A report line says which one was found and why it is used.
 *
 * @throws NothingWorkedError with every place and the reason why it didn't work.
 */
export async function findTemporal({
  report,
  env = process.env,
  folder = cacheFolder(env),
  download = downloadWithSdk,
  build = buildTemporal,
}: FindTemporalOptions): Promise<TemporalExecutable> {
  const check = async (path: string, why: string): Promise<LookResult<TemporalExecutable>> => {
    const result = await checkTemporal(path, env);
    if (result.kind === 'unusable') return { kind: 'absent', reason: result.reason };
    return { kind: 'found', found: { path, version: result.version }, why };
  };

  const candidates: Candidate<TemporalExecutable>[] = [
    {
      place: 'temporal on PATH',
      look: async () => {
        const path = await findOnPath('temporal', env);
        if (path === undefined) return { kind: 'absent', reason: 'no executable of that name' };
        return await check(path, 'it is on PATH');
      },
    },
    {
      place: 'the cache folder',
      look: async () => {
        const downloaded = await check(sdkDownloadPath('temporal', folder), 'it is in the cache folder');
        if (downloaded.kind === 'found') return downloaded;
        return await check(builtTemporalPath(folder), 'it is in the cache folder');
      },
    },
    {
      place: "the SDK's download",
      look: async () => {
        report('temporal: not on PATH or in the cache folder; trying the download of the SDK');
        const result = await download('temporal', { folder, env });
        if (result.kind === 'refused') {
          report(`temporal: the download failed: ${result.reason}`);
          return { kind: 'absent', reason: result.reason };
        }
        return await check(result.path, 'the SDK has downloaded it');
      },
    },
    {
      place: 'go install',
      look: async () => {
        const result = await build({ folder, env, report });
        if (result.kind === 'refused') return { kind: 'absent', reason: result.reason };
        return await check(result.path, 'it was built with Go, and no other was found');
      },
    },
  ];

  const { found, why } = await firstThatWorks('Temporal CLI', candidates, ADVICE);
  report(`temporal: using ${found.path} (server ${found.version}) because ${why}`);
  return found;
}

/** The oldest server that docs/operators.md allows. */
const MIN_SERVER = { major: 1, minor: 29 } as const;

const VERSION_LIMIT_MS = 20_000;

type TemporalCheck =
  | { readonly kind: 'usable'; readonly version: string }
  | { readonly kind: 'unusable'; readonly reason: string };

/**
 * Asks an executable for its version, so that another program of the same name, an incomplete file, one for another
 * machine, or a server that is too old is found out before a payment depends on it.
 */
async function checkTemporal(path: string, env: NodeJS.ProcessEnv): Promise<TemporalCheck> {
  if (!(await isExecutableFile(path))) return { kind: 'unusable', reason: `${path} does not exist` };

  const outcome = await runCommand(path, ['--version'], { env, timeLimitMs: VERSION_LIMIT_MS });
  if (outcome.kind === 'failed') {
    return {
      kind: 'unusable',
      reason: `${path} does not run: ${lastLine(outcome.output) || outcome.reason}`,
    };
  }

  const [, version, major, minor] = /\bserver v?((\d+)\.(\d+)[^\s,)]*)/i.exec(outcome.output) ?? [];
  if (version === undefined) {
    return {
      kind: 'unusable',
      reason: `${path} says "${lastLine(outcome.output)}", so it is not the Temporal CLI`,
    };
  }
  const isTooOld =
    Number(major) < MIN_SERVER.major || (Number(major) === MIN_SERVER.major && Number(minor) < MIN_SERVER.minor);
  if (isTooOld) {
    const minVersion = `${MIN_SERVER.major}.${MIN_SERVER.minor}`;
    return {
      kind: 'unusable',
      reason: `${path} has server ${version}, but ${minVersion} or later is needed`,
    };
  }
  return { kind: 'usable', version };
}

const CLI_VERSION = '1.5.1';
const MODULE = `github.com/temporalio/cli/cmd/temporal@v${CLI_VERSION}`;

/** A build takes two and a half minutes on two cores; one that takes this long is stuck. */
const BUILD_LIMIT_MS = 30 * 60_000;
const BUILD_FOLDER = 'build-';

export type Build =
  | { readonly kind: 'built'; readonly path: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Returns the path where {@link buildTemporal} leaves the executable. */
export function builtTemporalPath(folder: string): string {
  return join(folder, `temporal-${CLI_VERSION}`);
}

export interface BuildOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
  readonly progressEveryMs?: number;
}

/**
 * Builds the Temporal CLI with Go into the cache folder, once: processes that need it at the same time share one build,
 * and a build that is interrupted leaves nothing that looks complete. Go's own settings (GOPROXY, GOTOOLCHAIN…) apply.
 */
export async function buildTemporal(options: BuildOptions): Promise<Build> {
  const { folder, env, report } = options;
  const go = await findOnPath('go', env);
  if (go === undefined) return { kind: 'refused', reason: 'go is not on PATH' };

  await mkdir(folder, { recursive: true });
  const onWait = (pid: number) => report(`temporal: waiting for process ${pid}, which is building it`);
  return await withLock(join(folder, 'temporal.lock'), onWait, async () => {
    const path = builtTemporalPath(folder);
    // The previous holder of the lock may have built it. One that doesn't run is built again.
    const { kind } = await checkTemporal(path, env);
    if (kind === 'usable') return { kind: 'built', path };
    return await build(go, path, options);
  });
}

async function build(
  go: string,
  path: string,
  { folder, env, report, progressEveryMs = 10_000 }: BuildOptions,
): Promise<Build> {
  await removeAbandonedBuilds(folder);
  const bin = await mkdtemp(join(folder, BUILD_FOLDER));
  report(`temporal: building with "go install ${MODULE}"; this takes some minutes, once`);
  try {
    const outcome = await runCommand(go, ['install', MODULE], {
      env: { ...env, GOBIN: bin },
      timeLimitMs: BUILD_LIMIT_MS,
      progressEveryMs,
      onProgress: (elapsedMs) => report(`temporal: still building after ${Math.round(elapsedMs / 1_000)} s`),
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

/** Removes what interrupted builds have left. No build is running: this one has the lock. */
async function removeAbandonedBuilds(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith(BUILD_FOLDER))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
