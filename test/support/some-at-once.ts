import PQueue from 'p-queue';

/** Few, so that what shall be under way still is when something is done to it, also on a busy machine. */
const AT_ONCE = 4;

/** Does something with each, some at a time. */
export async function someAtOnce<One, Result>(
  all: readonly One[],
  work: (one: One) => Promise<Result>,
): Promise<readonly Result[]> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  return await Promise.all(all.map((one) => queue.add(() => work(one))));
}
