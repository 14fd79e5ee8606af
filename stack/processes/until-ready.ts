import { setTimeout as pause } from 'node:timers/promises';
import type { Child } from './child.js';

const TRY_EVERY_MS = 50;
const LIMIT_MS = 60_000;

/**
 * Waits until a process that was just started does its work, as `probe` tells: it resolves when so, and rejects or
 * gives `false` when not.
 *
 * @throws Error with the end of its log when it has ended meanwhile, or isn't ready after a minute.
 */
export async function untilReady(
  child: Pick<Child, 'name' | 'ended' | 'logTail'>,
  probe: () => Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  let end: string | undefined;
  void child.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + limitMs;
  for (;;) {
    const ready = await probe().catch(() => false);
    if (end !== undefined) throw new Error(`${child.name}: ended with ${end}\n${await child.logTail()}`);
    if (ready) return;
    if (Date.now() > deadline) {
      throw new Error(`${child.name}: not ready after ${limitMs / 1_000} s\n${await child.logTail()}`);
    }
    await pause(TRY_EVERY_MS);
  }
}
