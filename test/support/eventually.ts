import { setTimeout as pause } from 'node:timers/promises';

/** For what comes some moments late. It takes minutes only to say that it never comes: a busy machine is slow. */
export const PATIENCE_MS = 180_000;

/** Asks again until something holds. */
export async function eventually<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > end) throw new Error(`it never came to that: ${JSON.stringify(value)}`);
    await pause(100);
  }
}
