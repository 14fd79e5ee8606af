import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Sees to it that a child process does not outlive this one, even when this one is killed with SIGKILL. A small shell
 * waits at a pipe from us: a line on it means that the child has been dealt with, its end means that we are gone, and
 * then the shell stops the child, gently at first. It runs in a session of its own, as the child does, so that Ctrl-C
 * in the terminal reaches neither.
 */
const watch = `
read -r _ && exit 0
kill -TERM "$1" 2>/dev/null || exit 0
for _ in 1 2 3 4 5; do
  sleep 1
  kill -0 "$1" 2>/dev/null || exit 0
done
kill -KILL "$1" 2>/dev/null
`;

/** Call `release` once the child has ended, before its process id can belong to another. */
export function stopWithParent(pid: number): { release: () => void } {
  if (process.platform === 'win32') return { release: () => undefined };

  const watcher = spawn('/bin/sh', ['-c', watch, 'stop-with-parent', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell the child merely loses this safety.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  return { release: () => watcher.stdin.end('done\n') };
}
