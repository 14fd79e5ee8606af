/** Counts the turns of others in the event loop from now on. */
export function countTurns() {
  let turns = 0;
  let isOver = false;
  const next = () => {
    turns += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return () => {
    isOver = true;
    return turns;
  };
}
