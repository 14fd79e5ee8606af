import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_EVERY_MS = 250;

/**
 * Runs `task` while no other process runs one under the same lock file, waiting as long as it takes. `onWait` is called
 * once for each process that is waited for, with its id. A lock whose process is gone is taken over. In the unlikely
 * case that two processes take over the same lock, both run their tasks: that must waste time at most, and do no harm.
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
    await pause(POLL_EVERY_MS);
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
      // Its holder has created it, but hasn't written to it yet.
      await pause(POLL_EVERY_MS);
      text = await readFile(file, 'utf8');
    }
    return Number.parseInt(text, 10);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'released';
    throw error;
  }
}

/** Reports whether a process with this id runs. */
export function isAlive(pid: number): boolean {
  if (Number.isNaN(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is running, as another user.
    return hasCode(error, 'EPERM');
  }
}

/** Reports whether Node has refused a call with this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/**
 * Locks a state folder for this process: two Temporal servers on one database file would ruin it. The lock is a socket
 * in the folder that this process listens on, so it ends with the process, however that ends.
 *
 * @returns a function that releases the lock.
 * @throws Error when another process has locked the folder.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  // A socket's path is limited to about a hundred characters, and the relative one is usually shorter.
  const socket = relative(process.cwd(), join(folder, 'lock.sock'));
  if (await isAnswered(socket)) {
    throw new Error(`start: another process runs on ${folder}: stop it, or start in another folder`);
  }
  await rm(socket, { force: true });
  const server = createServer((visitor) => visitor.destroy());
  server.listen(socket);
  await once(server, 'listening');
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

async function isAnswered(socket: string): Promise<boolean> {
  const visitor = connect(socket);
  try {
    await once(visitor, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    visitor.destroy();
  }
}
