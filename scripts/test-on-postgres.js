/*
 * Runs end-to-end tests on Temporal's own server with PostgreSQL, as production has it. What follows `--` goes to jest.
 * Needs `npm run build`, and Go, which builds the server into the cache folder, once.
 */
import './supported-node.js';

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { startPostgres } = await import('../build/stack/postgres/postgres.js');
const { buildTemporalServer, deployedDynamicConfig, startTemporalOnPostgres } = await import(
  '../build/bench/servers/temporal-on-postgres.js'
);

const TESTS = ['test/e2e/payments.test.ts', 'test/e2e/merchants.test.ts'];

const say = (line) => process.stderr.write(`${line}\n`);

const programs = await buildTemporalServer(say);
const folder = await mkdtemp(join(tmpdir(), 'sanaga-on-postgres-'));
const servers = [];
try {
  const postgres = await startPostgres();
  servers.unshift(postgres);
  const temporal = await startTemporalOnPostgres(
    programs,
    postgres,
    join(folder, 'temporal.log'),
    await deployedDynamicConfig('.'),
  );
  servers.unshift(temporal);
  say(`temporal server: ${temporal.target.address}, on ${postgres.url('temporal')}`);
  const given = process.argv.slice(2);
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const child = spawn(process.execPath, [...jest, '--runInBand', ...(given.length > 0 ? given : TESTS)], {
    env: { ...process.env, E2E_TEMPORAL_ADDRESS: temporal.target.address },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  for (const server of servers) await server.stop();
  await rm(folder, { recursive: true, force: true });
}
