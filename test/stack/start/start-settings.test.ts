import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../src/settings/config-error.js';
import { readConfig } from '../../../src/settings/read-settings.js';
import { makeSecrets } from '../../../stack/processes/settings.js';
import { startSettings } from '../../../stack/start/start-settings.js';

const secrets = makeSecrets();
const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const settings = (own: NodeJS.ProcessEnv) => startSettings(own, secrets, webhookSecret);

describe('the settings of start', () => {
  it('have the usual ports', async () => {
    const { ports, temporalPorts, env, taskQueue } = await settings({});
    expect(ports).toEqual({ api: 3000, sandbox: 4000, desk: 3001, codec: 8234, book: expect.any(Number) });
    expect(env.DATABASE_URL).toBe(`postgres://sanaga:${secrets.bookPassword}@127.0.0.1:${ports.book}/book`);
    expect(temporalPorts).toEqual({ frontend: 7233, ui: 8233 });
    expect(taskQueue).toBe('payments');
    expect(env.PROVIDER_PAYOUT_URL).toBe('http://127.0.0.1:4000');
  });

  it("take the operator's ports everywhere", async () => {
    const { ports, temporalPorts, env } = await settings({
      PORT: '3100',
      SANDBOX_PORT: '4100',
      DESK_PORT: '3101',
      TEMPORAL_PORT: '7333',
      TEMPORAL_UI_PORT: '8333',
      CODEC_PORT: '8334',
    });
    expect(ports).toMatchObject({ api: 3100, sandbox: 4100, desk: 3101, codec: 8334 });
    expect(env).toMatchObject({
      DESK_PORT: '3101',
      DESK_API_URL: 'http://127.0.0.1:3100',
      CODEC_PORT: '8334',
    });
    expect(temporalPorts).toEqual({ frontend: 7333, ui: 8333 });
    expect(env.PROVIDER_COLLECTION_URL).toBe('http://127.0.0.1:4100');
    expect(env.SANDBOX_WEBHOOK_URL).toMatch('http://127.0.0.1:3100/webhooks/provider/');
  });

  it("leave the book to the operator's database, where one is set", async () => {
    const DATABASE_URL = 'postgres://sanaga@127.0.0.1:5432/book';
    const { ports, env } = await settings({ DATABASE_URL });
    expect(ports.book).toBeUndefined();
    expect(env.DATABASE_URL).toBe(DATABASE_URL);
  });

  it('find a free port for 0', async () => {
    const { ports } = await settings({ PORT: '0', SANDBOX_PORT: '0', DESK_PORT: '0', CODEC_PORT: '0' });
    expect(ports.api).toBeGreaterThan(0);
    expect(ports.sandbox).toBeGreaterThan(0);
    expect(ports.desk).toBeGreaterThan(0);
    expect(ports.codec).toBeGreaterThan(0);
  });

  it("let the operator's API keys and other settings hold", async () => {
    const own = {
      API_KEYS: 'shop:a-secret-that-is-long-enough:read',
      LINK_LIFETIME: '2h',
      TEMPORAL_TASK_QUEUE: 'mine',
    };
    const { env, keyNames, taskQueue } = await settings(own);
    expect(env).toMatchObject(own);
    expect(keyNames).toEqual(['shop']);
    expect(taskQueue).toBe('mine');
  });

  it("encrypt with the folder's key, unless the operator has keys or wants none", async () => {
    const ids = (env: NodeJS.ProcessEnv) => readConfig('worker', env).ENCRYPTION_KEYS?.map(({ id }) => id);
    const [folders] = secrets.encryptionKeys.split(':');
    expect(ids((await settings({})).env)).toEqual([folders]);
    const own = { ENCRYPTION_KEYS: makeSecrets().encryptionKeys.replace(/^[^:]+/, 'mine') };
    expect(ids((await settings(own)).env)).toEqual(['mine']);
    const { env } = await settings({ ENCRYPTION: 'off' });
    // What was encrypted before stays readable.
    expect([readConfig('api', env).ENCRYPTION, ids(env)]).toEqual(['off', [folders]]);
  });

  it('let the merchant be on this machine, unless the operator says otherwise', async () => {
    expect((await settings({})).env.MERCHANT_WEBHOOK_ALLOW_PRIVATE).toBe('true');
    const strict = { MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'false' };
    expect((await settings(strict)).env).toMatchObject(strict);
  });

  describe('send notifications', () => {
    const generated = { MERCHANT_WEBHOOK_SECRET: webhookSecret };
    const merchantsFile = fileURLToPath(new URL('../../fixtures/merchants.json', import.meta.url));

    it('to sanaga listen, signed with the generated secret', async () => {
      const { env, notifications } = await settings({});
      expect(notifications).toEqual({ kind: 'listen', port: 4242 });
      expect(env).toMatchObject({ MERCHANT_WEBHOOK_URL: 'http://127.0.0.1:4242/', ...generated });
      expect(readConfig('worker', env)).toMatchObject({ MERCHANT_WEBHOOK_SECRET: [webhookSecret] });
    });

    it("to sanaga listen at the operator's port", async () => {
      const { env, notifications } = await settings({ LISTEN_PORT: '4343' });
      expect(notifications).toEqual({ kind: 'listen', port: 4343 });
      expect(env.MERCHANT_WEBHOOK_URL).toBe('http://127.0.0.1:4343/');
    });

    it("to the operator's address, with the operator's secret", async () => {
      const own = {
        MERCHANT_WEBHOOK_URL: 'https://shop.example/token-of-ours',
        MERCHANT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 8).toString('base64')}`,
      };
      const { env, notifications } = await settings(own);
      expect(notifications).toEqual({ kind: 'url', origin: 'https://shop.example' });
      expect(env).toMatchObject(own);
    });

    it("to the addresses of the operator's merchants", async () => {
      const { env, notifications } = await settings({ MERCHANTS_FILE: merchantsFile });
      expect(notifications).toEqual({ kind: 'merchantsFile' });
      expect(env.MERCHANT_WEBHOOK_URL).toBeUndefined();
    });

    it.each([
      [
        'API_KEYS are of several merchants',
        {
          API_KEYS: 'shop:a-secret-that-is-long-enough:payouts,market:another-secret-that-is-long-enough:payouts',
        },
      ],
      ["a secret is the operator's, without an address", generated],
      ['this machine is not allowed', { MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'false' }],
    ])('to nobody when %s', async (_, own) => {
      const { env, notifications } = await settings(own);
      expect(notifications).toEqual({ kind: 'none' });
      expect(env.MERCHANT_WEBHOOK_URL).toBeUndefined();
    });
  });

  describe('with the example shop', () => {
    const shopSettings = (own: NodeJS.ProcessEnv) => startSettings(own, secrets, webhookSecret, true);

    it('send notifications to it, signed with the generated secret', async () => {
      const { env, notifications } = await shopSettings({ SHOP_PORT: '8181' });
      expect(notifications).toEqual({ kind: 'shop', port: 8181 });
      expect(env).toMatchObject({
        MERCHANT_WEBHOOK_URL: 'http://127.0.0.1:8181/webhooks/sanaga',
        MERCHANT_WEBHOOK_SECRET: webhookSecret,
        MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'true',
      });
      expect((await shopSettings({})).notifications).toEqual({ kind: 'shop', port: 8080 });
    });

    it.each([
      { MERCHANT_WEBHOOK_URL: 'https://shop.example' },
      { MERCHANT_WEBHOOK_SECRET: webhookSecret },
      { MERCHANT_WEBHOOK_ALLOW_PRIVATE: 'false' },
      { MERCHANTS_FILE: fileURLToPath(new URL('../../fixtures/merchants.json', import.meta.url)) },
      { API_KEYS: 'shop:a-secret-that-is-long-enough:payouts' },
    ])('refuse %j, and say what to do', async (own) => {
      const refused = shopSettings(own);
      await expect(refused).rejects.toThrow(ConfigError);
      const [name = ''] = Object.keys(own);
      await expect(refused).rejects.toThrow(
        new RegExp(`^${name} must not be set for the example shop.* unset it`, 'm'),
      );
    });
  });

  it('never lead to another provider than the sandbox', async () => {
    const { env } = await settings({ PROVIDER_COLLECTION_URL: 'https://provider.example' });
    expect(env.PROVIDER_COLLECTION_URL).toBe('http://127.0.0.1:4000');
  });

  it('say every mistake of every part, each in one line', async () => {
    const wrong = settings({
      PORT: 'http',
      SANDBOX_CLOCK_SCALE: '0',
      WORKER_SHUTDOWN_GRACE: 'soon',
      TEMPORAL_PORT: '99999',
    });
    await expect(wrong).rejects.toThrow(ConfigError);
    const lines = await wrong.catch((error: Error) => error.message.split('\n'));
    expect(lines).toHaveLength(4);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^PORT /),
        expect.stringMatching(/^SANDBOX_CLOCK_SCALE /),
        expect.stringMatching(/^WORKER_SHUTDOWN_GRACE /),
        expect.stringMatching(/^TEMPORAL_PORT /),
      ]),
    );
  });
});
