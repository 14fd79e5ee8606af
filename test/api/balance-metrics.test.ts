import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { measureBalances } from '../../src/api/balance-metrics.js';
import { sharedBalance } from '../../src/api/routes/balance.js';
import type { BalanceAnswer } from '../../src/payments/words/outcome.js';
import { samplesOf } from '../support/metrics-page.js';

const holding = (balance: number, currency = 'XAF'): BalanceAnswer => ({
  kind: 'balance',
  service: 'shop',
  balance,
  currency,
});

let asked: string[];
beforeEach(() => {
  asked = [];
});

/** Measures two services that answer so, and returns a function that reads the page. */
function measured(
  answers: Readonly<Record<'collection' | 'payout', () => Promise<BalanceAnswer>>>,
  warnBelow: number | undefined,
) {
  const registry = new Registry();
  const reader = (service: 'collection' | 'payout') => ({
    balance: () => {
      asked.push(service);
      return answers[service]();
    },
  });
  const providers = { collection: sharedBalance(reader('collection')), payout: sharedBalance(reader('payout')) };
  measureBalances(registry, providers, warnBelow);
  return async () => {
    const samples = samplesOf(await registry.metrics());
    return Object.fromEntries(samples.map(({ name, labels, value }) => [labels.service ?? name, value]));
  };
}

describe('the metrics of the balances', () => {
  it('have each service, and the level that operators are warned below', async () => {
    const read = measured({ collection: async () => holding(7_000), payout: async () => holding(0) }, 5_000);
    expect(await read()).toEqual({ collection: 7_000, payout: 0, sanaga_float_warn_below: 5_000 });
  });

  it('ask once for all that read them within a minute', async () => {
    const read = measured({ collection: async () => holding(1), payout: async () => holding(2) }, 5_000);
    await Promise.all([read(), read()]);
    await read();
    expect(asked.sort()).toEqual(['collection', 'payout']);
  });

  it.each<[string, BalanceAnswer]>([
    ['is away', { kind: 'unavailable', reason: 'no answer' }],
    ['refuses', { kind: 'refused', message: 'no', statusCode: 400 }],
    ['refuses the credentials', { kind: 'unauthorized', message: 'no', statusCode: 401 }],
    ['has too many requests', { kind: 'throttled', retryAfterMs: 1_000 }],
    ['tells it in another currency', holding(3, 'EUR')],
  ])('have no sample of a service whose provider %s', async (_, answer) => {
    const read = measured({ collection: async () => holding(7_000), payout: async () => answer }, 5_000);
    expect(await read()).toEqual({ collection: 7_000, sanaga_float_warn_below: 5_000 });
  });

  it('do not wait for a provider that hangs', async () => {
    const read = measured(
      { collection: async () => holding(7_000), payout: () => new Promise<BalanceAnswer>(() => undefined) },
      5_000,
    );
    expect(await read()).toEqual({ collection: 7_000, sanaga_float_warn_below: 5_000 });
  });

  it('are not there without a level, and ask for nothing', async () => {
    const read = measured({ collection: async () => holding(7_000), payout: async () => holding(0) }, undefined);
    expect(await read()).toEqual({});
    expect(asked).toEqual([]);
  });
});
