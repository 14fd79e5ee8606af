import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { cacheFolder, findOnPath, isExecutableFile } from '../temporal/executables.js';
import { withLock } from './lock.js';
import { lastLine, runCommand } from './run-command.js';

/** Programs and sources of Go modules. */

const BUILD_LIMIT_MS = 60 * 60_000;
const DOWNLOAD_LIMIT_MS = 10 * 60_000;

/** One package at a time: a build takes all the cores otherwise. Without cgo, a program runs in any container. */
const GENTLY = { ...process.env, GOFLAGS: '-p=1', CGO_ENABLED: '0' };

async function go(): Promise<string> {
  const found = await findOnPath('go', process.env);
  if (found === undefined) throw new Error('Go 1.25 or later must be on PATH: it builds what is missing here');
  return found;
}

/** Programs of one Go module, of one version. */
interface GoPrograms {
  /** Name of their folder in the cache, without the version. */
  readonly name: string;
  readonly version: string;
  /** Paths of the packages. The last part of each is the name of its program. */
  readonly packages: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly report?: (line: string) => void;
}

/**
 * Builds programs into a folder of the cache, once: that takes minutes.
 *
 * @returns the programs' paths, in the order of the packages
 * @throws {Error} when there is no Go, or the build fails.
 */
export async function buildWithGo({
  name,
  version,
  packages,
  env = GENTLY,
  report = () => undefined,
}: GoPrograms): Promise<string[]> {
  const folder = join(cacheFolder(), `${name}-${version}`);
  const programs = packages.map((path) => join(folder, basename(path)));
  // All of them are there, or none.
  const isBuilt = () => isExecutableFile(programs.at(-1) ?? folder);
  if (await isBuilt()) return programs;
  const installer = await go();
  await mkdir(cacheFolder(), { recursive: true });
  const onWait = (pid: number) => report(`${name}: waiting for process ${pid}, which is building it`);
  return await withLock(`${folder}.lock`, onWait, async () => {
    if (await isBuilt()) return programs;
    report(`${name}: building ${version} with Go; this takes some minutes, once`);
    const draft = await mkdtemp(join(cacheFolder(), `${name}-build-`));
    try {
      const wanted = packages.map((path) => `${path}@v${version}`);
      const outcome = await runCommand('nice', ['-n', '19', installer, 'install', ...wanted], {
        env: { ...env, GOBIN: draft },
        timeLimitMs: BUILD_LIMIT_MS,
        progressEveryMs: 60_000,
        onProgress: (ms) => report(`${name}: still building after ${Math.round(ms / 1_000)} s`),
      });
      if (outcome.kind === 'failed') {
        throw new Error(`go install of ${name} ${outcome.reason}: ${lastLine(outcome.output)}`);
      }
      await rename(draft, folder);
      return programs;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  });
}

/** Returns a program of this name, in the module's folder `cmd`. @throws {Error} as {@link buildWithGo} does. */
export async function goProgram(name: string, module: string, version: string): Promise<string> {
  const [program = ''] = await buildWithGo({ name, version, packages: [`${module}/cmd/${name}`] });
  return program;
}

/** Returns Helm, which renders the chart. @throws {Error} as {@link goProgram} does. */
export const helmProgram = (): Promise<string> => goProgram('helm', 'helm.sh/helm/v3', '3.22.0');

/**
 * The folder with the source of a Go module, without what it depends on.
 *
 * @throws {Error} when there is no Go, or the module can't be downloaded.
 */
export async function goModule(path: string, version: string): Promise<string> {
  const outcome = await runCommand(await go(), ['mod', 'download', '-json', `${path}@v${version}`], {
    env: { ...process.env, GOFLAGS: '-mod=mod' },
    timeLimitMs: DOWNLOAD_LIMIT_MS,
  });
  if (outcome.kind === 'failed') throw new Error(`go mod download ${path} ${outcome.reason}`);
  // Before it come lines on the download.
  const { Dir: folder } = JSON.parse(outcome.output.slice(outcome.output.indexOf('{'))) as {
    readonly Dir: string;
  };
  return folder;
}
