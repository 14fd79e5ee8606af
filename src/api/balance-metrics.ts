import { setTimeout as pause } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { shareAnswers } from '../engine/shared-answers.js';
import { CURRENCY } from '../payments/words/limits.js';
import { SERVICES, type Service } from '../payments/words/order.js';
import type { SharedBalance } from './context.js';

/** The provider is asked at most this often, in ms, however often Prometheus asks. */
const REUSED_MS = 60_000;

/** Time limit of one reading, in ms: Prometheus waits for ten seconds. A later answer is shown the next time. */
const READING_LIMIT_MS = 3_000;

/**
 * Adds gauges of the balances at the provider to a registry, and of the level that the payout service's is compared
 * with. A balance that isn't known has no sample: 0 would be an empty account.
 *
 * @param warnBelow in XAF. Without it, nothing is measured, and the provider isn't asked.
 */
export function measureBalances(
  registry: Registry,
  providers: Readonly<Record<Service, SharedBalance>>,
  warnBelow: number | undefined,
): void {
  if (warnBelow === undefined) return;
  const registers = [registry];
  const read = {
    collection: shareAnswers(() => balanceOf(providers.collection), REUSED_MS),
    payout: shareAnswers(() => balanceOf(providers.payout), REUSED_MS),
  };
  new Gauge({
    name: 'sanaga_provider_balance',
    help: 'The balance of a service at the provider in XAF, up to a minute ago; no sample when the provider did not say. Every API process shows its own reading: take the minimum',
    labelNames: ['service'],
    registers,
    async collect() {
      const balances = await Promise.all(
        SERVICES.map((service) => Promise.race([read[service](), pause(READING_LIMIT_MS, undefined, { ref: false })])),
      );
      // At once, so that a page that is made meanwhile lacks none.
      this.reset();
      SERVICES.forEach((service, index) => {
        const balance = balances[index];
        if (balance !== undefined) this.set({ service }, balance);
      });
    },
  });
  new Gauge({
    name: 'sanaga_float_warn_below',
    help: 'The level that operators are warned below, in XAF, for the payout service',
    registers,
  }).set(warnBelow);
}

/** Asks for a balance, in XAF; `undefined` when the provider doesn't say. */
async function balanceOf(provider: SharedBalance): Promise<number | undefined> {
  const { answer } = await provider.balance();
  return answer.kind === 'balance' && answer.currency === CURRENCY ? answer.balance : undefined;
}
