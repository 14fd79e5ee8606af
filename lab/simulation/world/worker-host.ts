/** Runs the worker, one at a time. */
export interface WorkerHost {
  /** Resolves when the worker takes tasks. */
  start(): Promise<void>;
  /** Lets the worker finish what it does, within its grace period. */
  stop(): Promise<void>;
  /** Ends the worker at once, in the middle of whatever it does, and resolves when it is gone; `false` when it can't. */
  kill(): Promise<boolean>;
}
