import { describe, expect, it } from '@jest/globals';
import { readSettings, SettingsError } from '../../sandbox/settings.js';

const credentials = {
  PROVIDER_COLLECTION_API_USER: 'collector',
  PROVIDER_COLLECTION_API_KEY: 'key',
  PROVIDER_PAYOUT_API_USER: 'payer',
  PROVIDER_PAYOUT_API_KEY: 'key',
};

function mistakes(env: NodeJS.ProcessEnv): string[] {
  try {
    readSettings(env);
  } catch (error) {
    if (error instanceof SettingsError) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe("the sandbox's settings", () => {
  it('need nothing but the credentials', () => {
    expect(readSettings(credentials)).toMatchObject({ HOST: '127.0.0.1', SANDBOX_PORT: 4000 });
  });

  it('take durations in every unit, in ms', () => {
    const settings = { SANDBOX_WEBHOOK_DELAY: '1.5h', SANDBOX_SETTLE_DELAY: '0s' };
    expect(readSettings({ ...credentials, ...settings })).toMatchObject({
      SANDBOX_WEBHOOK_DELAY: 5_400_000,
      SANDBOX_SETTLE_DELAY: 0,
    });
  });

  it('take the slashes off the end of the public address', () => {
    expect(readSettings({ ...credentials, SANDBOX_PUBLIC_URL: 'https://pay.example/shop//' })).toMatchObject({
      SANDBOX_PUBLIC_URL: 'https://pay.example/shop',
    });
  });

  it('take an empty setting for one that is not set', () => {
    expect(readSettings({ ...credentials, SANDBOX_JOURNAL: '', SANDBOX_PORT: '' })).toMatchObject({
      SANDBOX_PORT: 4000,
    });
    expect(mistakes({ ...credentials, PROVIDER_PAYOUT_API_KEY: '' })).toEqual(['PROVIDER_PAYOUT_API_KEY is not set']);
  });

  it.each([
    ['PROVIDER_PAYOUT_API_KEY', 'clé\n', "contains characters that an HTTP header can't carry"],
    ['SANDBOX_PORT', '70000', 'must be a port, from 0 to 65535'],
    ['SANDBOX_PORT', 'http', 'must be a port, from 0 to 65535'],
    ['SANDBOX_WEBHOOK_DELAY', 'soon', 'must be a duration such as 500ms, 90s, 15m, 24h or 2d'],
    ['SANDBOX_SETTLE_DELAY', '25d', 'must be between 0s and 24d'],
    ['SANDBOX_CLOCK_SCALE', '0', 'must be a whole number from 1 to 9999999'],
    ['SANDBOX_SEED', '1.5', 'must be a whole number from 1 to 9999999'],
    ['SANDBOX_BALANCE', '-1', 'must be a whole number from 1 to 9999999'],
    ['SANDBOX_PUBLIC_URL', 'ftp://pay.example', 'must be an http or https address'],
    ['SANDBOX_WEBHOOK_URL', 'http://me:secret@shop.example', 'must not contain a user or a password'],
  ])('refuse %s=%s', (name, value, message) => {
    expect(mistakes({ ...credentials, [name]: value })).toEqual([`${name} ${message}`]);
  });

  it('name every mistake, each in one line', () => {
    expect(mistakes({ SANDBOX_PORT: 'x', LOG_LEVEL: 'loud' })).toEqual([
      'PROVIDER_COLLECTION_API_USER is not set',
      'PROVIDER_COLLECTION_API_KEY is not set',
      'PROVIDER_PAYOUT_API_USER is not set',
      'PROVIDER_PAYOUT_API_KEY is not set',
      expect.stringMatching(/^LOG_LEVEL /),
      'SANDBOX_PORT must be a port, from 0 to 65535',
    ]);
  });
});
