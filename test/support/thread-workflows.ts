import { CancellationScope, condition, defineSignal, isCancellation, setHandler, sleep } from '@temporalio/workflow';

/** Workflows that show what a thread does with them. */

export const finish = defineSignal('finish');

/** Two waits in scopes of their own, of which the first is cancelled if it is to be; ends with what both have seen. */
export async function waitTwice(cancels: boolean): Promise<string[]> {
  let isFinished = false;
  setHandler(finish, () => {
    isFinished = true;
  });
  const seen: string[] = [];
  const scopes = ['first', 'second'].map((name) => {
    const scope = new CancellationScope();
    const waiting = scope.run(async () => {
      await sleep(1);
      // After a wait, the async context alone knows the scope.
      seen.push(`${name} ${CancellationScope.current() === scope ? 'kept' : 'lost'} its scope`);
      await sleep('1 hour');
    });
    void waiting.catch((error: unknown) => seen.push(`${name} ${isCancellation(error) ? 'cancelled' : 'failed'}`));
    return scope;
  });
  await condition(() => seen.length === 2);
  if (cancels) scopes[0]?.cancel();
  await condition(() => isFinished);
  return seen;
}

/** Never waits again after its first wait. */
export async function computeForever(): Promise<void> {
  await sleep(1);
  for (;;);
}

export async function fail(): Promise<void> {
  await sleep(1);
  throw new TypeError('a mistake in a workflow');
}
