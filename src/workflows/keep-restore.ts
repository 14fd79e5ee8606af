import { CancellationScope, condition } from '@temporalio/workflow';
import { readInput } from './handlers.js';
import type { RestoreInput } from './messages.js';
import { restoreInput } from './schemas.js';

/**
 * Keeps the time of Temporal's latest restore from a backup: its memo has it. It never ends, since payouts that were
 * held then may be released months later. A request to cancel it has no effect.
 */
export function keepRestore(given: RestoreInput): Promise<void> {
  return CancellationScope.nonCancellable(() => keep(given));
}

async function keep(given: unknown): Promise<void> {
  readInput(restoreInput, given);
  await condition(() => false);
}
