import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Name of the file of a folder that holds the digests of its sources and of its contents. */
const STAMP = '.built';

/**
 * Builds a folder again, unless the present one was made from the same sources and is unchanged.
 *
 * @param root the folder that the other names are within
 * @param sources files, and folders with all that is in them
 */
export async function unlessBuilt({ root, folder, sources, force = false }, build) {
  const target = join(root, folder);
  const stamp = join(target, STAMP);
  // Read before the build: who saves a file meanwhile gets another build the next time.
  const madeOf = await digestOf(root, sources);
  const known = force ? undefined : await readFile(stamp, 'utf8').catch(() => undefined);
  if (known === `${madeOf} ${await digestOf(root, [folder])}`) return;
  await rm(target, { recursive: true, force: true });
  await build();
  await writeFile(stamp, `${madeOf} ${await digestOf(root, [folder])}`);
}

/** The digest of files by their names and contents. One that doesn't exist counts, too. */
async function digestOf(root, names) {
  const all = await Promise.all(names.map((name) => filesOf(root, name)));
  const hash = createHash('sha256');
  for (const name of all.flat().sort()) {
    const content = await readFile(join(root, name)).catch(() => undefined);
    hash.update(JSON.stringify([name, content?.length])).update(content ?? '');
  }
  return hash.digest('hex');
}

async function filesOf(root, name) {
  const entries = await readdir(join(root, name), { recursive: true, withFileTypes: true }).catch(() => []);
  if (entries.length === 0) return [name];
  return entries
    .filter((entry) => !entry.isDirectory() && entry.name !== STAMP)
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
