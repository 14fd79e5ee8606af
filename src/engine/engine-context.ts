import type { Logger } from 'pino';
import type { Turn } from '../book/turn.js';
import type { Shutdown } from '../process/shutdown.js';
import type { Changes } from './changes.js';
import type { RingContext } from './ring.js';

/** Dependencies of whatever is asked of payments. */
export interface EngineContext extends RingContext {
  readonly changes: Changes;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
  /** Time after which a POST is answered 202 while the provider has not answered, in ms. */
  readonly answerWithinMs: number;
  /** Told of each turn that this process takes. */
  readonly onTurn?: ((turn: Turn) => void) | undefined;
}
