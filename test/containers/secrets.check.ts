import { chmod, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SECRET_SETTINGS } from '../../src/settings/secret-files.js';
import { allHealthy, asRoot, compose, inspect, inTree } from './compose.js';
import { begin, endWell } from './merchant.js';

/** Each with the file that docs/settings.md would have it in. */
const SECRETS = [
  'API_KEYS',
  'WEBHOOK_TOKEN',
  'PROVIDER_COLLECTION_API_USER',
  'PROVIDER_COLLECTION_API_KEY',
  'PROVIDER_PAYOUT_API_USER',
  'PROVIDER_PAYOUT_API_KEY',
  'ENCRYPTION_KEYS',
  'DATABASE_URL',
] as const satisfies readonly (typeof SECRET_SETTINGS)[number][];
const fileOf = (name: string) => name.toLowerCase().replaceAll('_', '-');

const values = new Map<string, string>();

/** The user of the containers. */
const USER = '1000';

async function moveToFiles(): Promise<void> {
  await copyFile(inTree('.env'), inTree('.env.before'));
  let env = await readFile(inTree('.env'), 'utf8');
  for (const name of SECRETS) {
    const [, value = ''] = new RegExp(`^${name}=(.+)$`, 'm').exec(env) ?? [];
    values.set(name, value);
    const file = inTree(`secrets/${fileOf(name)}`);
    await writeFile(file, `${value}\n`);
    await chmod(file, 0o600);
    await asRoot('chown', USER, file);
    env = env.replace(new RegExp(`^${name}=.+$`, 'm'), `${name}=`);
    env = env.replace(new RegExp(`^${name}_FILE=$`, 'm'), `${name}_FILE=/run/secrets/${fileOf(name)}`);
  }
  await writeFile(inTree('.env'), env);
  // The provider knows them in its own way.
  const credentials = SECRETS.filter((name) => name.startsWith('PROVIDER_'));
  const environment = {
    ...Object.fromEntries(credentials.map((name) => [name, values.get(name)])),
    SANDBOX_WEBHOOK_URL: `http://api:3000/webhooks/provider/${values.get('WEBHOOK_TOKEN')}`,
  };
  await writeFile(inTree('docker-compose.override.yml'), JSON.stringify({ services: { sandbox: { environment } } }));
}

describe('with its secrets in files alone', () => {
  beforeAll(async () => {
    await moveToFiles();
    await compose('up', '-d');
    await allHealthy();
  }, 600_000);
  afterAll(async () => {
    await copyFile(inTree('.env.before'), inTree('.env'));
    await rm(inTree('docker-compose.override.yml'));
    await compose('up', '-d');
    await allHealthy();
  }, 600_000);

  it('everything runs', async () => {
    await endWell(await begin());
  });

  it.each(['api', 'worker', 'codec', 'desk'])('no secret is in the environment of %s', async (service) => {
    const environment = await inspect(service, '{{.Config.Env}}');
    for (const [name, value] of values) expect([name, environment.includes(value)]).toEqual([name, false]);
  });
});
