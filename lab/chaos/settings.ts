import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasPayments } from '../../src/settings/merchants.js';
import { makeSecrets, type StackPorts, stackSettings, withoutSettings } from '../../stack/processes/settings.js';
import { CHAOS_LIMITS } from '../plan/planned-hold.js';
import { MERCHANT_SECRET, merchantsWith } from '../world/credentials.js';

/**
 * The settings of the four processes: short terms, so that a payment is through within a minute, and the provider's
 * clock at real time, so that its limit of six questions a minute is the true one. Its own end of a link, after a day,
 * doesn't come; Sanaga ends them. The merchants are written to a file in the folder.
 */
export function chaosSettings(
  own: NodeJS.ProcessEnv,
  ports: StackPorts,
  folder: string,
  merchantUrl: string,
): NodeJS.ProcessEnv {
  const merchants = merchantsWith(CHAOS_LIMITS).map(({ limits: { approvalWithin, ...limits }, ...merchant }) => ({
    ...merchant,
    limits: { ...limits, ...(approvalWithin !== undefined && { approvalWithin: `${approvalWithin}ms` }) },
    webhooks: hasPayments(merchant) ? [{ url: merchantUrl, secrets: [MERCHANT_SECRET] }] : [],
  }));
  const merchantsFile = join(folder, 'merchants.json');
  writeFileSync(merchantsFile, JSON.stringify({ merchants }));
  return {
    ...withoutSettings(own),
    ...stackSettings(ports, makeSecrets()),
    API_KEYS: '',
    MERCHANTS_FILE: merchantsFile,
    MAX_REQUESTS_PER_MINUTE: '9999999',
    MAX_CONCURRENT_REQUESTS: '9999999',
    MAX_ACTIVE_REQUESTS: '9999999',
    PROVIDER_TIMEOUT: '3s',
    POLL_FIRST: '2s',
    POLL_MAX: '5s',
    AMBIGUOUS_GRACE: '35s',
    RESOLVE_AFTER: '40s',
    LINK_LIFETIME: '40s',
    SANDBOX_JOURNAL: join(folder, 'provider.jsonl'),
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
}
