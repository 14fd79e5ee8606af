import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_EVERY = 250;

/**
 * Runs `task` while no other process runs one under the same lock file, and waits for its turn as long as it takes;
 * `onWait` is called once with the id of the process that is waited for. A lock whose process is gone is taken over.
 * In the unlikely case that two processes take over the same one, both run: the task must merely waste time then, not
 * do harm.
 */
export async function withLock<Result>(
  file: string,
  onWait: (pid: number) => void,
  task: () => Promise<Result>,
): Promise<Result> {
  let waitedFor: number | undefined;
  while (!(await take(file))) {
    const holder = await readHolder(file);
    if (holder === 'released') continue;
    if (!isAlive(holder)) {
      await rm(file, { force: true });
      continue;
    }
    if (holder !== waitedFor) onWait(holder);
    waitedFor = holder;
    await delay(POLL_EVERY);
  }
  try {
    return await task();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function readHolder(file: string): Promise<number | 'released'> {
  try {
    let text = await readFile(file, 'utf8');
    if (text === '') {
      // Its holder has created it but not yet written to it.
      await delay(POLL_EVERY);
      text = await readFile(file, 'utf8');
    }
    return Number.parseInt(text, 10);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'released';
    throw error;
  }
}

function isAlive(pid: number): boolean {
  if (Number.isNaN(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, but belongs to someone else.
    return hasCode(error, 'EPERM');
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
