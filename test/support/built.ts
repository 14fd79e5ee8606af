import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../stack/processes/ports.js';

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

/** The settings that say on which ports `npm start` and its parts listen. */
export const START_PORTS = [
  'PORT',
  'SANDBOX_PORT',
  'DESK_PORT',
  'CODEC_PORT',
  'TEMPORAL_PORT',
  'TEMPORAL_UI_PORT',
] as const;

/** Settings of ports, each with a free one. */
export async function freePorts(names: readonly string[]): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await freePort())] as const)));
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a compiled program to its end, with this environment and no other. `input` is what it is typed. */
export function runToEnd(
  program: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
  input?: string,
): Promise<Ended> {
  return runFile(built(program), args, env, cwd, input);
}

/** The same for a program by its path. */
export async function runFile(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
  input?: string,
): Promise<Ended> {
  const child = spawn(process.execPath, [file, ...args], {
    env,
    ...(cwd !== undefined && { cwd }),
  });
  child.stdin.end(input);
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
}

/**
 * Starts a program that runs until it is stopped, with this environment and no other.
 *
 * @returns its process, the first thing that it prints: what it says once it is ready, and all that it has printed so
 *   far. The former rejects with its complaints if it ends before.
 */
export function startToRun(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): { readonly child: ChildProcess; readonly printed: Promise<string>; readonly said: () => string } {
  const child = spawn(process.execPath, [built(program), ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let all = '';
  child.stdout.on('data', (text) => {
    all += String(text);
  });
  let complaints = '';
  child.stderr.on('data', (text) => {
    complaints += String(text);
  });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}: ${complaints}`)));
  ended.catch(() => undefined);
  const printed = Promise.race([once(child.stdout, 'data'), ended]).then(([text]) => String(text));
  return { child, printed, said: () => all };
}

/** Returns the environment that a machine gives a program without any setting. */
export const machine = (): NodeJS.ProcessEnv => {
  const { PATH, HOME, TMPDIR, XDG_CACHE_HOME } = process.env;
  return {
    ...(PATH && { PATH }),
    ...(HOME && { HOME }),
    ...(TMPDIR && { TMPDIR }),
    ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }),
  };
};
