import type { Secrets } from './secrets.js';

/** The name of the merchant's API key; idempotency keys are held apart by it, so it never changes. */
const KEY_OWNER = 'merchant';

const HOST = '127.0.0.1';

export interface StackPorts {
  readonly api: number;
  readonly sandbox: number;
}

/** Where the parts of a stack are reached. */
export function addressesOf({ api, sandbox }: StackPorts) {
  return { apiUrl: `http://${HOST}:${api}`, sandboxUrl: `http://${HOST}:${sandbox}` };
}

/** The settings that fit the parts of one stack to each other, on this machine alone. */
export function stackSettings(ports: StackPorts, secrets: Secrets): Record<string, string> {
  const { apiUrl, sandboxUrl } = addressesOf(ports);
  return {
    HOST,
    PORT: String(ports.api),
    API_KEYS: `${KEY_OWNER}:${secrets.apiKey}:collections+payouts+read+balance+review`,
    WEBHOOK_TOKEN: secrets.webhookToken,
    PROVIDER_COLLECTION_URL: sandboxUrl,
    PROVIDER_COLLECTION_API_USER: 'sandbox-collections',
    PROVIDER_COLLECTION_API_KEY: secrets.collectionApiKey,
    PROVIDER_PAYOUT_URL: sandboxUrl,
    PROVIDER_PAYOUT_API_USER: 'sandbox-payouts',
    PROVIDER_PAYOUT_API_KEY: secrets.payoutApiKey,
    SANDBOX_PORT: String(ports.sandbox),
    SANDBOX_WEBHOOK_URL: `${apiUrl}/webhooks/provider/${secrets.webhookToken}`,
  };
}

const OURS =
  /^(HOST|PORT|LOG_LEVEL|API_KEYS|WEBHOOK_TOKEN|LINK_LIFETIME|RESOLVE_AFTER|SEND_BY|(PROVIDER|SANDBOX|WORKER|MERCHANT|POLL|AMBIGUOUS)_.*|TEMPORAL_(TASK_QUEUE|UI_URL))$/;

/** An environment without any setting of ours, for a stack that is to be the same wherever it runs. */
export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.test(name)));
}
