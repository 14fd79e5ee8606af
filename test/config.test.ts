import { describe, expect, it } from '@jest/globals';
import { ConfigError, readConfig } from '../src/config.js';

const provider = {
  PROVIDER_COLLECTION_URL: 'http://127.0.0.1:4000',
  PROVIDER_COLLECTION_API_USER: 'collector',
  PROVIDER_COLLECTION_API_KEY: 'key',
  PROVIDER_PAYOUT_URL: 'http://127.0.0.1:4000',
  PROVIDER_PAYOUT_API_USER: 'payer',
  PROVIDER_PAYOUT_API_KEY: 'key',
};
const api = {
  ...provider,
  WEBHOOK_TOKEN: '0123456789abcdef',
  API_KEYS: 'shop:secret-secret:collections+read',
};

function mistakes(part: 'api' | 'worker', env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(part, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('the settings', () => {
  it('have the documented defaults', () => {
    expect(readConfig('api', api)).toMatchObject({
      PORT: 3_000,
      TEMPORAL_TASK_QUEUE: 'payments',
      PROVIDER_TIMEOUT: 15_000,
      LINK_LIFETIME: 24 * 60 * 60 * 1_000,
      AMBIGUOUS_POLICY: 'review',
    });
  });

  it('take durations as people write them', () => {
    expect(readConfig('api', { ...api, POLL_FIRST: '90s', POLL_MAX: '1.5h' })).toMatchObject({
      POLL_FIRST: 90_000,
      POLL_MAX: 5_400_000,
    });
  });

  it('take an empty setting for one that is not set', () => {
    expect(readConfig('api', { ...api, PORT: '' }).PORT).toBe(3_000);
  });

  it('name every mistake, each in one line', () => {
    const wrong = { ...api, PORT: '70000', POLL_FIRST: 'soon', AMBIGUOUS_POLICY: 'maybe', WEBHOOK_TOKEN: '' };
    expect(mistakes('api', wrong)).toEqual([
      'POLL_FIRST is not a duration: write it like 500ms, 90s, 15m, 24h or 2d',
      'AMBIGUOUS_POLICY is neither review nor resend',
      'PORT is not a port: at most 65535',
      'WEBHOOK_TOKEN is not set',
    ]);
  });

  it('refuse a link that would outlive the provider’s', () => {
    expect(mistakes('api', { ...api, LINK_LIFETIME: '25h' })).toEqual([
      'LINK_LIFETIME is longer than the 24h that a link lives',
    ]);
  });

  it('read API keys, plain or as a digest', () => {
    const digest = 'a'.repeat(64);
    expect(
      readConfig('api', { ...api, API_KEYS: `shop:secret-secret:read,ops:sha256-${digest}:review+read` })
        .API_KEYS,
    ).toEqual([
      { name: 'shop', secret: { plain: 'secret-secret' }, scopes: ['read'] },
      { name: 'ops', secret: { sha256: digest }, scopes: ['review', 'read'] },
    ]);
  });

  it('show no secret when an API key is wrong', () => {
    const lines = mistakes('api', { ...api, API_KEYS: 'shop:hush-hush-hush:everything,nonsense-secret' });
    expect(lines).toEqual([
      'API_KEYS entry 1 (shop) has an unknown scope; the scopes are collections, payouts, read, balance, review',
      'API_KEYS entry 2 is not of the form name:secret:scope+scope (a secret has at least 8 characters)',
    ]);
  });

  it('want a secret for an address that notifications go to', () => {
    expect(mistakes('worker', { ...provider, MERCHANT_WEBHOOK_URL: 'https://shop.example/hook' })).toEqual([
      'MERCHANT_WEBHOOK_SECRET has to be set when MERCHANT_WEBHOOK_URL is: notifications are never sent unsigned',
    ]);
  });

  it('want a webhook secret that Standard Webhooks can sign with', () => {
    const good = Buffer.alloc(32).toString('base64');
    expect(mistakes('worker', { ...provider, MERCHANT_WEBHOOK_SECRET: `whsec_${good}` })).toEqual([]);
    expect(mistakes('worker', { ...provider, MERCHANT_WEBHOOK_SECRET: 'short' })).toHaveLength(1);
  });
});
