import { sha256Of } from './api-keys.js';
import type { MerchantKey } from './merchants.js';

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
  'ZXhhbXBsZSBrZXkgdGhhdCBldmVyeWJvZHkga25vd3M=',
];

const DIGESTS = new Set(EXAMPLES.map(sha256Of));

/** A process's input: settings as text, and the keys that may call it. */
interface Given {
  readonly settings: Readonly<Record<string, string | undefined>>;
  readonly keys: readonly Pick<MerchantKey, 'sha256'>[];
}

/**
 * The settings that hold an example although the provider isn't the sandbox, each with what is wrong.
 *
 * @param secrets the names of the settings to look at
 */
export function exampleSecrets({ settings, keys }: Given, secrets: readonly string[]): string[] {
  const { PROVIDER_COLLECTION_URL, PROVIDER_PAYOUT_URL } = settings;
  const addresses = [PROVIDER_COLLECTION_URL, PROVIDER_PAYOUT_URL].filter((one) => one !== undefined);
  if (addresses.every(canBeSandbox)) return [];
  const hasExample = (name: string) => EXAMPLES.some((example) => settings[name]?.includes(example));
  const isExampleKey = keys.some(({ sha256 }) => DIGESTS.has(sha256));
  const named = secrets.filter(hasExample);
  const keySetting = settings.MERCHANTS_FILE === undefined ? 'API_KEYS' : 'MERCHANTS_FILE';
  return [...new Set([...named, ...(isExampleKey ? [keySetting] : [])])].map(
    (name) =>
      `${name} has a secret of .env.example, which everybody can read: with a provider that is not the sandbox, it must be one of your own`,
  );
}

/**
 * Reports whether an address can be the sandbox's: on this machine, or under a name without a dot, as containers call
 * each other. The provider's own is on the internet.
 */
function canBeSandbox(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? '';
  return !host.includes('.') || /^127(?:\.\d{1,3}){3}$/.test(host) || host.endsWith('.localhost');
}
