import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Postgres } from '../../stack/postgres/postgres.js';
import { type Child, startChild } from '../../stack/processes/child.js';
import { findOnPath } from '../../stack/temporal/executables.js';
import { PROJECT } from './built.js';

/** The container `backup` of docker-compose.yml, as a process: deploy/backup.sh and pgBackRest, with its volumes. */

const STOP_MS = 10_000;

export class Backups {
  #running: Child | undefined;

  private constructor(
    /** The volumes that it shares with PostgreSQL: the backups, PostgreSQL's socket, and metrics. */
    private readonly volumes: string,
  ) {}

  /** Makes the volumes, as folders that PostgreSQL's user may write into. @throws Error without pgBackRest */
  static async make(): Promise<Backups> {
    if ((await findOnPath('pgbackrest', process.env)) === undefined) {
      throw new Error('pgBackRest is not installed. Install it: apt-get install pgbackrest');
    }
    const folder = await mkdtemp(join(tmpdir(), 'sanaga-volumes-'));
    await chmod(folder, 0o755);
    for (const name of ['backups', 'lock', 'socket', 'metrics']) {
      await mkdir(join(folder, name));
      await chmod(join(folder, name), 0o777);
    }
    return new Backups(folder);
  }

  /** The settings that docker-compose.yml starts PostgreSQL with, and the socket that is shared. */
  async settings(): Promise<Record<string, string>> {
    const composed = z
      .object({ services: z.object({ postgres: z.object({ command: z.array(z.string()) }) }) })
      .parse(parse(await readFile(join(PROJECT, 'docker-compose.yml'), 'utf8'), { merge: true }));
    const given = composed.services.postgres.command.filter((word) => word.includes('='));
    const settings = given.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
    return { ...Object.fromEntries(settings), unix_socket_directories: join(this.volumes, 'socket') };
  }

  /** The variables of the containers `postgres` and `backup`. @param data the folder of PostgreSQL's files */
  variables(data: string): Record<string, string> {
    return {
      PGBACKREST_PG1_PATH: data,
      ...{
        PGBACKREST_STANZA: 'sanaga',
        PGBACKREST_REPO1_CIPHER_PASS: 'a-password',
        PGBACKREST_REPO1_PATH: join(this.volumes, 'backups'),
      },
      ...{
        PGBACKREST_CONFIG: join(PROJECT, 'deploy/pgbackrest.conf'),
        PGBACKREST_LOCK_PATH: join(this.volumes, 'lock'),
      },
      ...{
        PGBACKREST_PG1_SOCKET_PATH: join(this.volumes, 'socket'),
        METRICS_FOLDER: join(this.volumes, 'metrics'),
      },
    };
  }

  /** Those that are known once PostgreSQL runs. */
  variablesOf({ data, port }: Postgres): Record<string, string> {
    return { ...this.variables(data), PGBACKREST_PG1_PORT: String(port) };
  }

  async start(postgres: Postgres): Promise<void> {
    const other = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'];
    const [file = 'sh', ...args] = [
      ...(process.getuid?.() === 0 ? other : []),
      'sh',
      join(PROJECT, 'deploy/backup.sh'),
    ];
    this.#running = await startChild({
      name: 'backup',
      file,
      args,
      env: { ...process.env, ...this.variablesOf(postgres) },
    });
  }

  async stop(): Promise<void> {
    await this.#running?.stop(STOP_MS);
  }

  /** When the last whole backup began, as Prometheus is told, in seconds; 0 without one. */
  async madeAt(): Promise<number> {
    const text = await readFile(join(this.volumes, 'metrics/backup.prom'), 'utf8').catch(() => '');
    return Number(/^postgres_backup_timestamp_seconds\{type="full"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  logTail(): Promise<string> | undefined {
    return this.#running?.logTail();
  }

  /** Stops it, and removes the volumes. */
  async remove(): Promise<void> {
    await this.stop();
    await rm(this.volumes, { recursive: true, force: true });
  }
}
