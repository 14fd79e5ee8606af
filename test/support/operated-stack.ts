import { chmod, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TemporalOnPostgres } from '../../bench/servers/temporal-on-postgres.js';
import { type Postgres, startPostgres } from '../../stack/postgres/postgres.js';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import type { Backups } from './backups.js';
import { pathWithPostgresClients } from './postgres-clients.js';
import { commandsOf, OperatorsShell, type Services } from './runbook.js';
import type { RunningStack } from './running-stack.js';

/*
 * A stack as docker-compose.yml has it, for those who follow the operators' pages: the book and Temporal on one
 * PostgreSQL, which is backed up.
 */

/** A folder that PostgreSQL's user may read, with Temporal's command line. */
export async function operatorsFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `sanaga-${name}-`));
  await chmod(folder, 0o755);
  await symlink((await findTemporal({ report: () => undefined })).path, join(folder, 'temporal'));
  return folder;
}

/** A new cluster, as the image makes it at the first start of a volume. */
export async function startComposedPostgres(backups: Backups, port?: number): Promise<Postgres> {
  const postgres = await startPostgres(undefined, {
    ...(port !== undefined && { port }),
    settings: await backups.settings(),
    env: (data) => backups.variables(data),
  });
  await postgres.query('postgres', 'CREATE ROLE temporal SUPERUSER LOGIN');
  return postgres;
}

export const composedBookUrl = ({ port }: Postgres) => `postgresql://sanaga@127.0.0.1:${port}/book`;

/** Opens the shell of an operator, and makes the book's database as docker-compose does. */
export async function openOperatorsShell(
  folder: string,
  { postgres, temporal, backups }: { postgres: Postgres; temporal: TemporalOnPostgres; backups: Backups },
  services: Services,
): Promise<OperatorsShell> {
  const shell = new OperatorsShell(
    folder,
    {
      ...process.env,
      ...temporal.env,
      PATH: `${folder}:${await pathWithPostgresClients()}`,
      DATABASE_URL: composedBookUrl(postgres),
      PGHOST: '127.0.0.1',
      PGPORT: String(postgres.port),
      PGUSER: 'temporal',
      ...backups.variablesOf(postgres),
    },
    services,
  );
  await shell.follow(
    'docker-compose run --rm --no-deps -T book-database\ndocker-compose run --rm --no-deps -T migrate',
  );
  return shell;
}

/** Gives the shell what the runbook's commands are written with. */
export async function prepareCommands(shell: OperatorsShell, { stack, secrets }: RunningStack): Promise<void> {
  await shell.follow(commandsOf(/^ask\(\)/m));
  await shell.follow(commandsOf(/^temporal\(\)/m));
  await shell.follow(
    `export SANAGA_URL=${stack.apiUrl} SANAGA_API_KEY=${secrets.apiKey} ENCRYPTION_KEYS=${secrets.encryptionKeys}`,
  );
}
