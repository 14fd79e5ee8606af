/** Runs `act` on each item, at most `most` at a time; resolves when all are done. The first error is thrown then. */
export async function eachOf<Item>(
  items: readonly Item[],
  most: number,
  act: (item: Item) => Promise<void> | void,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const take = async () => {
    for (const item of left) await act(item);
  };
  const settled = await Promise.allSettled(Array.from({ length: Math.min(most, items.length) }, take));
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
}
