import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readSettings } from '../../../sandbox/settings.js';
import { apiKeys, sha256Of } from '../../../src/settings/api-keys.js';
import { readConfig } from '../../../src/settings/read-settings.js';
import { SECRET_SETTINGS } from '../../../src/settings/secret-files.js';
import {
  existingSecrets,
  existingWebhookSecret,
  keptSecrets,
  keptWebhookSecret,
  makeSecrets,
  settingsToTell,
  stackSettings,
  withoutSettings,
} from '../../../stack/processes/settings.js';

describe("a stack's settings", () => {
  const secrets = makeSecrets();
  const env = stackSettings({ api: 3100, sandbox: 4100, book: 5544 }, secrets);

  it('are all that its processes need', () => {
    expect(readConfig('api', env).PORT).toBe(3100);
    expect(readSettings(env).SANDBOX_PORT).toBe(4100);
    expect(readConfig('worker', env).PROVIDER_COLLECTION_URL).toBe('http://127.0.0.1:4100');
  });

  it('lead the desk, if there is one, to the API, and give it no secret', () => {
    expect(Object.keys(env).filter((name) => name.startsWith('DESK_'))).toEqual([]);
    const withDesk = stackSettings({ api: 3100, sandbox: 4100, desk: 3101 }, secrets);
    const desk = readConfig('desk', withDesk);
    expect(desk).toMatchObject({ DESK_PORT: 3101, DESK_API_URL: 'http://127.0.0.1:3100' });
    expect(JSON.stringify(desk)).not.toContain(secrets.apiKey);
  });

  it('keep every part on this machine', () => {
    expect(readConfig('api', env).HOST).toBe('127.0.0.1');
    expect(readSettings(env).HOST).toBe('127.0.0.1');
  });

  it("lead the sandbox's notifications to the API, with the token", () => {
    const { SANDBOX_WEBHOOK_URL } = readSettings(env);
    const { WEBHOOK_TOKEN } = readConfig('api', env);
    expect(SANDBOX_WEBHOOK_URL).toBe(`http://127.0.0.1:3100/webhooks/provider/${WEBHOOK_TOKEN}`);
  });

  it('give the key the scopes of a merchant and of an operator, and another person one that approves', () => {
    expect(readConfig('api', env).API_KEYS).toEqual([
      {
        name: 'merchant',
        person: 'merchant',
        sha256: sha256Of(secrets.apiKey),
        scopes: ['collections', 'payouts', 'refunds', 'read', 'balance', 'review'],
      },
      {
        name: 'merchant',
        person: 'accountant',
        sha256: sha256Of(secrets.approverKey ?? ''),
        scopes: ['approve'],
      },
    ]);
  });
});

describe('an environment without settings', () => {
  it('keeps what the machine and Temporal need, and nothing of ours', () => {
    const machine = { PATH: '/bin', TEMPORAL_ADDRESS: 'a:1', TEMPORAL_NAMESPACE: 'n', TEMPORAL_API_KEY: 'k' };
    const ours = {
      PORT: '80',
      HOST: '0.0.0.0',
      LOG_LEVEL: 'silent',
      API_KEYS: 'a',
      WEBHOOK_TOKEN: 't',
      LINK_LIFETIME: '1h',
      POLL_FIRST: '1s',
      AMBIGUOUS_POLICY: 'resend',
      PROVIDER_TIMEOUT: '1s',
      SANDBOX_SEED: '2',
      WORKER_BUILD_ID: 'b',
      MERCHANT_WEBHOOK_URL: 'http://shop.example',
      TEMPORAL_TASK_QUEUE: 'q',
      TEMPORAL_UI_URL: 'http://ui.example',
      ENCRYPTION: 'off',
      ENCRYPTION_KEYS_FILE: '/keys',
      CODEC_UI_TOKEN: 't',
    };
    expect(withoutSettings({ ...machine, ...ours })).toEqual(machine);
  });
});

describe('secrets', () => {
  let folder: string;

  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'sanaga-test-')), 'state');
  });

  afterEach(async () => {
    await rm(join(folder, '..'), { recursive: true, force: true });
  });

  const permissions = async (path: string) => (await stat(path)).mode & 0o777;

  it('are all different, and new each time', () => {
    const all = [...Object.values(makeSecrets()), ...Object.values(makeSecrets())];
    expect(new Set(all).size).toBe(all.length);
  });

  it('are kept from one start to the next', async () => {
    const first = await keptSecrets(folder);
    expect(await keptSecrets(folder)).toEqual(first);
  });

  it('are readable for their owner alone', async () => {
    await keptSecrets(folder);
    expect(await permissions(folder)).toBe(0o700);
    expect(await permissions(join(folder, 'secrets.json'))).toBe(0o600);
    expect(await permissions(join(folder, 'encryption-keys'))).toBe(0o600);
    expect(await permissions(join(folder, 'approver-key'))).toBe(0o600);
    expect(await permissions(join(folder, 'book-password'))).toBe(0o600);
  });

  it('are the same for two that start at the same time', async () => {
    const [one, other] = await Promise.all([keptSecrets(folder), keptSecrets(folder)]);
    expect(one).toEqual(other);
    expect((await readdir(folder)).sort()).toEqual([
      'approver-key',
      'book-password',
      'encryption-keys',
      'secrets.json',
    ]);
  });

  it('get an encryption key in a folder that has none yet, and keep those that it has', async () => {
    await mkdir(folder);
    await keptWebhookSecret(folder);
    const { encryptionKeys } = await keptSecrets(folder);
    expect(encryptionKeys).toMatch(/^key-[0-9a-f]{8}:[A-Za-z0-9+/]{43}=$/);
    const rotated = `${makeSecrets().encryptionKeys}\n${encryptionKeys}`;
    await writeFile(join(folder, 'encryption-keys'), `${rotated}\n`);
    expect((await keptSecrets(folder)).encryptionKeys).toBe(rotated);
    expect((await existingSecrets(folder))?.encryptionKeys).toBe(rotated);
  });

  it('get an approver’s key in a folder of an earlier version, which is read without one until then', async () => {
    const { approverKey: _, ...others } = await keptSecrets(folder);
    await rm(join(folder, 'approver-key'));
    const existing = await existingSecrets(folder);
    expect(existing).toEqual({ ...others, approverKey: undefined });
    const env = stackSettings({ api: 3100, sandbox: 4100, book: 5544 }, existing ?? makeSecrets());
    expect(readConfig('api', env).API_KEYS).toHaveLength(1);
    const again = await keptSecrets(folder);
    expect(again).toEqual({ ...others, approverKey: expect.stringMatching(/^sk_[A-Za-z0-9_-]{32}$/) });
    expect(await existingSecrets(folder)).toEqual(again);
  });

  it('of webhooks are in a file of their own, kept, and readable for their owner alone', async () => {
    expect(await existingWebhookSecret(folder)).toBeUndefined();
    const [one, other] = await Promise.all([keptWebhookSecret(folder), keptWebhookSecret(folder)]);
    expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect([other, await keptWebhookSecret(folder), await existingWebhookSecret(folder)]).toEqual([one, one, one]);
    expect(await readdir(folder)).toEqual(['webhook-secret']);
    expect(await permissions(join(folder, 'webhook-secret'))).toBe(0o600);
  });

  it('of webhooks are never replaced when the file holds none', async () => {
    await keptWebhookSecret(folder);
    const file = join(folder, 'webhook-secret');
    await writeFile(file, 'whsec_short');
    await expect(keptWebhookSecret(folder)).rejects.toThrow(/webhook-secret holds no webhook secret: remove it/);
    expect(await readFile(file, 'utf8')).toBe('whsec_short');
  });

  it.each(['', 'nonsense', '{"apiKey": "short"}'])('are never replaced when the file holds "%s"', async (content) => {
    await keptSecrets(folder);
    const file = join(folder, 'secrets.json');
    await writeFile(file, content);
    await expect(keptSecrets(folder)).rejects.toThrow(/secrets\.json can't be read: remove it/);
    expect(await readFile(file, 'utf8')).toBe(content);
  });
});

describe('what is told of settings', () => {
  it('has no secret, and of one in a file the path', () => {
    const secrets = [
      ...SECRET_SETTINGS,
      'TEMPORAL_API_KEY',
      'TEMPORAL_TLS_CLIENT_KEY_DATA',
      'TEMPORAL_GRPC_META_AUTHORIZATION',
    ];
    const told = {
      MERCHANTS_FILE: 'm.json',
      API_KEYS_FILE: 'keys',
      TEMPORAL_ADDRESS: 'a:1',
      MAX_PAYOUT: '5',
    };
    const env = {
      ...Object.fromEntries(secrets.map((name) => [name, 'secret'])),
      ...told,
      HOME: '/root',
      POLL_FIRST: '',
    };
    expect(settingsToTell(env)).toEqual(told);
  });

  it('has whose API keys there are, and with which scopes, and none of them', () => {
    const [plain, digest] = ['sk_0123456789abcdefghijklmn', `sha256-${sha256Of('sk_another-of-the-merchants')}`];
    const API_KEYS = `shop:${plain}:collections+read, ops/ann:${digest}:review`;
    const told = settingsToTell({ API_KEYS }).API_KEYS ?? '';
    expect(told).not.toContain(plain);
    expect(told).not.toContain(digest);
    expect(apiKeys.parse(told)).toEqual([
      { name: 'shop', person: 'shop', scopes: ['collections', 'read'], sha256: expect.any(String) },
      { name: 'ops', person: 'ann', scopes: ['review'], sha256: expect.any(String) },
    ]);
  });
});
