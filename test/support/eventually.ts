import { setTimeout as pause } from 'node:timers/promises';

/** Asks again until something holds, for what comes some moments late. */
export async function eventually<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  withinMs = 30_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > end) throw new Error(`it never came to that: ${JSON.stringify(value)}`);
    await pause(100);
  }
}
