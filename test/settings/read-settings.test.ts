import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { merchantsOf } from '../../src/settings/api.js';
import { ConfigError } from '../../src/settings/config-error.js';
import { type Part, readConfig, settingNames } from '../../src/settings/read-settings.js';
import { SECRET_SETTINGS } from '../../src/settings/secret-files.js';
import { ENCRYPTION_KEYS } from '../support/test-encryption.js';

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;

const provider = {
  PROVIDER_COLLECTION_URL: 'http://127.0.0.1:4000',
  PROVIDER_COLLECTION_API_USER: 'collector',
  PROVIDER_COLLECTION_API_KEY: 'key',
  PROVIDER_PAYOUT_URL: 'http://127.0.0.1:4000',
  PROVIDER_PAYOUT_API_USER: 'payer',
  PROVIDER_PAYOUT_API_KEY: 'key',
  ENCRYPTION_KEYS,
  DATABASE_URL: 'postgres://sanaga:secret@127.0.0.1/book',
};
const api = {
  ...provider,
  WEBHOOK_TOKEN: '0123456789abcdef',
  API_KEYS: 'shop:secret-secret-secret-secret:collections+read',
};

/** The default of APPROVAL_WITHIN, in ms. */
const WEEK = 7 * 24 * 3_600_000;

const digestOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

function mistakes(part: Part, env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(part, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** What is said of an entry of API_KEYS in another form. */
const API_KEY_FORM =
  'must be name:secret:scope+scope, or name/person:secret:scope+scope, with names of 1 to 40 letters, digits and "-", and a secret of at least 24 characters: make one with `openssl rand -hex 24`';

describe('the settings', () => {
  it('have the documented defaults', () => {
    expect(readConfig('api', api)).toMatchObject({
      PORT: 3_000,
      TEMPORAL_TASK_QUEUE: 'payments',
      PROVIDER_TIMEOUT: 15_000,
      LINK_LIFETIME: 24 * 60 * 60 * 1_000,
      AMBIGUOUS_POLICY: 'review',
      RESOLVE_AFTER: 60 * 60 * 1_000,
      SEND_BY: 24 * 60 * 60 * 1_000,
    });
  });

  it('take durations as people write them', () => {
    expect(readConfig('api', { ...api, POLL_FIRST: '90s', POLL_MAX: '1.5h' })).toMatchObject({
      POLL_FIRST: 90_000,
      POLL_MAX: 5_400_000,
    });
  });

  it('take the slashes off the end of an address that paths are appended to', () => {
    const settings = { DESK_URL: 'https://desk.example/pay//', TEMPORAL_UI_URL: 'http://127.0.0.1:8080/' };
    expect(readConfig('api', { ...api, ...settings, PROVIDER_PAYOUT_URL: 'https://a.example' })).toMatchObject({
      DESK_URL: 'https://desk.example/pay',
      TEMPORAL_UI_URL: 'http://127.0.0.1:8080',
      PROVIDER_PAYOUT_URL: 'https://a.example',
    });
  });

  it('take an empty setting for one that is not set', () => {
    expect(readConfig('api', { ...api, PORT: '' }).PORT).toBe(3_000);
  });

  it('name every mistake, each in one line', () => {
    const wrong = { ...api, PORT: '70000', POLL_FIRST: 'soon', AMBIGUOUS_POLICY: 'maybe', WEBHOOK_TOKEN: '' };
    expect(mistakes('api', { ...wrong, AMBIGUOUS_GRACE: '20s' })).toEqual([
      'POLL_FIRST must be a duration such as 500ms, 90s, 15m, 24h or 2d',
      'AMBIGUOUS_POLICY must be review or resend',
      'PORT must be a port, from 0 to 65535',
      'WEBHOOK_TOKEN is not set',
      expect.stringMatching(/^AMBIGUOUS_GRACE must be at least PROVIDER_TIMEOUT plus 15s/),
    ]);
  });

  it.each<['api' | 'worker', Record<string, string>]>([
    ['api', { PROVIDER_TIMEOUT: '1s', AMBIGUOUS_GRACE: '16s' }],
    ['api', { PROVIDER_TIMEOUT: '60s', AMBIGUOUS_GRACE: '7d' }],
    ['api', { POLL_FIRST: '1s', POLL_MAX: '5s' }],
    ['api', { POLL_FIRST: '1d', POLL_MAX: '1d' }],
    ['api', { POLL_MAX: '7d' }],
    ['api', { LINK_LIFETIME: '10s' }],
    ['api', { LINK_LIFETIME: '24h' }],
    ['api', { RESOLVE_AFTER: '15s', SEND_BY: '5m' }],
    ['api', { RESOLVE_AFTER: '7d', SEND_BY: '7d' }],
    ['api', { WEBHOOK_TOKEN: 'AZaz09_-AZaz09_-' }],
    ['api', { WEBHOOK_TOKEN: 'x'.repeat(200) }],
    ['worker', { PROVIDER_TIMEOUT: '60s' }],
    ['worker', { MERCHANT_WEBHOOK_TIMEOUT: '100ms', WORKER_SHUTDOWN_GRACE: '1s' }],
    ['worker', { MERCHANT_WEBHOOK_TIMEOUT: '9s', WORKER_SHUTDOWN_GRACE: '2m' }],
    ['worker', { WORKER_MAX_CONCURRENT_WORKFLOW_TASKS: '2' }],
    ['worker', { WORKER_METRICS_ADDRESS: '[::]:65535' }],
    ['api', { API_METRICS_ADDRESS: '127.0.0.1:1' }],
  ])('of the %s may be %j, at the edge of their bounds', (part, own) => {
    expect(mistakes(part, { ...(part === 'api' ? api : provider), ...own })).toEqual([]);
  });

  const pollBounds = 'POLL_FIRST must be between 1s and 1d';
  const maxBounds = 'POLL_MAX must be between 5s and 7d';
  const linkBounds = 'LINK_LIFETIME must be between 10s and 1d: the provider ends every link after a day';
  const timeoutBounds = 'PROVIDER_TIMEOUT must be between 1s and 60s';
  const lag = 'must be at least PROVIDER_TIMEOUT plus 15s: the provider may list a transaction that late';
  const merchantBounds =
    'MERCHANT_WEBHOOK_TIMEOUT must be between 100ms and 9s: a worker that stops waits no longer for the answer';
  const resolveBounds = 'RESOLVE_AFTER must be between 15s and 7d: the provider may list a transaction late';
  const graceBounds = 'WORKER_SHUTDOWN_GRACE must be between 1s and 2m';
  const token = 'WEBHOOK_TOKEN must be 16 to 200 letters, digits, - and _: make one with `openssl rand -hex 24`';
  const notADuration = 'must be a duration such as 500ms, 90s, 15m, 24h or 2d';

  it.each<['api' | 'worker', Record<string, string>, string]>([
    ['api', { POLL_FIRST: '0s' }, pollBounds],
    ['api', { POLL_FIRST: '999ms' }, pollBounds],
    ['api', { POLL_FIRST: '25h', POLL_MAX: '7d' }, pollBounds],
    ['api', { POLL_FIRST: '1s', POLL_MAX: '0s' }, maxBounds],
    ['api', { POLL_FIRST: '1s', POLL_MAX: '4.999s' }, maxBounds],
    ['api', { POLL_MAX: '8d' }, maxBounds],
    ['api', { POLL_FIRST: '2h', POLL_MAX: '1h' }, 'POLL_MAX must be at least POLL_FIRST'],
    ['api', { LINK_LIFETIME: '9s' }, linkBounds],
    ['api', { LINK_LIFETIME: '25h' }, linkBounds],
    ['api', { PROVIDER_TIMEOUT: '0s' }, timeoutBounds],
    ['api', { PROVIDER_TIMEOUT: '61s' }, timeoutBounds],
    ['worker', { PROVIDER_TIMEOUT: '999ms' }, timeoutBounds],
    ['worker', { PROVIDER_TIMEOUT: '25d' }, timeoutBounds],
    ['api', { AMBIGUOUS_GRACE: '1s' }, `AMBIGUOUS_GRACE ${lag}`],
    ['api', { AMBIGUOUS_GRACE: '29.999s' }, `AMBIGUOUS_GRACE ${lag}`],
    ['api', { AMBIGUOUS_GRACE: '8d' }, 'AMBIGUOUS_GRACE must be between 0s and 7d'],
    ['api', { RESOLVE_AFTER: '0s' }, resolveBounds],
    ['api', { RESOLVE_AFTER: '14.999s' }, resolveBounds],
    ['api', { RESOLVE_AFTER: '8d' }, resolveBounds],
    ['api', { SEND_BY: '4m' }, 'SEND_BY must be between 5m and 7d'],
    ['api', { SEND_BY: '8d' }, 'SEND_BY must be between 5m and 7d'],
    ['api', { SEND_BY: '99999999999d' }, `SEND_BY ${notADuration}`],
    ['api', { SEND_BY: '-1d' }, `SEND_BY ${notADuration}`],
    ['worker', { MERCHANT_WEBHOOK_TIMEOUT: '99ms' }, merchantBounds],
    ['worker', { MERCHANT_WEBHOOK_TIMEOUT: '10s' }, merchantBounds],
    ['worker', { WORKER_SHUTDOWN_GRACE: '0s' }, graceBounds],
    ['worker', { WORKER_SHUTDOWN_GRACE: '3m' }, graceBounds],
    ['api', { WEBHOOK_TOKEN: 'fifteen-letters' }, token],
    ['api', { WEBHOOK_TOKEN: 'x'.repeat(201) }, token],
    ['api', { WEBHOOK_TOKEN: '0123456789abcde/' }, token],
    ['api', { WEBHOOK_TOKEN: '0123456789abcde?' }, token],
    ['api', { WEBHOOK_TOKEN: '0123456789abcde#' }, token],
    ['api', { WEBHOOK_TOKEN: '0123456789abcd%2' }, token],
    ['api', { WEBHOOK_TOKEN: '0123456789abcdef ' }, token],
    [
      'worker',
      {
        MERCHANT_WEBHOOK_URL: 'https://user:hush-hush@shop.example/',
        MERCHANT_WEBHOOK_SECRET: WEBHOOK_SECRET,
      },
      'MERCHANT_WEBHOOK_URL must not contain a user or a password',
    ],
    [
      'worker',
      { MERCHANT_WEBHOOK_URL: 'ftp://shop.example/', MERCHANT_WEBHOOK_SECRET: WEBHOOK_SECRET },
      'MERCHANT_WEBHOOK_URL must be an http or https address',
    ],
    [
      'api',
      { PROVIDER_PAYOUT_URL: 'https://user@provider.example' },
      'PROVIDER_PAYOUT_URL must not contain a user or a password',
    ],
    [
      'api',
      { PROVIDER_COLLECTION_URL: 'https://provider.example/?v=1' },
      'PROVIDER_COLLECTION_URL must not have a query or a fragment',
    ],
    [
      'worker',
      { PROVIDER_PAYOUT_API_KEY: 'two\nlines' },
      "PROVIDER_PAYOUT_API_KEY contains characters that an HTTP header can't carry",
    ],
    [
      'worker',
      { WORKER_MAX_CONCURRENT_WORKFLOW_TASKS: '1' },
      'WORKER_MAX_CONCURRENT_WORKFLOW_TASKS must be a whole number from 2 to 9999999',
    ],
    [
      'worker',
      { WORKER_METRICS_ADDRESS: '127.0.0.1:65536' },
      'WORKER_METRICS_ADDRESS must have a port from 1 to 65535',
    ],
    ['worker', { WORKER_METRICS_ADDRESS: 'here' }, 'WORKER_METRICS_ADDRESS must be an address such as 127.0.0.1:9464'],
    ['api', { API_METRICS_ADDRESS: ':0' }, 'API_METRICS_ADDRESS must be an address such as 127.0.0.1:9464'],
    ['api', { API_METRICS_ADDRESS: '127.0.0.1:0' }, 'API_METRICS_ADDRESS must have a port from 1 to 65535'],
  ])('of the %s are refused as %j, in one line that names the bound', (part, own, line) => {
    expect(mistakes(part, { ...(part === 'api' ? api : provider), ...own })).toEqual([line]);
  });

  it('read API keys, plain or as a digest', () => {
    const digest = 'a'.repeat(64);
    expect(
      readConfig('api', {
        ...api,
        API_KEYS: `shop:secret-secret-secret-secret:read,shop/ann-1:another-secret-of-the-shop:approve,ops:sha256-${digest}:review+read`,
      }).API_KEYS,
    ).toEqual([
      { name: 'shop', person: 'shop', sha256: digestOf('secret-secret-secret-secret'), scopes: ['read'] },
      { name: 'shop', person: 'ann-1', sha256: digestOf('another-secret-of-the-shop'), scopes: ['approve'] },
      { name: 'ops', person: 'ops', sha256: digest, scopes: ['review', 'read'] },
    ]);
  });

  it('take a digest in upper case for the same digest', () => {
    const { API_KEYS } = readConfig('api', { ...api, API_KEYS: `ops:SHA256-${'AB'.repeat(32)}:read` });
    expect(API_KEYS?.map(({ sha256 }) => sha256)).toEqual(['ab'.repeat(32)]);
  });

  it.each(['a'.repeat(63), 'a'.repeat(65), `${'a'.repeat(63)}g`, 'not-hex-at-all'])(
    'refuse sha256-%s, and never take it for a plain secret',
    (hex) => {
      expect(mistakes('api', { ...api, API_KEYS: `ops:sha256-${hex}:read` })).toEqual([
        'API_KEYS entry 1 (ops) has an invalid digest: sha256- must be followed by the 64 hex digits of a SHA-256',
      ]);
    },
  );

  it.each([
    ['both plain', 'hush-hush-hush-hush-hush-hush', 'hush-hush-hush-hush-hush-hush'],
    [
      'one plain and one as its digest',
      'hush-hush-hush-hush-hush-hush',
      `sha256-${digestOf('hush-hush-hush-hush-hush-hush')}`,
    ],
    ['both as digests, in either case', `sha256-${'AB'.repeat(32)}`, `sha256-${'ab'.repeat(32)}`],
  ])('refuse two API keys with one secret, %s', (_, first, second) => {
    expect(mistakes('api', { ...api, API_KEYS: `shop:${first}:read,desk:${second}:review` })).toEqual([
      'API_KEYS entry 2 (desk) has the same secret as entry 1 (shop): each key needs its own',
    ]);
  });

  it('let one owner have two keys, for the time of a change', () => {
    expect(
      mistakes('api', {
        ...api,
        API_KEYS: 'shop:old-secret-old-secret-old-secret:read,shop:new-secret-new-secret-new-secret:read',
      }),
    ).toEqual([]);
  });

  it('show no secret when an API key is wrong', () => {
    const lines = mistakes('api', {
      ...api,
      API_KEYS:
        'shop:hush-hush-hush-hush-hush-hush:everything,nonsense-secret,shop/ann:hush-hush-hush-hush-hush-hush:all',
    });
    expect(lines).toEqual([
      'API_KEYS entry 1 (shop) has an unknown scope; the scopes are collections, payouts, refunds, approve, read, balance, review',
      `API_KEYS entry 2 ${API_KEY_FORM}`,
      'API_KEYS entry 3 (shop/ann) has an unknown scope; the scopes are collections, payouts, refunds, approve, read, balance, review',
    ]);
  });

  it.each(['shop/', '/ann', 'shop/ann/bob', 'shop/ann b', `shop/${'a'.repeat(41)}`])(
    'take no key of the person in "%s"',
    (whose) => {
      expect(mistakes('api', { ...api, API_KEYS: `${whose}:hush-hush-hush-hush-hush-hush:read` })).toEqual([
        `API_KEYS entry 1 ${API_KEY_FORM}`,
      ]);
    },
  );

  it.each([
    ['shop/ann', 'shop/Ann', ['shop/Ann']],
    ['shop/ann', 'ops/ANN', ['ops/ANN']],
    ['shop/Ops', 'ops', ['shop/Ops']],
    ['shop', 'Shop', ['Shop']],
    ['shop/ann', 'ops/ann', []],
    ['shop/ann', 'Shop/bob', []],
  ])('have each person of %s and %s in one spelling, so that nobody counts as two', (first, second, refused) => {
    const keys = [first, second].map((whose, index) => `${whose}:hush-hush-hush-hush-hush-${index}:read`);
    expect(mistakes('api', { ...api, API_KEYS: keys.join() })).toEqual(
      refused.map((whose) => {
        const entry = `entry ${[first, second].indexOf(whose) + 1} (${whose})`;
        return `API_KEYS ${entry} has a person that is written in two ways: two people need two names`;
      }),
    );
  });

  it('make one merchant of the keys of its people', () => {
    const keys =
      'shop/ann:secret-one-that-is-long-enough:payouts,ops:secret-two-that-is-long-enough:review,shop/bob:secret-three-that-is-long-enough:approve';
    const merchants = merchantsOf(readConfig('api', { ...api, API_KEYS: keys }));
    expect(merchants.map(({ name, keys }) => [name, keys.map(({ person }) => person)])).toEqual([
      ['shop', ['ann', 'bob']],
      ['ops', ['ops']],
    ]);
  });

  it('want a secret for an address that notifications go to', () => {
    expect(mistakes('worker', { ...provider, MERCHANT_WEBHOOK_URL: 'https://shop.example/hook' })).toEqual([
      'MERCHANT_WEBHOOK_SECRET must be set when MERCHANT_WEBHOOK_URL is: notifications are never sent unsigned',
    ]);
  });

  it('want a webhook secret that Standard Webhooks can sign with', () => {
    expect(mistakes('worker', { ...provider, MERCHANT_WEBHOOK_SECRET: WEBHOOK_SECRET })).toEqual([]);
    expect(mistakes('worker', { ...provider, MERCHANT_WEBHOOK_SECRET: 'short' })).toHaveLength(1);
  });

  it.each([
    ['base64url', `whsec_${Buffer.alloc(33, 0xfb).toString('base64url')}`],
    ['without its padding', `whsec_${Buffer.alloc(32, 1).toString('base64').replace('=', '')}`],
    ['a passphrase', 'correct horse battery staple, and many a word more'],
    ['with a line break in it', `whsec_${'A'.repeat(32)}\n${'A'.repeat(32)}`],
    ['with two prefixes', `whsec_whsec_${Buffer.alloc(32).toString('base64')}`],
  ])('take no webhook secret that is %s, and say what one is', (_, secret) => {
    const lines = mistakes('worker', { ...provider, MERCHANT_WEBHOOK_SECRET: secret });
    expect(lines).toEqual([expect.stringMatching(/base64url, which has - and _, is not it\): make one with/)]);
  });
});

describe('encryption keys', () => {
  const { ENCRYPTION_KEYS: _, ...withoutKeys } = api;
  const codec = { API_KEYS: 'desk:secret-secret-secret-secret:review' };
  const parts = [
    ['api', withoutKeys],
    ['worker', withoutKeys],
    ['codec', codec],
  ] as const;
  const one = Buffer.alloc(32, 1).toString('base64');
  const other = Buffer.alloc(32, 2).toString('base64');

  it.each(parts)('are needed by the %s, which says how to make one', (part, env) => {
    const lines = mistakes(part, env);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^ENCRYPTION_KEYS is not set: names and phone numbers would be in Temporal/);
    expect(lines[0]).toContain('openssl rand -base64 32');
    expect(lines[0]).toMatch(/set ENCRYPTION_KEYS_FILE to its path.*or set ENCRYPTION=off/);
  });

  it.each(parts)('are not needed by the %s when encryption is off, and by nothing else', (part, env) => {
    expect(mistakes(part, { ...env, ENCRYPTION: 'off' })).toEqual([]);
    expect(mistakes(part, { ...env, ENCRYPTION: 'no' })).toEqual(['ENCRYPTION must be on or off']);
    expect(mistakes(part, { ...env, ENCRYPTION: 'on' })).toHaveLength(1);
  });

  it.each([`new:${one},old:${other}`, `new:${one}\nold:${other}\n`, ` new:${one} ,\n\n old:${other}`])(
    'are separated by commas or in lines: %j',
    (keys) => {
      const { ENCRYPTION_KEYS: read } = readConfig('worker', { ...api, ENCRYPTION_KEYS: keys });
      expect(read?.map(({ id, key }) => [id, key.export().toString('base64')])).toEqual([
        ['new', one],
        ['old', other],
      ]);
    },
  );

  it.each([
    ['no id', one, 'entry 1 must be id:key'],
    ['too short a key', `a:${Buffer.alloc(31, 1).toString('base64')}`, 'entry 1 must be id:key'],
    ['too long a key', `a:${one},b:${Buffer.alloc(33, 1).toString('base64')}`, 'entry 2 must be id:key'],
    ['a space in the id', `a b:${one}`, 'entry 1 must be id:key'],
    ['one id twice', `a:${one},b:${one},a:${other}`, 'has the id a twice'],
    ['nothing', ',\n', 'has no key in it'],
  ])('are refused with %s, and not shown', (_, keys, message) => {
    const lines = mistakes('api', { ...api, ENCRYPTION_KEYS: keys });
    expect(lines).toEqual([expect.stringMatching(`^ENCRYPTION_KEYS ${message}`)]);
    expect(lines.join('')).not.toContain('AQEBAQ');
  });

  it('show nothing of themselves when settings are logged', () => {
    expect(JSON.stringify(readConfig('worker', api))).not.toContain(ENCRYPTION_KEYS.split(':')[1]);
  });
});

describe('the codec server', () => {
  const codec = { ENCRYPTION_KEYS };

  it('needs somebody who may read', () => {
    const nobody =
      'API_KEYS has no key with the scope review, and neither has MERCHANTS_FILE: nobody could read a payment';
    expect(mistakes('codec', codec)).toEqual([nobody]);
    expect(mistakes('codec', { ...codec, API_KEYS: 'shop:secret-secret-secret-secret:read' })).toEqual([nobody]);
    expect(mistakes('codec', { ...codec, API_KEYS: 'desk:secret-secret-secret-secret:review' })).toEqual([]);
    expect(mistakes('codec', { ...codec, CODEC_UI_TOKEN: '0123456789abcdef' })).toEqual([]);
    const merchants = fileURLToPath(new URL('../fixtures/merchants.json', import.meta.url));
    expect(mistakes('codec', { ...codec, MERCHANTS_FILE: merchants })).toEqual([nobody]);
  });

  it('refuses a token that could be guessed, or could not be part of an address', () => {
    for (const CODEC_UI_TOKEN of ['short', 'with/a/slash/0123456789']) {
      expect(mistakes('codec', { ...codec, CODEC_UI_TOKEN })).toEqual([
        expect.stringMatching(/^CODEC_UI_TOKEN must be 16 to 200 letters/),
      ]);
    }
  });
});

describe('secrets that are kept in files', () => {
  let folder: string;
  const write = async (name: string, content: string) => {
    const file = join(folder, name);
    await writeFile(file, content);
    return file;
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-secrets-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const secrets = {
    API_KEYS: 'shop:secret-secret-secret-secret:read',
    WEBHOOK_TOKEN: '0123456789abcdef',
    PROVIDER_COLLECTION_API_USER: 'collector',
    PROVIDER_COLLECTION_API_KEY: 'collection key',
    PROVIDER_PAYOUT_API_USER: 'payer',
    PROVIDER_PAYOUT_API_KEY: 'payout key',
    MERCHANT_WEBHOOK_SECRET: WEBHOOK_SECRET,
    ENCRYPTION_KEYS,
    CODEC_UI_TOKEN: '0123456789abcdef',
    DATABASE_URL: 'postgres://sanaga:secret@127.0.0.1/book',
  };
  const readers: Partial<Record<keyof typeof secrets, Part>> = {
    MERCHANT_WEBHOOK_SECRET: 'worker',
    CODEC_UI_TOKEN: 'codec',
  };

  it.each(SECRET_SETTINGS)('%s is one of them, without the line break at its end', async (name) => {
    const value = secrets[name];
    const file = await write(name, `${value}\n`);
    const part = readers[name] ?? 'api';
    const { [name]: _, ...others }: NodeJS.ProcessEnv = { ...api, ...secrets };
    const usual = readConfig(part, { ...others, [name]: value });
    expect(readConfig(part, { ...others, [`${name}_FILE`]: file })).toEqual(usual);
  });

  it('are a mistake when they are set themselves, too', async () => {
    const file = await write('token', '0123456789abcdef');
    expect(mistakes('api', { ...api, WEBHOOK_TOKEN_FILE: file })).toEqual([
      "WEBHOOK_TOKEN_FILE can't be set together with WEBHOOK_TOKEN: set one of them",
    ]);
  });

  it('are a mistake when they cannot be read, are empty, or hold no valid value, which is not shown', async () => {
    const { API_KEYS: _, WEBHOOK_TOKEN: __, PROVIDER_PAYOUT_API_KEY: ___, ...others } = api;
    const env = {
      ...others,
      API_KEYS_FILE: join(folder, 'nowhere'),
      WEBHOOK_TOKEN_FILE: await write('short', 'hush-hush'),
      PROVIDER_PAYOUT_API_KEY_FILE: await write('empty', '\n'),
    };
    const lines = mistakes('api', env);
    expect(lines).toEqual([
      "API_KEYS_FILE can't be read: ENOENT",
      'PROVIDER_PAYOUT_API_KEY_FILE is empty',
      expect.stringMatching(/^WEBHOOK_TOKEN must be 16 to 200 letters/),
    ]);
    expect(lines.join()).not.toContain('hush-hush');
  });
});

describe('several merchants', () => {
  const keys =
    'shop:secret-secret-secret-secret:collections+read,market:other-secret-that-is-long-enough:payouts,ops:third-secret-that-is-long-enough:review';
  const url = 'https://shop.example/hook';

  it('never share one webhook address: the API does not start, and says what to do', () => {
    expect(mistakes('api', { ...api, API_KEYS: keys, MERCHANT_WEBHOOK_URL: url })).toEqual([
      expect.stringMatching(
        /^MERCHANT_WEBHOOK_URL would get the notifications of shop and market alike.*set MERCHANTS_FILE instead/,
      ),
    ]);
  });

  it('may have keys without an address, and one merchant may share the settings with operators', () => {
    expect(mistakes('api', { ...api, API_KEYS: keys })).toEqual([]);
    const one =
      'shop:secret-secret-secret-secret:collections,shop:new-secret-that-is-long-enough:payouts,ops:third-secret-that-is-long-enough:review';
    expect(mistakes('api', { ...api, API_KEYS: one, MERCHANT_WEBHOOK_URL: url })).toEqual([]);
  });

  it('are described by the settings or by the file, not by both, and not by neither', () => {
    const { API_KEYS: _, ...none } = api;
    expect(mistakes('api', none)).toEqual(['API_KEYS is not set, and neither is MERCHANTS_FILE']);
    const file = fileURLToPath(new URL('../fixtures/merchants.json', import.meta.url));
    const both = { ...api, MERCHANTS_FILE: file, MERCHANT_WEBHOOK_URL: url };
    const mistake = "can't be set together with MERCHANTS_FILE: the file has the merchants' keys and webhook addresses";
    expect(mistakes('api', both)).toEqual([`API_KEYS ${mistake}`, `MERCHANT_WEBHOOK_URL ${mistake}`]);
    expect(mistakes('worker', { ...both, MERCHANT_WEBHOOK_SECRET: WEBHOOK_SECRET })).toEqual([
      `MERCHANT_WEBHOOK_URL ${mistake}`,
    ]);
  });

  it('have the limits of the settings, unless the file gives them their own', () => {
    const { API_KEYS: _, ...none } = api;
    const file = fileURLToPath(new URL('../fixtures/merchants.json', import.meta.url));
    const config = readConfig('api', { ...none, MERCHANTS_FILE: file, MAX_PAYOUT: '50000' });
    expect(merchantsOf(config).map(({ name, limits }) => [name, limits])).toEqual([
      ['shop', { maxCollection: 500_000, maxPayout: 50_000, maxPayoutsPerDay: 1_000_000, approvalWithin: WEEK }],
      ['market', { maxCollection: 10_000_000, maxPayout: 50_000, maxPayoutsPerDay: undefined, approvalWithin: WEEK }],
    ]);
    expect(merchantsOf(readConfig('api', api)).map(({ limits }) => limits)).toEqual([
      { maxCollection: 10_000_000, maxPayout: 2_000_000, maxPayoutsPerDay: undefined, approvalWithin: WEEK },
    ]);
  });

  it('want two people who can decide, where decisions take two', () => {
    const limit = { ...api, SECOND_PERSON_ABOVE: '500000' };
    const takes = 'takes two people whose keys have the scope review, under two names';
    const one =
      'ann:secret-one-that-is-long-enough:review,ann:secret-two-that-is-long-enough:review,shop:secret-three-that-is-long-enough:payouts';
    expect(mistakes('api', { ...limit, API_KEYS: one })).toEqual([`SECOND_PERSON_ABOVE ${takes}: only ann has one`]);
    expect(mistakes('api', { ...limit, API_KEYS: 'shop:secret-three-that-is-long-enough:payouts' })).toEqual([
      `SECOND_PERSON_ABOVE ${takes}: nobody has one`,
    ]);
    expect(mistakes('api', { ...limit, API_KEYS: `${one},bob:secret-four-that-is-long-enough:review` })).toEqual([]);
  });

  it('want two people of a merchant who can approve, where it has payouts that wait for that', async () => {
    const key = (name: string, person: string, scope: string) => ({ sha256: digestOf(name), person, scopes: [scope] });
    const limits = { approveAbove: 50_000 };
    const shop = [key('one', 'ann', 'approve'), key('two', 'ann', 'approve'), key('three', 'till', 'payouts')];
    const till = { name: 'till', keys: [key('four', 'till', 'collections')], limits };
    const takes = (merchant: string) =>
      `APPROVE_ABOVE or approveAbove holds payouts of ${merchant}, and that takes two people whose keys of ${merchant} have the scope approve`;
    const toDo = "Name each, such as shop/ann in API_KEYS, or by `person` in a merchants' file: see docs/settings.md";
    const file = (keys: readonly object[]) =>
      withMerchants([{ name: 'shop', keys, limits }, till], (MERCHANTS_FILE) =>
        mistakes('api', { ...api, API_KEYS: '', MERCHANTS_FILE }),
      );
    expect(await file(shop)).toEqual([`${takes('shop')}: only ann has one. ${toDo}`]);
    expect(await file(shop.slice(2))).toEqual([`${takes('shop')}: nobody has one. ${toDo}`]);
    expect(await file([...shop, key('five', 'bob', 'approve')])).toEqual([]);
    const one = 'shop:secret-one-that-is-long-enough:payouts+approve';
    expect(mistakes('api', { ...api, APPROVE_ABOVE: '50000', API_KEYS: one })).toEqual([
      `${takes('shop')}: only shop has one. ${toDo}`,
    ]);
    const two = `${one},shop/ann:secret-two-that-is-long-enough:approve`;
    expect(mistakes('api', { ...api, APPROVE_ABOVE: '50000', API_KEYS: two })).toEqual([]);
  });

  it('count two keys of one person as one, and two people of one merchant as two', async () => {
    const key = (name: string, person: string) => ({ sha256: digestOf(name), person, scopes: ['review'] });
    const operators = (one: string, other: string) =>
      withMerchants(
        [
          { name: 'ops', keys: [key('one', 'ann'), key('two', one)] },
          { name: 'ann', keys: [key('three', other)] },
        ],
        (MERCHANTS_FILE) => mistakes('api', { ...api, API_KEYS: '', SECOND_PERSON_ABOVE: '500000', MERCHANTS_FILE }),
      );
    expect(await operators('ann', 'ann')).toEqual([expect.stringContaining('only ann has one')]);
    expect(await operators('bob', 'ann')).toEqual([]);
  });

  it('are read again even if nobody is the second person any more: a key that was removed is to end', () => {
    const gaps: string[] = [];
    const env = {
      ...api,
      SECOND_PERSON_ABOVE: '500000',
      API_KEYS: 'ann:secret-one-that-is-long-enough:review',
    };
    const merchants = merchantsOf(readConfig('api', env, (gap) => gaps.push(gap)));
    expect(merchants.map(({ name }) => name)).toEqual(['ann']);
    expect(gaps).toEqual([expect.stringContaining('only ann has one')]);
  });
});

/** Reads settings with a merchants' file. */
async function withMerchants<T>(merchants: readonly object[], read: (file: string) => T): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-merchants-'));
  const file = join(folder, 'merchants.json');
  await writeFile(file, JSON.stringify({ merchants }));
  try {
    return read(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the addresses of the provider', () => {
  const NAMES = ['PROVIDER_COLLECTION_URL', 'PROVIDER_PAYOUT_URL'] as const;
  const withAddress = (name: string, url: string) => mistakes('worker', { ...provider, [name]: url });

  it.each(NAMES)('are https: %s', (name) => {
    for (const url of ['https://api.provider.example/v2', 'HTTPS://10.0.0.1', 'https://sandbox']) {
      expect([url, withAddress(name, url)]).toEqual([url, []]);
    }
    for (const url of [
      'http://api.provider.example',
      'HTTP://momo:8080',
      'http://10.0.0.1',
      'http://0.0.0.0:4000',
      'http://[fd00::1]:4000',
      'http://sandbox.example',
      'http://127.0.0.1.example',
      'http://host.docker.internal:4000',
    ]) {
      expect([url, withAddress(name, url)]).toEqual([
        url,
        [expect.stringMatching(new RegExp(`^${name} must be an https address: by http`))],
      ]);
    }
  });

  it.each(NAMES)('may be http with the sandbox alone: %s', (name) => {
    for (const url of [
      'http://sandbox:4000',
      'http://127.0.0.1',
      'http://127.8.8.8',
      'http://[::1]:1',
      'http://a.localhost',
    ]) {
      expect([url, withAddress(name, url)]).toEqual([url, []]);
    }
  });
});

describe('the secrets of .env.example', () => {
  const example = Object.fromEntries(
    readFileSync('.env.example', 'utf8')
      .split('\n')
      .filter((line) => /^\w+=./.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const real = {
    ...example,
    PROVIDER_COLLECTION_URL: 'https://api.provider.example',
    PROVIDER_PAYOUT_URL: 'https://api.provider.example',
  };
  const PARTS = ['api', 'worker', 'codec', 'book', 'migrate', 'replay'] as const;
  const { PROVIDER_COLLECTION_URL, PROVIDER_PAYOUT_URL } = real;
  const own = { ...real, ...api, PROVIDER_COLLECTION_URL, PROVIDER_PAYOUT_URL };
  /** What the part can start with: the codec server needs one who decides. */
  const ownOf = (part: Part) => ({
    ...own,
    ...(part === 'codec' && { API_KEYS: 'ann:secret-secret-secret-secret:review' }),
  });

  const atSandbox = (url: string) => ({ ...example, PROVIDER_COLLECTION_URL: url, PROVIDER_PAYOUT_URL: url });

  it('are all known', () => {
    const [, chapter = ''] = readFileSync('.env.example', 'utf8').split('# --- Secrets -');
    const [secrets = ''] = chapter.split('# --- ');
    const values = [...secrets.matchAll(/^(?!DATABASE_URL|MERCHANT)(\w+)=(.+)$/gm)];
    expect(values.length).toBeGreaterThan(8);
    for (const [, name, value = ''] of values) {
      // As one who has set only this one's neighbours would have it in an address.
      const url = `postgres://sanaga:${value.match(/[^,]+$/)?.[0].match(/[^:/]{12,}/)?.[0]}@db.example/book`;
      expect([name, mistakes('migrate', { DATABASE_URL: url })]).toEqual([
        name,
        [expect.stringMatching(/^DATABASE_URL has a secret of \.env\.example/)],
      ]);
    }
  });

  it.each(['http://sandbox:4000', 'http://127.0.0.1:4000', 'http://[::1]:4000', 'http://localhost:4000'])(
    'are taken with the sandbox, at %s',
    (url) => {
      for (const part of PARTS) expect(mistakes(part, atSandbox(url))).toEqual([]);
    },
  );

  it.each([
    'https://api.provider.example',
    'https://momo',
    'https://sandbox-1',
    'https://momo.sandbox',
    'https://sandbox.example',
    'https://10.0.0.1',
    'https://[fd00::1]',
    'https://127.0.0.1.example',
  ])('are refused with a provider at %s', (url) => {
    for (const part of PARTS) expect(mistakes(part, atSandbox(url)).join()).toContain('must be one of your own');
  });

  it.each([
    ['codec', 'ENCRYPTION_KEYS'],
    ['book', 'ENCRYPTION_KEYS'],
    ['migrate', 'DATABASE_URL'],
    ['replay', 'ENCRYPTION_KEYS'],
  ] as const)('are refused by the %s when it is not told where the provider is', (part, name) => {
    const alone = { ...example, PROVIDER_COLLECTION_URL: '', PROVIDER_PAYOUT_URL: '' };
    expect(mistakes(part, alone)).toContainEqual(expect.stringContaining(`${name} has a secret of`));
  });

  it.each(PARTS)('are refused by the %s with a real provider, each by its name', (part) => {
    const secrets = SECRET_SETTINGS.filter((name) => settingNames(part).includes(name) && example[name]);
    expect(secrets.length).toBeGreaterThan(0);
    const refused = mistakes(part, real);
    expect(refused.map((line) => line.split(' ')[0])).toEqual(secrets);
    expect(refused.join()).toContain('must be one of your own');
    for (const name of secrets) {
      expect(mistakes(part, { ...ownOf(part), [name]: example[name] })).toEqual([expect.stringContaining(name)]);
      expect(refused.join()).not.toContain(example[name]);
    }
    expect(mistakes(part, ownOf(part))).toEqual([]);
  });

  it('are refused when one of the two services alone is real, and when a key is given as its digest', () => {
    const half = { ...example, PROVIDER_PAYOUT_URL: 'https://api.provider.example' };
    expect(mistakes('api', half)).not.toEqual([]);
    const API_KEYS = `shop:sha256-${digestOf('example-api-key-for-a-trial')}:read`;
    expect(mistakes('api', { ...own, API_KEYS })).toEqual([expect.stringMatching(/^API_KEYS /)]);
  });
});
