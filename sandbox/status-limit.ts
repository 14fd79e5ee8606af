import { providerLimits } from '../src/provider/schemas.js';
import { Refusal } from './answer.js';
import type { Clock } from './clock.js';
import type { Entry } from './entry.js';

/**
 * Lets a status look-up through, at most 6 for one transaction in any 60 seconds. The window slides, and look-ups
 * that were refused don't count in it.
 * @throws Refusal 429, with Retry-After in real seconds
 */
export function takeStatusCall(entry: Entry, clock: Clock): void {
  const { statusCallsPerWindow, statusWindowMs } = providerLimits;
  const now = clock.now();
  const calls = entry.statusCalls;
  while (calls.recent[0] !== undefined && calls.recent[0] <= now - statusWindowMs) calls.recent.shift();
  const [first] = calls.recent;
  if (first === undefined || calls.recent.length < statusCallsPerWindow) {
    calls.recent.push(now);
    calls.answered++;
    return;
  }
  calls.throttled++;
  const seconds = Math.ceil(clock.realMs(first + statusWindowMs - now) / 1000);
  throw new Refusal(429, `At most ${statusCallsPerWindow} status requests a minute for a transaction`, {
    'retry-after': String(Math.max(1, seconds)),
  });
}
