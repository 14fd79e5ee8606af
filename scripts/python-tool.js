import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the executables of a tool from PyPI, in exactly the versions of `python/<name>.txt`. It is installed
 * once, into the user's cache folder.
 *
 * @param {string} name
 * @returns {Promise<string>}
 * @throws {Error} when there is no Python 3.11 or later, or PyPI can't be reached.
 */
export async function pythonTool(name) {
  const requirements = fileURLToPath(new URL(`python/${name}.txt`, import.meta.url));
  const version = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const { XDG_CACHE_HOME: root = '', HOME: home = homedir() } = process.env;
  const venv = join(isAbsolute(root) ? root : join(home, '.cache'), 'sanaga', `${name}-${version}`);
  const bin = join(venv, 'bin');
  const complete = join(venv, 'complete');
  if (existsSync(complete)) return bin;

  await rm(venv, { recursive: true, force: true });
  run('python3', ['-m', 'venv', venv], 'Install Python 3.11 or later, with its module venv.');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  run(join(bin, 'python'), pip, `${name} could not be installed from PyPI.`);
  await writeFile(complete, '');
  return bin;
}

function run(command, args, advice) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr} ${advice}`);
}
