import { type ChaosContext, persistentMerchants, RealTimeline } from '../../lab/chaos/context.js';
import { Counts } from '../../lab/counts.js';
import { ApiClient } from '../../lab/people/api-client.js';
import type { ObservedPayment } from '../../lab/people/observed-payment.js';
import type { Postgres } from '../../stack/postgres/postgres.js';
import type { Stack } from '../../stack/processes/stack.js';

const away = (): never => {
  throw new Error('there is no such process');
};

/** A stack that is nothing but addresses, unless `parts` has more of it. */
export function stackAt(parts: Partial<Stack>): Stack {
  return {
    apiUrl: '',
    sandboxUrl: '',
    get temporal(): never {
      return away();
    },
    part: away,
    restart: away,
    restartTemporal: away,
    kill: away,
    broken: new Promise(() => undefined),
    stop: async () => undefined,
    ...parts,
  };
}

/** A database server that is nothing, unless `parts` has more of it. */
export function bookAt(parts: Partial<Postgres> = {}): Postgres {
  return {
    port: 0,
    user: '',
    pid: 0,
    data: '',
    ended: new Promise(() => undefined),
    url: () => '',
    query: away,
    size: away,
    halt: away,
    start: away,
    kill: away,
    freeze: away,
    stop: async () => undefined,
    ...parts,
  };
}

/** A context around a stack; its reports go to `reports`. */
export function contextOf(
  stack: Stack,
  records: readonly ObservedPayment[],
  over: AbortSignal = new AbortController().signal,
  reports: string[] = [],
  book = bookAt(),
): ChaosContext {
  const actions = new Counts();
  return {
    seed: 1,
    stack,
    book,
    temporalFile: '',
    api: new ApiClient(stack.apiUrl),
    records,
    actions,
    timeline: new RealTimeline(over),
    now: Date.now,
    booksOf: () => [],
    payers: { maxTries: 1, pauseMs: 0, look: async () => undefined, press: async () => undefined },
    merchants: persistentMerchants(actions, over),
    over,
    report: (line) => reports.push(line),
  };
}
