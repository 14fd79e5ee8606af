import { setTimeout as pause } from 'node:timers/promises';
import { isPortFree } from '../temporal/free-port.js';

/** A port that is wanted, and the setting that would choose another. */
export interface WantedPort {
  readonly port: number;
  readonly of: string;
  readonly advice: string;
}

/** How long the ports of a stack that is just stopping are waited for, in ms. */
const PATIENCE_MS = 6_000;
const LOOK_EVERY_MS = 200;

/**
 * Resolves when nobody listens on the wanted ports of 127.0.0.1.
 *
 * @throws Error with a line for each port that stays taken.
 */
export async function claimPorts(
  wanted: readonly WantedPort[],
  report: (line: string) => void,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  let waiting = false;
  for (;;) {
    const taken = await takenOf(wanted);
    if (taken.length === 0) return;
    if (Date.now() >= deadline) throw new Error(taken.map(describe).join('\n'));
    const numbers = taken.map(({ port }) => port).join(', ');
    if (!waiting)
      report(`start: port ${numbers} is taken; waiting a moment, in case a stack is just stopping`);
    waiting = true;
    await pause(LOOK_EVERY_MS);
  }
}

async function takenOf(wanted: readonly WantedPort[]): Promise<WantedPort[]> {
  const free = await Promise.all(wanted.map(({ port }) => isPortFree(port)));
  return wanted.filter((_, index) => !free[index]);
}

const describe = ({ port, of, advice }: WantedPort) =>
  `start: port ${port} for ${of} is taken: stop what listens there, or ${advice}`;
