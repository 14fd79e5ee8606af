import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { familyOf } from '../../stack/processes/family.js';

/** Bytes of memory by process. */
export type MemoryByProcess = Readonly<Record<string, number>>;

/**
 * The resident memory of processes with their children, in bytes. What PostgreSQL's processes share with each other,
 * and the program's own file, count once.
 *
 * @throws Error when a process isn't running.
 */
export async function readMemory(processes: Readonly<Record<string, number>>): Promise<MemoryByProcess> {
  const entries = Object.entries(processes).map(async ([name, pid]) => {
    const members = await Promise.all((await familyOf(pid)).map(readParts));
    const [own] = members;
    if (own === undefined || own.anonymous === 0) throw new Error(`${name} (process ${pid}) is not running`);
    const largest = (pick: (parts: MemoryParts) => number) => Math.max(...members.map(pick));
    const bytes =
      members.reduce((sum, { anonymous }) => sum + anonymous, 0) +
      largest(({ file }) => file) +
      largest(({ shared }) => shared);
    return [name, bytes] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Resident memory of a process, in bytes. */
interface MemoryParts {
  readonly anonymous: number;
  readonly file: number;
  readonly shared: number;
}

/** See proc_pid_status(5). A child may have ended since it was found. */
async function readParts(pid: number): Promise<MemoryParts> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const bytes = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1_024;
  return { anonymous: bytes('RssAnon'), file: bytes('RssFile'), shared: bytes('RssShmem') };
}

/** Interval of reading memory during a measurement, in ms. */
const READ_EVERY_MS = 1_000;

/**
 * Runs something, and reads meanwhile how much memory these processes have. @returns its result, and the most of each
 * process
 */
export async function withMemory<Result>(
  processes: Readonly<Record<string, number>>,
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly memory: MemoryByProcess }> {
  let memory = await readMemory(processes);
  const ended = new AbortController();
  const { signal } = ended;
  const read = async () => {
    const now = await readMemory(processes);
    memory = Object.fromEntries(Object.entries(now).map(([name, bytes]) => [name, Math.max(bytes, memory[name] ?? 0)]));
  };
  const reading = (async () => {
    while (!signal.aborted) {
      await pause(READ_EVERY_MS, undefined, { signal }).catch(() => undefined);
      await read();
    }
  })();
  // It is waited for below. A process that has ended is told by whatever needed it.
  reading.catch(() => undefined);
  try {
    const result = await run();
    ended.abort();
    await reading;
    return { result, memory };
  } finally {
    ended.abort();
    await reading.catch(() => undefined);
  }
}
