import type { BalanceAnswer } from '../payments/outcome.js';
import type { BalanceReader } from './api.js';

/** ms for which an answer is given again. A balance changes with each payment, and nobody decides by it. */
const REUSED_MS = 2_000;

/**
 * Reads a balance with one call to the provider at a time, however many ask. Who asks while a call is under way, or
 * shortly after it was answered, gets its answer.
 */
export function sharedBalance(reader: BalanceReader): BalanceReader {
  let shared: Promise<BalanceAnswer> | undefined;
  let freshUntil = 0;

  async function read(): Promise<BalanceAnswer> {
    try {
      return await reader.balance();
    } finally {
      freshUntil = Date.now() + REUSED_MS;
    }
  }

  return {
    balance() {
      if (shared === undefined || Date.now() >= freshUntil) {
        freshUntil = Number.POSITIVE_INFINITY;
        shared = read();
      }
      return shared;
    },
  };
}
