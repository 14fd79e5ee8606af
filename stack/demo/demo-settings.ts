import type { Secrets } from '../processes/secrets.js';
import { type StackPorts, stackSettings, withoutSettings } from '../processes/settings.js';

/** Real seconds in which the sandbox's 24 hours pass. */
const DAY_IN_SECONDS = 15;

/**
 * The settings of the demo's processes: times that fit into half a minute, and nothing of the operator's own but
 * where Temporal is. The sandbox's clock and the link's lifetime are scaled alike, so that the workflow's timer and
 * the provider's own expiry come as close together as they do in life. Delays are the sandbox's clock's.
 */
export function demoSettings(
  own: NodeJS.ProcessEnv,
  ports: StackPorts,
  secrets: Secrets,
  merchantHook: { readonly url: string; readonly secret: string },
): NodeJS.ProcessEnv {
  return {
    ...withoutSettings(own),
    ...stackSettings(ports, secrets),
    SANDBOX_CLOCK_SCALE: String((24 * 60 * 60) / DAY_IN_SECONDS),
    SANDBOX_SETTLE_DELAY: '90m',
    SANDBOX_WEBHOOK_DELAY: '15m',
    LINK_LIFETIME: `${DAY_IN_SECONDS}s`,
    // One poll in a link's life leaves two of its three calls a minute for the end of it.
    POLL_FIRST: '8s',
    POLL_MAX: '1h',
    MERCHANT_WEBHOOK_URL: merchantHook.url,
    MERCHANT_WEBHOOK_SECRET: merchantHook.secret,
    MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
}
