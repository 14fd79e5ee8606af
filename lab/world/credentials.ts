import { sha256Of } from '../../src/settings/api-keys.js';
import { merchantsIn, type NamedKey } from '../../src/settings/merchants.js';

/** Secrets that open nothing but a simulation's own servers, which listen on this machine alone. */

export const CREDENTIALS = {
  collection: { apiUser: 'simulated-collector', apiKey: 'collector-key' },
  payout: { apiUser: 'simulated-payer', apiKey: 'payer-key' },
} as const;

export const WEBHOOK_TOKEN = 'a-token-for-the-simulation';

/** Base64 of 32 bytes, as Standard Webhooks has it. */
export const MERCHANT_SECRET = `whsec_${Buffer.alloc(32, 'simulation').toString('base64')}`;

/** The API keys, by their owners' names. */
export const SECRETS = {
  shop: 'key-of-the-shop',
  market: 'key-of-the-market',
  operator: 'key-of-the-operator',
};

const KEYS: readonly NamedKey[] = [
  {
    name: 'shop',
    sha256: sha256Of(SECRETS.shop),
    scopes: ['collections', 'payouts', 'read', 'balance'],
  },
  {
    name: 'market',
    sha256: sha256Of(SECRETS.market),
    scopes: ['collections', 'payouts', 'read', 'balance'],
  },
  { name: 'operator', sha256: sha256Of(SECRETS.operator), scopes: ['read', 'review'] },
];

/** The merchants and the operator, without webhooks or limits. */
export const MERCHANTS = merchantsIn({ API_KEYS: KEYS });
