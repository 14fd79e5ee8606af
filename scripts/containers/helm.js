import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, succeeds } from './run.js';

const TOOLS = fileURLToPath(new URL('../../test/deploy/chart-tools.ts', import.meta.url));

/**
 * Builds Helm, where the checks of the chart look for it, unless it is there: they run where nothing can be downloaded.
 *
 * @param {string} cache
 */
export async function buildHelm(cache) {
  const [, module, version] = /module: '(.+)', version: '(.+)'/.exec(await readFile(TOOLS, 'utf8'));
  const folder = join(cache, `helm-${version}`);
  if (await succeeds('test', ['-x', join(folder, 'helm')])) return;
  await mkdir(folder, { recursive: true });
  const env = { ...process.env, GOFLAGS: '-p=1', GOBIN: folder };
  await run('nice', ['-n', '19', 'go', 'install', `${module}/cmd/helm@v${version}`], { env });
}
