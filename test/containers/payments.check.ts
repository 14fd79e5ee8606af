import { describe, expect, it } from '@jest/globals';
import { atCheckout } from '../../stack/demo/payer.js';
import { create, ends, expire, transactionsOf } from './merchant.js';

const PAYER = '677123000';
const link = (body: object = {}) => create('/v1/collections', { method: 'link', amount: 5_000, ...body });
const direct = (phone: string) => create('/v1/collections', { method: 'direct', amount: 2_500, phone });
const payout = (to: object) => create('/v1/payouts', { amount: 20_000, ...to });

describe('payments through the containers', () => {
  it('a link is paid, and the provider has one transaction of it', async () => {
    const created = await link();
    await atCheckout(created.link ?? '', { action: 'pay', phone: PAYER });
    expect(await ends(created)).toMatchObject({ status: 'SUCCESSFUL' });
    expect(await transactionsOf(created.id)).toHaveLength(1);
  });

  it('a link is declined, and paid after that', async () => {
    const created = await link();
    await atCheckout(created.link ?? '', { action: 'decline' });
    await atCheckout(created.link ?? '', { action: 'pay', phone: PAYER });
    expect(await ends(created)).toMatchObject({ status: 'SUCCESSFUL' });
  });

  it('a link expires when its time is over', async () => {
    expect(await ends(await link({ expiresIn: '10s' }))).toMatchObject({ status: 'EXPIRED' });
  });

  it('a link is expired by the merchant', async () => {
    const { id } = await link();
    expect(await expire(id)).toMatchObject({ status: 'EXPIRED', final: true });
  });

  it.each([
    ['that succeeds', '677000000', 'SUCCESSFUL'],
    ['that fails', '677000100', 'FAILED'],
  ])('a direct payment %s', async (_, phone, status) => {
    const created = await direct(phone);
    expect(await ends(created)).toMatchObject({ status });
    expect(await transactionsOf(created.id)).toHaveLength(1);
  });

  it.each([
    ['a phone that succeeds', { phone: '677000000' }, 'SUCCESSFUL'],
    ['a phone that fails', { phone: '677000100' }, 'FAILED'],
    ['an account that succeeds', { medium: 'platform', email: 'always.paid@example.com' }, 'SUCCESSFUL'],
    ['an account that fails', { medium: 'platform', email: 'never.paid@example.com' }, 'FAILED'],
  ])('a payout to %s', async (_, to, status) => {
    const created = await payout(to);
    expect(await ends(created)).toMatchObject({ status });
    expect(await transactionsOf(created.id)).toHaveLength(1);
  });
});
