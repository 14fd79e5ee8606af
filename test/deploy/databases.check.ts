import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Postgres, startPostgres } from '../../bench/servers/postgres.js';
import { buildTemporalServer } from '../../bench/servers/temporal-on-postgres.js';
import { runCommand } from '../../stack/processes/run-command.js';
import { pathWithPostgresClients } from '../support/postgres-clients.js';

describe('the databases of docker-compose.yml', () => {
  let postgres: Postgres;
  let programs: string;

  beforeAll(async () => {
    const { sqlTool } = await buildTemporalServer(() => undefined);
    programs = await mkdtemp(join(tmpdir(), 'sanaga-admin-tools-'));
    await symlink(sqlTool, join(programs, 'temporal-sql-tool'));
    postgres = await startPostgres();
    await postgres.query('postgres', 'CREATE ROLE temporal SUPERUSER LOGIN');
  });

  afterAll(async () => {
    await postgres?.stop();
    await rm(programs, { recursive: true, force: true });
  });

  /** What docker-compose has done at each start. */
  async function start(recordsPassword: string): Promise<void> {
    const port = String(postgres.port);
    const env = {
      ...process.env,
      PATH: `${programs}:${await pathWithPostgresClients()}`,
      ...{ SQL_HOST: '127.0.0.1', SQL_PORT: port, SQL_USER: 'temporal', SQL_PASSWORD: 'ignored' },
      ...{ PGHOST: '127.0.0.1', PGPORT: port, PGUSER: 'temporal', RECORDS_PASSWORD: recordsPassword },
    };
    for (const name of ['temporal-schema.sh', 'records-database.sh']) {
      const script = fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
      expect(await runCommand('sh', [script], { env, timeLimitMs: 60_000 })).toMatchObject({
        kind: 'succeeded',
      });
    }
  }

  const ask = (sql: string) => postgres.query('postgres', sql);

  it('are made once, and start again with another password', async () => {
    const password = () => ask("SELECT rolpassword FROM pg_authid WHERE rolname = 'sanaga'");
    await start('one');
    const first = await password();
    expect(await postgres.query('temporal', 'SELECT count(*) FROM schema_version')).toBe('1');
    await start("it's another");
    expect(await password()).not.toBe(first);
  });

  it("have a role of the records' own, which can't get at Temporal's", async () => {
    const databases =
      "SELECT string_agg(datname, ' ') FROM pg_database WHERE datallowconn AND has_database_privilege('sanaga', datname, 'CONNECT')";
    expect(await ask(databases)).toBe('records');
    const rights = "SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = 'sanaga'";
    expect(await ask(rights)).toBe('f');
  });
});
