import type { WrapActivities } from './world/wrap-activities.js';

/** What a simulation is made of; the same seed gives the same faults. */
export interface SimulationOptions {
  readonly payments: number;
  readonly seed: string | number;
  /** The compiled worker process; without it the worker runs in this process, and is never killed. */
  readonly workerProgram?: string | undefined;
  /** Breaks a rule on purpose, to see it caught. For a worker in this process. */
  readonly wrapActivities?: WrapActivities | undefined;
  readonly report?: ((line: string) => void) | undefined;
}
