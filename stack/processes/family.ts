import { readdir, readFile } from 'node:fs/promises';
import { hasCode } from './lock.js';
import { runCommand } from './run-command.js';

/** A process. */
interface Member {
  readonly pid: number;
  readonly parent: number;
}

/** The ids of a process and of all below it. */
export async function familyOf(pid: number): Promise<number[]> {
  const all = await (process.platform === 'linux' ? readProc() : askPs());
  const below = (parent: number): number[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one.pid, ...below(one.pid)]);
  return [pid, ...below(pid)];
}

/**
 * Stops a process and all below it, the first one before all others: nothing is added any more then. PostgreSQL can't
 * be asked for its own: it doesn't name those that have begun a moment ago.
 *
 * @returns their ids
 */
export async function stopFamily(pid: number): Promise<readonly number[]> {
  process.kill(pid, 'SIGSTOP');
  const stopped = [pid];
  for (;;) {
    const added = (await familyOf(pid)).filter((one) => !stopped.includes(one));
    if (added.length === 0) return stopped;
    signalAll(added, 'SIGSTOP');
    stopped.push(...added);
  }
}

/** Sends a signal to processes. One that has ended is left out. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!hasCode(error, 'ESRCH')) throw error;
    }
  }
}

/** As `/proc/PID/stat` has them: a Linux may lack `ps`. */
async function readProc(): Promise<Member[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process may end between the two readings.
  const texts = await Promise.all(names.map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')));
  return texts.filter((text) => text !== '').map(toMember);
}

/** The fields behind the program's name, which may hold spaces and brackets itself: see proc_pid_stat(5). */
function toMember(text: string): Member {
  const [, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid: Number.parseInt(text, 10), parent: Number(parent) };
}

const PS_LIMIT_MS = 10_000;

/** @throws Error where there is no `ps` */
async function askPs(): Promise<Member[]> {
  const { kind, output } = await runCommand('ps', ['-A', '-o', 'pid=,ppid='], {
    env: process.env,
    timeLimitMs: PS_LIMIT_MS,
  });
  if (kind === 'failed') throw new Error(`ps failed: ${output}`);
  return output
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0]) => ({ pid, parent }));
}
