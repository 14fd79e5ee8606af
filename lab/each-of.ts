/** Runs `act` on each item, at most `max` at a time; resolves when all are done, or throws the first error then. */
export async function eachOf<Item>(
  items: readonly Item[],
  max: number,
  act: (item: Item) => Promise<void> | void,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const take = async () => {
    for (const item of left) await act(item);
  };
  const settled = await Promise.allSettled(Array.from({ length: Math.min(max, items.length) }, take));
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
}
