/** Failures in a row after which an endpoint counts as down. */
const FAILURES = 3;

/** For how long first tries are spared once it is down, in ms. */
const REST_MS = 30_000;

/**
 * Remembers whether the merchant's endpoint is down, so that first tries, which hold up a workflow task for as long
 * as they take, don't wait for an answer that won't come. Later tries, which hold up nothing, find out when it is back.
 *
 * @param now the clock, in ms
 */
export function createEndpointHealth(now: () => number = Date.now) {
  let failures = 0;
  let restUntil = 0;
  return {
    isDown: () => failures >= FAILURES && now() < restUntil,
    record(delivered: boolean): void {
      failures = delivered ? 0 : failures + 1;
      if (failures >= FAILURES) restUntil = now() + REST_MS;
    },
  };
}
