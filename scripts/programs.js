import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Programs to run by name, by the folder that builds them. */
export const PROGRAMS = {
  lib: ['server.js', 'worker.js', 'desk.js', 'codec-server.js', 'migrate.js', 'payers.js', 'replay.js'],
  build: [
    'cli/main.js',
    'sandbox/main.js',
    'lab/explore.js',
    'lab/simulate.js',
    'lab/chaos.js',
    'bench/main.js',
    'bench/growth/main.js',
    'bench/load/main.js',
    'bench/soak/main.js',
    'src/server.js',
    'src/worker.js',
    'src/desk.js',
    'src/codec-server.js',
  ],
};

const CHECK = 'supported-node.js';

/**
 * Without a listener, SIGUSR1 has Node open its inspector, by which anybody on the machine runs code in the process and
 * reads its secrets; SIGUSR2 would end it. Tools that rotate logs send either.
 */
const IGNORE_SIGNALS = `for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => undefined);\n`;

/**
 * Has each program of a built folder look at its Node first, and take no signal amiss: the program moves to
 * `….main.js`, and what bears its name imports the check and then the program. Node links all that is imported
 * statically before it runs anything, so that a check within the program would come too late.
 *
 * @param folder the built folder's path
 * @param programs their paths in it
 */
export async function checkNodeFirst(folder, programs) {
  await copyFile(fileURLToPath(new URL(CHECK, import.meta.url)), join(folder, CHECK));
  for (const program of programs) {
    const file = join(folder, program);
    const moved = file.replace(/\.js$/, '.main.js');
    const interpreter = (await readFile(file, 'utf8')).match(/^#!.*\n/)?.[0] ?? '';
    const check = join(relative(dirname(file), folder), CHECK).replaceAll('\\', '/');
    await rename(file, moved);
    await writeFile(
      file,
      `${interpreter}import '${check.startsWith('.') ? check : `./${check}`}';\n\n${IGNORE_SIGNALS}await import('./${basename(moved)}');\n`,
    );
  }
}
