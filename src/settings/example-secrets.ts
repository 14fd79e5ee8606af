import { sha256Of } from './api-keys.js';
import type { MerchantKey } from './merchants.js';
import { isSandbox } from './provider-address.js';

/** The secrets of `.env.example`, which everybody can read: they are for a trial with the sandbox alone. */
const EXAMPLES = [
  'example-api-key-for-a-trial',
  'example-operator-key-for-a-trial',
  'example-approver-key-for-a-trial',
  'example-webhook-token',
  'example-collection-user',
  'example-collection-key',
  'example-payout-user',
  'example-payout-key',
  'example0password',
  'example1password',
  'example2password',
  'example3password',
  'ZXhhbXBsZSBrZXkgdGhhdCBldmVyeWJvZHkga25vd3M=',
];

const DIGESTS = new Set(EXAMPLES.map(sha256Of));

/** A process's input: settings as text, and the keys that may call it. */
interface Given {
  readonly settings: Readonly<Record<string, string | undefined>>;
  readonly keys: readonly Pick<MerchantKey, 'sha256'>[];
}

/**
 * The settings that hold an example although the provider isn't known to be the sandbox, each with what is wrong.
 *
 * @param secrets the names of the settings to look at
 */
export function exampleSecrets({ settings, keys }: Given, secrets: readonly string[]): string[] {
  if ([settings.PROVIDER_COLLECTION_URL, settings.PROVIDER_PAYOUT_URL].every(isSandbox)) return [];
  const hasExample = (name: string) => EXAMPLES.some((example) => settings[name]?.includes(example));
  const isExampleKey = keys.some(({ sha256 }) => DIGESTS.has(sha256));
  const named = secrets.filter(hasExample);
  const keySetting = settings.MERCHANTS_FILE === undefined ? 'API_KEYS' : 'MERCHANTS_FILE';
  return [...new Set([...named, ...(isExampleKey ? [keySetting] : [])])].map(
    (name) =>
      `${name} has a secret of .env.example, which everybody can read: it must be one of your own, unless PROVIDER_COLLECTION_URL and PROVIDER_PAYOUT_URL are the sandbox's`,
  );
}
