import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A compiled program: `lib/…`, as it is run in production, or `build/…`, what is beside it.
 *
 * @throws Error when there is nothing to run
 */
export function built(program: string): string {
  const file = `${PROJECT}${program}`;
  if (!existsSync(file)) throw new Error(`${file} is missing: build it first, with npm run build`);
  return file;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with this environment and no other. */
export async function runToEnd(
  program: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
): Promise<Ended> {
  const child = spawn(process.execPath, [built(program), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
}

/** What a machine gives a program, without any setting. */
export const machine = (): NodeJS.ProcessEnv => {
  const { PATH, HOME, TMPDIR, XDG_CACHE_HOME } = process.env;
  return {
    ...(PATH && { PATH }),
    ...(HOME && { HOME }),
    ...(TMPDIR && { TMPDIR }),
    ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }),
  };
};
