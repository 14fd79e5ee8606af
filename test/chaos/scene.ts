import type { ChaosRecord } from '../../src/chaos/chaos-record.js';
import type { Scene } from '../../src/chaos/scene.js';
import type { Stack } from '../../src/cli/stack/stack.js';
import { ApiClient } from '../../src/simulation/actors/api-client.js';
import { Tally } from '../../src/simulation/tally.js';

/** A scene whose stack is nothing but addresses. */
export function sceneAt(
  { apiUrl = '', sandboxUrl = '' }: { apiUrl?: string; sandboxUrl?: string },
  records: readonly ChaosRecord[],
  over: AbortSignal,
): Scene & { readonly api: ApiClient } {
  const away = () => Promise.reject(new Error('there is no such process'));
  const stack: Stack = {
    apiUrl,
    sandboxUrl,
    get temporal(): never {
      throw new Error('there is no Temporal');
    },
    part(): never {
      throw new Error('there is no such process');
    },
    restart: away,
    restartTemporal: away,
    kill: away,
    broken: new Promise(() => undefined),
    stop: async () => undefined,
  };
  return {
    seed: 1,
    stack,
    api: new ApiClient(apiUrl),
    records,
    doings: new Tally(),
    over,
    report: () => undefined,
  };
}
