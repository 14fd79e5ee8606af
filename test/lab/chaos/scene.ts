import type { ChaosRecord } from '../../../lab/chaos/chaos-record.js';
import type { Scene } from '../../../lab/chaos/scene.js';
import { ApiClient } from '../../../lab/simulation/actors/api-client.js';
import { Tally } from '../../../lab/simulation/tally.js';
import type { Stack } from '../../../stack/processes/stack.js';

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

/** A scene around a stack; its reports go to `reports`. */
export function sceneOf(
  stack: Stack,
  records: readonly ChaosRecord[],
  over: AbortSignal = new AbortController().signal,
  reports: string[] = [],
): Scene {
  return {
    seed: 1,
    stack,
    api: new ApiClient(stack.apiUrl),
    records,
    doings: new Tally(),
    over,
    report: (line) => reports.push(line),
  };
}
