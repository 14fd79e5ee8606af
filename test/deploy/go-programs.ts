import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from '../../stack/processes/lock.js';
import { lastLine, runCommand } from '../../stack/processes/run-command.js';
import { cacheFolder, findOnPath, isExecutableFile } from '../../stack/temporal/executables.js';

/** Go's programs and modules, which the checks of the chart are made with. */

const BUILD_LIMIT_MS = 25 * 60_000;
const DOWNLOAD_LIMIT_MS = 10 * 60_000;

/** One at a time: a build takes all the cores otherwise. */
const ENV = { ...process.env, GOFLAGS: '-p=1' };

async function go(): Promise<string> {
  const found = await findOnPath('go', process.env);
  if (found === undefined) throw new Error('Go 1.25 or later must be on PATH: it builds Helm and kubeconform');
  return found;
}

/**
 * A Go program of exactly this version, built into the cache folder, once: that takes minutes.
 *
 * @throws {Error} when there is no Go, or the build fails.
 */
export async function goProgram(name: string, module: string, version: string): Promise<string> {
  const folder = join(cacheFolder(), `${name}-${version}`);
  const program = join(folder, name);
  if (await isExecutableFile(program)) return program;
  await mkdir(cacheFolder(), { recursive: true });
  return await withLock(
    `${folder}.lock`,
    () => undefined,
    async () => {
      if (await isExecutableFile(program)) return program;
      const draft = await mkdtemp(join(cacheFolder(), `${name}-build-`));
      try {
        const args = ['-n', '19', await go(), 'install', `${module}/cmd/${name}@v${version}`];
        const env = { ...ENV, GOBIN: draft };
        const outcome = await runCommand('nice', args, { env, timeLimitMs: BUILD_LIMIT_MS });
        if (outcome.kind === 'failed') {
          throw new Error(`go install ${module} ${outcome.reason}: ${lastLine(outcome.output)}`);
        }
        await rename(draft, folder);
        return program;
      } finally {
        await rm(draft, { recursive: true, force: true });
      }
    },
  );
}

/**
 * The folder with the source of a Go module, without what it depends on.
 *
 * @throws {Error} when there is no Go, or the module can't be downloaded.
 */
export async function goModule(path: string, version: string): Promise<string> {
  const outcome = await runCommand(await go(), ['mod', 'download', '-json', `${path}@v${version}`], {
    env: { ...ENV, GOFLAGS: '-mod=mod' },
    timeLimitMs: DOWNLOAD_LIMIT_MS,
  });
  if (outcome.kind === 'failed') throw new Error(`go mod download ${path} ${outcome.reason}`);
  // Before it come lines on the download.
  const { Dir: folder } = JSON.parse(outcome.output.slice(outcome.output.indexOf('{'))) as {
    readonly Dir: string;
  };
  return folder;
}
