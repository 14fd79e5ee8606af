import { describe, expect, it } from '@jest/globals';
import { balanceSchema } from '../../../src/provider/schemas.js';
import { startSandbox } from '../running-sandbox.js';

describe('GET /balance', () => {
  it('names the service that asks, and XAF', async () => {
    const { get } = await startSandbox();
    const [collection, payout] = [await get('/balance'), await get('/balance', 'payout')];
    expect(balanceSchema.parse(collection.body)).toMatchObject({
      service: 'Shop collections',
      currency: 'XAF',
    });
    expect(balanceSchema.parse(payout.body)).toMatchObject({ service: 'Shop payouts', currency: 'XAF' });
  });

  it('makes up another balance at each request', async () => {
    const { get } = await startSandbox();
    const balances = [];
    for (let nth = 0; nth < 5; nth++)
      balances.push(balanceSchema.parse((await get('/balance')).body).balance);
    expect(new Set(balances).size).toBe(5);
    expect(balances.every((balance) => balance >= 0)).toBe(true);
  });
});
