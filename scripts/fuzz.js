/*
 * Runs schemathesis against the API of a stack of its own: Temporal's dev server, the sandbox, a worker. All checks are
 * on. `node scripts/fuzz.js --max-examples 200`: what follows goes to schemathesis.
 *
 * schemathesis comes from PyPI, once, into the user's cache folder: the versions of scripts/python/schemathesis.txt.
 */
import './supported-node.js';

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonTool } from './python-tool.js';

const { freePort } = await import('../build/stack/processes/ports.js');
const { makeSecrets, stackSettings } = await import('../build/stack/processes/settings.js');
const { bringUpStack } = await import('../build/stack/processes/stack.js');

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

/** A merchant's limits are in no schema. */
const UNLIMITED = {
  MAX_COLLECTION: String(Number.MAX_SAFE_INTEGER),
  MAX_PAYOUT: String(Number.MAX_SAFE_INTEGER),
  MAX_REQUESTS_PER_MINUTE: '1000000',
  // hooks.py names the address that each request comes from.
  TRUSTED_PROXIES: '1',
};

const schemathesis = join(await pythonTool('schemathesis'), 'schemathesis');
const folder = await mkdtemp(join(tmpdir(), 'sanaga-fuzz-'));
const secrets = makeSecrets();
const ports = { api: await freePort(), sandbox: await freePort() };
const stack = await bringUpStack({
  ports,
  env: {
    ...process.env,
    ...stackSettings(ports, secrets),
    API_KEYS: `merchant:${secrets.apiKey}:collections+payouts+refunds+approve+read+balance+review`,
    LOG_LEVEL: 'warn',
    ...UNLIMITED,
  },
  taskQueue: 'payments',
  bookFolder: join(folder, 'book'),
  logFolder: folder,
  report: () => undefined,
  temporal: { env: process.env },
  project: path(''),
});
try {
  process.exitCode = await fuzz();
} finally {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}

async function fuzz() {
  const args = ['--config-file', path('schemathesis.toml'), 'run', `${stack.apiUrl}/openapi.json`];
  const child = spawn(schemathesis, [...args, ...process.argv.slice(2)], {
    cwd: folder,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: path('scripts/python/hooks.py'),
      SANAGA_API_KEY: secrets.apiKey,
      SANAGA_WEBHOOK_TOKEN: secrets.webhookToken,
    },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  return code ?? 1;
}
