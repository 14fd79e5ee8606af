import { cp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Postgres } from '../../stack/postgres/postgres.js';
import { runCommand } from '../../stack/processes/run-command.js';

/** A copy of a store's files, made while nothing writes to them. */
export interface StoreCopy {
  /** Puts it in the place of the store's files, while nothing uses them. */
  restore(): Promise<void>;
}

const COPY_LIMIT_MS = 120_000;

/** Copies a PostgreSQL's files, with their owner: it refuses those of another. */
export async function copyPostgres({ data }: Pick<Postgres, 'data'>): Promise<StoreCopy> {
  const kept = `${data}-copy`;
  await copyFolder(data, kept);
  return {
    async restore() {
      await rm(data, { recursive: true, force: true });
      await copyFolder(kept, data);
    },
  };
}

async function copyFolder(from: string, to: string): Promise<void> {
  const outcome = await runCommand('cp', ['-a', from, to], { env: process.env, timeLimitMs: COPY_LIMIT_MS });
  if (outcome.kind === 'failed') throw new Error(`${from} can't be copied: ${outcome.output}`);
}

/** Copies Temporal's SQLite database, with what isn't in its main file yet. */
export async function copyTemporal(databaseFile: string): Promise<StoreCopy> {
  const folder = dirname(databaseFile);
  const kept = `${databaseFile}-copy`;
  const files = async () => (await readdir(folder)).filter((name) => isOf(databaseFile, name));
  for (const name of await files()) await cp(join(folder, name), join(kept, name));
  return {
    async restore() {
      for (const name of await files()) await rm(join(folder, name));
      for (const name of await readdir(kept)) await cp(join(kept, name), join(folder, name));
    },
  };
}

/** The database's file, its log, or the log's index. */
function isOf(databaseFile: string, name: string): boolean {
  const own = basename(databaseFile);
  return [own, `${own}-wal`, `${own}-shm`].includes(name);
}
