import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { readLedger } from '../../stack/demo/ledger.js';
import { createMerchant, type PaymentAnswer } from '../../stack/demo/merchant.js';
import { atCheckout } from '../../stack/demo/payer.js';

/** A merchant of docker-compose.yml's API, with the key of .env.example. */

const API = 'http://127.0.0.1:3000';
const SANDBOX = 'http://127.0.0.1:4000';
export const MERCHANT_KEY = 'example-api-key-for-a-trial';
export const OPERATOR_KEY = 'example-operator-key-for-a-trial';

const merchant = createMerchant({
  apiUrl: API,
  apiKey: MERCHANT_KEY,
  // It has no address for notifications: it looks twice a second.
  nextNotification: () => pause(60_000, undefined, { ref: false }),
});

export const { get, expire } = merchant;

export const create = (path: string, body: object) => merchant.create(path, body, randomUUID());

/** Follows a payment to its end. */
export const ends = ({ id }: Pick<PaymentAnswer, 'id'>, limitMs = 240_000) =>
  merchant.waitUntil(id, ({ final }) => final, { limitMs });

/** What the provider knows of a payment. */
export async function transactionsOf(id: string) {
  const ledger = await readLedger(SANDBOX);
  return ledger.filter(({ transaction }) => transaction.externalId === id);
}

/** Payments of each kind, under way. */
export interface Begun {
  readonly link: PaymentAnswer;
  readonly others: readonly PaymentAnswer[];
}

/** Begins a link, a direct payment and a payout, the latter of which succeed some seconds later. */
export async function begin(): Promise<Begun> {
  const phone = '677000206';
  const [link, ...others] = await Promise.all([
    create('/v1/collections', { method: 'link', amount: 5_000 }),
    create('/v1/collections', { method: 'direct', amount: 2_500, phone }),
    create('/v1/payouts', { amount: 20_000, phone }),
  ]);
  return { link, others };
}

/** Sees each of them end well, the link once it is paid, with one transaction at the provider. */
export async function endWell({ link, others }: Begun): Promise<void> {
  const open = await get(link.id);
  if (!open.final) await atCheckout(link.link ?? '', { action: 'pay', phone: '677123000' }).catch(() => undefined);
  for (const begun of [link, ...others]) {
    expect(await ends(begun)).toMatchObject({ status: 'SUCCESSFUL' });
    expect(await transactionsOf(begun.id)).toHaveLength(1);
  }
}
