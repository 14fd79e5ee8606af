import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { buildTemporalServer } from '../../bench/servers/temporal-on-postgres.js';
import { type Postgres, startPostgres } from '../../stack/postgres/postgres.js';
import { runCommand } from '../../stack/processes/run-command.js';
import { eventually } from '../support/eventually.js';
import { pathWithPostgresClients } from '../support/postgres-clients.js';
import { commandsOf, OperatorsShell } from '../support/runbook.js';

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

  /** Runs the commands of docker-compose at each start. Until it is asked for, any password is Temporal's. */
  async function start(bookPassword: string, password = 'ignored'): Promise<void> {
    const port = String(postgres.port);
    const env = {
      ...process.env,
      PATH: `${programs}:${await pathWithPostgresClients()}`,
      ...{ SQL_HOST: '127.0.0.1', SQL_PORT: port, SQL_USER: 'temporal', SQL_PASSWORD: password },
      ...{ PGHOST: '127.0.0.1', PGPORT: port, PGUSER: 'temporal', PGPASSWORD: password },
      BOOK_PASSWORD: bookPassword,
      ...{ PROVIDER_COLLECTION_URL: 'http://sandbox:4000', PROVIDER_PAYOUT_URL: 'http://sandbox:4000' },
    };
    for (const name of ['temporal-schema.sh', 'book-database.sh']) {
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

  it("have a role of the book's own, which can't get at Temporal's", async () => {
    const databases =
      "SELECT string_agg(datname, ' ') FROM pg_database WHERE datallowconn AND has_database_privilege('sanaga', datname, 'CONNECT')";
    expect(await ask(databases)).toBe('book');
    const rights = "SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = 'sanaga'";
    expect(await ask(rights)).toBe('f');
  });

  describe('whose passwords change as the runbook says', () => {
    let scratch: string;
    let shell: OperatorsShell;
    /** Containers made again with new settings. */
    const madeAnew: string[][] = [];

    beforeAll(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'sanaga-passwords-'));
      const env = {
        ...process.env,
        PATH: await pathWithPostgresClients(),
        ...{ PGHOST: '127.0.0.1', PGPORT: String(postgres.port), PGUSER: 'temporal' },
        // Within its container, PostgreSQL asks for none.
        PGPASSWORD: 'example0password',
      };
      shell = new OperatorsShell(scratch, env, {
        stop: () => Promise.reject(new Error('nothing is stopped')),
        start: () => Promise.reject(new Error('nothing is started')),
        async up(names) {
          madeAnew.push([...names]);
          if (names.includes('temporal')) await startByEnv();
        },
      });
      await ask("ALTER ROLE temporal PASSWORD 'example0password'");
      await start('example1password');
      await askForPasswords();
    });
    afterAll(async () => {
      await shell?.close();
      await rm(scratch, { recursive: true, force: true });
    });

    /** Has PostgreSQL ask everybody for a password but the one who looks after it here. */
    async function askForPasswords(): Promise<void> {
      const file = await ask('SHOW hba_file');
      const rules = [`host all ${postgres.user} 127.0.0.1/32 trust`, 'host all all 127.0.0.1/32 scram-sha-256'];
      await ask(`COPY (VALUES ${rules.map((rule) => `('${rule}')`).join(', ')}) TO '${file}'`);
      await ask('SELECT pg_reload_conf()');
      const isAsked = () =>
        userAt('postgres://temporal:wrong@postgres:5432/postgres').then(
          () => false,
          () => true,
        );
      await eventually(isAsked, (asked) => asked);
    }

    const setting = async (name: string) => parseEnv(await readFile(join(scratch, '.env'), 'utf8'))[name] ?? '';

    const startByEnv = async () => start(await setting('BOOK_PASSWORD'), await setting('POSTGRES_PASSWORD'));

    async function userAt(url: string): Promise<string> {
      const client = new pg.Client({
        connectionString: url.replace('@postgres:5432', `@127.0.0.1:${postgres.port}`),
      });
      await client.connect();
      try {
        return (await client.query('SELECT current_user')).rows[0].current_user;
      } finally {
        await client.end();
      }
    }

    const commandsWith = (pattern: RegExp) => commandsOf(pattern, 'Credentials rotate');
    const refused = { code: '28P01' };

    it("PostgreSQL's own, for all who sign in with it", async () => {
      const urlWith = (password: string) => `postgres://temporal:${password}@postgres:5432/temporal`;
      const before = await setting('POSTGRES_PASSWORD');
      expect(await userAt(urlWith(before))).toBe('temporal');
      await shell.follow(commandsWith(/NEW=/));
      await shell.follow(commandsWith(/ALTER ROLE temporal/));
      expect(madeAnew.splice(0)).toEqual([['temporal', 'book-database']]);
      const after = await setting('POSTGRES_PASSWORD');
      expect(await userAt(urlWith(after))).toBe('temporal');
      await expect(userAt(urlWith(before))).rejects.toMatchObject(refused);
    });

    it("that of the book's database, for the role and in its address", async () => {
      const before = await setting('DATABASE_URL');
      expect(await userAt(before)).toBe('sanaga');
      await shell.follow(commandsWith(/NEW=/));
      await shell.follow(commandsWith(/BOOK_PASSWORD/));
      expect(madeAnew.splice(0)).toEqual([['worker'], ['api']]);
      const after = await setting('DATABASE_URL');
      expect(await userAt(after)).toBe('sanaga');
      expect(after).not.toBe(before);
      await expect(userAt(before)).rejects.toMatchObject(refused);
    });
  });
});
