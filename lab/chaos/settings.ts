import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { isPortFree } from '../../stack/processes/ports.js';
import {
  makeSecrets,
  type StackPorts,
  stackSettings,
  withoutSettings,
} from '../../stack/processes/settings.js';
import { API_KEYS, MERCHANT_SECRET, SECRETS } from '../world/credentials.js';

/**
 * The settings of the four processes: short terms, so that a payment is through within a minute, and the provider's
 * clock at real time, so that its limit of six questions a minute is the true one. Its own end of a link, after a day,
 * doesn't come; Sanaga ends them.
 */
export function chaosSettings(
  own: NodeJS.ProcessEnv,
  ports: StackPorts,
  folder: string,
  merchantUrl: string,
): NodeJS.ProcessEnv {
  const keys = API_KEYS.map(({ name, scopes }) => [name, secretOf(name), scopes.join('+')].join(':'));
  return {
    ...withoutSettings(own),
    ...stackSettings(ports, makeSecrets()),
    API_KEYS: keys.join(','),
    PROVIDER_TIMEOUT: '3s',
    POLL_FIRST: '2s',
    POLL_MAX: '5s',
    AMBIGUOUS_GRACE: '35s',
    RESOLVE_AFTER: '40s',
    LINK_LIFETIME: '40s',
    SANDBOX_JOURNAL: join(folder, 'provider.jsonl'),
    MERCHANT_WEBHOOK_URL: merchantUrl,
    MERCHANT_WEBHOOK_SECRET: MERCHANT_SECRET,
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
}

function secretOf(name: string): string {
  const secret = Object.entries(SECRETS).find(([owner]) => owner === name)?.[1];
  if (secret === undefined) throw new Error(`there is no API key named ${name}`);
  return secret;
}

/** Below what systems hand out by themselves: from 32768 on Linux, from 49152 elsewhere. */
const [MIN_PORT, MAX_PORT] = [15_000, 30_000];

/**
 * A free port of 127.0.0.1 that stays free while its server is away: it is outside the range from which systems assign
 * ports to outgoing connections.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT);
    if (await isPortFree(port)) return port;
  }
}
