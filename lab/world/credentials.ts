import { sha256Of } from '../../src/settings/api-keys.js';
import type { Merchant, MerchantKey, Scope } from '../../src/settings/merchants.js';
import type { Decider, HoldLimits } from '../plan/planned-hold.js';
import { OWNERS, type Owner } from '../plan/planned-payment.js';

/** Secrets that open nothing but a simulation's own servers, which listen on this machine alone. */

export const CREDENTIALS = {
  collection: { apiUser: 'simulated-collector', apiKey: 'collector-key' },
  payout: { apiUser: 'simulated-payer', apiKey: 'payer-key' },
} as const;

export const WEBHOOK_TOKEN = 'a-token-for-the-simulation';

/** Base64 of 32 bytes, as Standard Webhooks has it. */
export const MERCHANT_SECRET = `whsec_${Buffer.alloc(32, 'simulation').toString('base64')}`;

/** A merchant's people, by the keys that they use. The merchant's own key is its clerk's, who has a second one. */
type Desk = 'clerkAgain' | 'accountant' | 'owner';

/** Who calls the API: a merchant's clerk, by the merchant's name, another of its people, or the operator. */
export type Caller = Owner | `${Owner}-${Desk}` | 'operator';

/** The secret of somebody's API key. */
export function secretOf(caller: Caller): string {
  return `key-of-${caller}-in-the-simulation`;
}

/** The key of somebody who decides on a merchant's payouts. */
export function callerOf(owner: Owner, decider: Decider): Caller {
  if (decider === 'clerk') return owner;
  const other = OWNERS.find((one) => one !== owner) ?? owner;
  return decider === 'stranger' ? `${other}-accountant` : `${owner}-${decider}`;
}

const CLERK: readonly Scope[] = ['collections', 'payouts', 'read', 'balance', 'refunds', 'approve'];

function keyOf(caller: Caller, person: string, scopes: readonly Scope[]): MerchantKey {
  return { sha256: sha256Of(secretOf(caller)), person, scopes };
}

/** The merchants, with these limits, and the operator; without webhooks. */
export function merchantsWith({ approveAbove, approvalWithinMs }: HoldLimits): readonly Merchant[] {
  const merchants = OWNERS.map(
    (owner): Merchant => ({
      name: owner,
      keys: [
        keyOf(owner, `${owner}-clerk`, CLERK),
        keyOf(`${owner}-clerkAgain`, `${owner}-clerk`, ['approve']),
        keyOf(`${owner}-accountant`, `${owner}-accountant`, ['approve']),
        keyOf(`${owner}-owner`, `${owner}-owner`, ['approve']),
      ],
      webhooks: [],
      limits: { approveAbove, approvalWithin: approvalWithinMs },
    }),
  );
  return [
    ...merchants,
    { name: 'operator', keys: [keyOf('operator', 'operator', ['read', 'review'])], webhooks: [], limits: {} },
  ];
}
