import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ms, { type StringValue } from 'ms';
import { readSettings, SETTING_NAMES } from '../../sandbox/settings.js';
import { type Part, readConfig, settingNames } from '../../src/settings/read-settings.js';
import { SECRET_SETTINGS } from '../../src/settings/secret-files.js';
import { withoutSettings } from '../../stack/processes/settings.js';
import { ENCRYPTION_KEYS } from '../support/test-encryption.js';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

/** One row of the guide: the setting, the processes that read it, and its default as written there. */
interface Row {
  readonly name: string;
  readonly parts: readonly string[];
  readonly fallback: string;
}

const guide = await read('docs/settings.md');
/** Temporal's own settings are read by its library, and not by us. */
const [ours = ''] = guide.split('\n## Where Temporal is');
const rows = [...ours.matchAll(/^\| `([A-Z_]+)` \| ([a-z, ]+) \| (?:`([^`]*)` )?\|/gm)].map(
  ([, name = '', parts = '', fallback = '']): Row => ({ name, parts: parts.split(', '), fallback }),
);

/** The settings of every process, by name. */
const allNames = [...new Set([...settingNames(), ...SETTING_NAMES])];

/** Everything that is required, for every process. */
const required = {
  WEBHOOK_TOKEN: '01234567890123456789012349abcdef',
  PROVIDER_COLLECTION_URL: 'http://127.0.0.1',
  PROVIDER_COLLECTION_API_USER: 'user',
  PROVIDER_COLLECTION_API_KEY: 'key',
  PROVIDER_PAYOUT_URL: 'http://127.0.0.1',
  PROVIDER_PAYOUT_API_USER: 'user',
  PROVIDER_PAYOUT_API_KEY: 'key',
  ENCRYPTION_KEYS,
  DATABASE_URL: 'postgres://sanaga@127.0.0.1/book',
};

/** Optional settings, filled in so that the processes that read them show it. */
const optional = {
  API_KEYS: 'ann:123456789012345678901234:review,bob:432109876543210987654321:review',
  MAX_PAYOUTS_PER_DAY: '1000000',
  SECOND_PERSON_ABOVE: '500000',
  FLOAT_WARN_BELOW: '500000',
  APPROVE_ABOVE: '500000',
  TEMPORAL_UI_URL: 'http://127.0.0.1',
  DESK_URL: 'http://127.0.0.1',
  MERCHANT_WEBHOOK_URL: 'http://127.0.0.1',
  MERCHANT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}`,
  WORKER_BUILD_ID: '1',
  SANDBOX_BALANCE: '1000000',
  SANDBOX_PUBLIC_URL: 'http://127.0.0.1',
  SANDBOX_WEBHOOK_URL: 'http://127.0.0.1',
  SANDBOX_JOURNAL: '/tmp/sandbox.jsonl',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  API_METRICS_ADDRESS: '127.0.0.1:9463',
  WORKER_METRICS_ADDRESS: '127.0.0.1:9464',
  CODEC_UI_TOKEN: '01234567890123456789012349abcdef',
};

/** Not to be set together with the others. */
const alternative = {
  ...required,
  MERCHANTS_FILE: fileURLToPath(new URL('../fixtures/merchants.json', import.meta.url)),
};

const config: Readonly<Record<Part | 'sandbox', Readonly<Record<string, unknown>>>> = {
  api: { ...readConfig('api', alternative), ...readConfig('api', { ...required, ...optional }) },
  worker: { ...readConfig('worker', alternative), ...readConfig('worker', { ...required, ...optional }) },
  codec: {
    ...readConfig('codec', { ...alternative, CODEC_UI_TOKEN: optional.CODEC_UI_TOKEN }),
    ...readConfig('codec', { ...required, ...optional }),
  },
  book: readConfig('book', { ...required, ...optional }),
  migrate: readConfig('migrate', { ...required, ...optional }),
  replay: readConfig('replay', { ...required, ...optional }),
  desk: readConfig('desk', optional),
  sandbox: readSettings({ ...required, ...optional }),
};

describe('an environment without settings', () => {
  it('has none of the settings of any process', () => {
    const files = SECRET_SETTINGS.map((name) => `${name}_FILE`);
    const env = Object.fromEntries([...allNames, ...files].map((name) => [name, 'x']));
    expect(withoutSettings({ ...env, PATH: '/bin' })).toEqual({ PATH: '/bin' });
  });
});

describe('docs/settings.md', () => {
  it('names every setting that there is, once, and no other', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual([...allNames].sort());
  });

  it('names every secret that can be kept in a file', () => {
    const [, chapter = ''] = guide.split('\n## Secrets in files');
    const [list = ''] = chapter.split('\n## ');
    const secrets = [...SECRET_SETTINGS, 'TEMPORAL_API_KEY'];
    expect(secrets.filter((name) => !list.includes(`\`${name}\``))).toEqual([]);
  });

  it.each(rows)('says which processes read $name', ({ name, parts }) => {
    const readers = Object.entries(config).filter(([, settings]) => name in settings);
    expect(parts).toEqual(readers.map(([part]) => part));
  });

  it.each(rows)('says the default of $name', ({ name, parts, fallback }) => {
    if (name in alternative || name in optional) {
      expect(fallback).toBe('');
      return;
    }
    const part = Object.entries(config).find(([reader]) => reader === parts[0]);
    const value = part?.[1][name];
    const isDuration = /^\d+(ms|s|m|h|d)$/.test(fallback);
    expect(isDuration ? ms(fallback as StringValue) : fallback).toBe(isDuration ? value : String(value));
  });
});

describe('the settings of docker-compose.yml', () => {
  it('hand every setting on to the processes', async () => {
    const compose = await read('docker-compose.yml');
    const names = [...allNames, ...SECRET_SETTINGS.map((name) => `${name}_FILE`)];
    expect(names.filter((name) => !compose.includes(` ${name}: `))).toEqual([]);
  });

  it('are all named in .env.example', async () => {
    const taken = [...(await read('docker-compose.yml')).matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
    const named = [...(await read('.env.example')).matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(taken.filter((name) => !named.includes(name))).toEqual([]);
  });

  it('need no secret that may be in a file', async () => {
    const compose = await read('docker-compose.yml');
    expect(SECRET_SETTINGS.filter((name) => compose.includes(`\${${name}:?`))).toEqual([]);
  });

  it('are named in .env.example where they have no default', async () => {
    const example = await read('.env.example');
    // The compose file itself knows where its processes find each other.
    const fixed = ['SANDBOX_JOURNAL', 'SANDBOX_WEBHOOK_URL', 'API_METRICS_ADDRESS', 'WORKER_METRICS_ADDRESS'];
    const needed = Object.keys({ ...alternative, ...optional }).filter((name) => !fixed.includes(name));
    expect(needed.filter((name) => !new RegExp(`^${name}=`, 'm').test(example))).toEqual([]);
  });
});
