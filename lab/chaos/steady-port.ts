import { randomInt } from 'node:crypto';
import { isPortFree } from '../../stack/processes/ports.js';

/** Below what systems hand out by themselves: from 32768 on Linux, from 49152 elsewhere. */
const [LEAST, BEYOND] = [15_000, 30_000];

/**
 * A free port of 127.0.0.1 that stays free while its server is away: no system gives it to whoever asks for any port,
 * as each outgoing connection does.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(LEAST, BEYOND);
    if (await isPortFree(port)) return port;
  }
}
