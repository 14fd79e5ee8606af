import { setTimeout as pause } from 'node:timers/promises';
import type { Stack } from '../../stack/processes/stack.js';
import type { ApiClient } from '../simulation/actors/api-client.js';
import type { Tally } from '../simulation/tally.js';
import type { ChaosRecord } from './chaos-record.js';

/** What everybody in a chaos run works with. */
export interface Scene {
  readonly seed: number;
  readonly stack: Stack;
  readonly api: ApiClient;
  readonly records: readonly ChaosRecord[];
  /** What people did, by kind. */
  readonly doings: Tally;
  /** Aborted when everybody is to go home. */
  readonly over: AbortSignal;
  readonly report: (line: string) => void;
}

/** Lets real time pass. @throws AbortError when everybody is to go home meanwhile. */
export async function wait(ms: number, { over }: Pick<Scene, 'over'>): Promise<void> {
  await pause(Math.max(0, ms), undefined, { signal: over });
}

/** Ends quietly what everybody's going home has cut short. */
export async function untilOver(doing: Promise<void>): Promise<void> {
  try {
    await doing;
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

function isAbort(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';
}
