import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../../sandbox/settings.js';
import { PROVIDER_LINK_LIFETIME_MS } from '../../../src/payments/words/limits.js';
import { readConfig } from '../../../src/settings/read-settings.js';
import { demoSettings } from '../../../stack/demo/run-demo.js';
import { makeSecrets } from '../../../stack/processes/settings.js';

const hook = {
  url: 'http://127.0.0.1:5000/notifications',
  secret: `whsec_${randomBytes(32).toString('base64')}`,
};
const settings = (own: NodeJS.ProcessEnv = {}) =>
  demoSettings(own, { api: 3100, sandbox: 4100, book: 5544 }, makeSecrets(), hook);

describe("the demo's settings", () => {
  it("let a link live as long for Sanaga as for the sandbox's clock", () => {
    const { SANDBOX_CLOCK_SCALE } = readSettings(settings());
    expect(readConfig('api', settings()).LINK_LIFETIME).toBe(PROVIDER_LINK_LIFETIME_MS / SANDBOX_CLOCK_SCALE);
  });

  it('tell the merchant at the address that was opened, though it is on this machine', () => {
    const env = settings();
    expect(readConfig('worker', env).MERCHANT_WEBHOOK_ALLOW_PRIVATE).toBe(true);
    expect([env.MERCHANT_WEBHOOK_URL, env.MERCHANT_WEBHOOK_SECRET]).toEqual([hook.url, hook.secret]);
  });

  it("are the same whatever the operator's own are, but for where Temporal is", () => {
    const env = settings({ PORT: '80', LINK_LIFETIME: '1h', WORKER_BUILD_ID: 'b', TEMPORAL_ADDRESS: 'a:1' });
    expect(readConfig('api', env)).toMatchObject({ PORT: 3100, LINK_LIFETIME: 15_000 });
    expect(env.WORKER_BUILD_ID).toBeUndefined();
    expect(env.TEMPORAL_ADDRESS).toBe('a:1');
  });

  it('encrypt with a key of its own, even if the operator does without', () => {
    const keys = (env: NodeJS.ProcessEnv) => readConfig('worker', env).ENCRYPTION_KEYS?.map(({ id }) => id);
    expect(readConfig('worker', settings({ ENCRYPTION: 'off' })).ENCRYPTION).toBe('on');
    expect(keys(settings())).not.toEqual(keys(settings()));
  });
});
