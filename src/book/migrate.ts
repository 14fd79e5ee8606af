import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type RunnerOption, runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Logger } from 'pino';

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** Held while the schema is brought up to date. */
const MIGRATION_LOCK = 7_311_002;

/**
 * Longest wait for a table's lock, in ms: while a migration waits for it, every query after it waits, too. It fails
 * then, and is tried again when there is less to do.
 */
const LOCK_LIMIT_MS = 2_000;

/** The schema isn't the one that this release works with. The message says what to do. */
export class OtherSchema extends Error {
  override readonly name = 'OtherSchema';
}

/** Brings the book's tables up to date. It may be called again, and by several processes at once. */
export async function migrate(url: string, logger: Logger): Promise<void> {
  const dbClient = new pg.Client({ connectionString: url, application_name: 'sanaga migrate' });
  dbClient.on('error', (error) => logger.debug({ err: error }, 'a connection to the book was lost'));
  await dbClient.connect();
  try {
    await dbClient.query('BEGIN');
    await dbClient.query(`SET LOCAL lock_timeout = ${LOCK_LIMIT_MS}`);
    await dbClient.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    // The library's lock belongs to a session, and fails the second process: ours waits. Its transaction ends ours.
    const options: RunnerOption = {
      dbClient,
      dir: MIGRATIONS,
      direction: 'up',
      migrationsTable: 'migrations',
      noLock: true,
      singleTransaction: true,
      logger: { info: () => undefined, warn: () => undefined, error: (text) => logger.error(text) },
    };
    const done = await runner(options);
    if (done.length > 0)
      logger.info({ migrations: done.map(({ name }) => name) }, "the book's tables were brought up to date");
  } finally {
    await dbClient.end();
  }
}

/** @throws {OtherSchema} when migrations are missing that this release needs */
export async function checkSchema(query: (text: string) => Promise<readonly Record<string, unknown>[]>): Promise<void> {
  const [table] = await query("SELECT to_regclass('migrations') IS NOT NULL AS exists");
  const done = table?.exists === true ? await query('SELECT name FROM migrations') : [];
  const names = new Set(done.map(({ name }) => name));
  const missing = (await readdir(MIGRATIONS)).filter((file) => !names.has(file.replace(/\.sql$/, '')));
  if (missing.length > 0) {
    throw new OtherSchema(`The book's tables lack ${missing.join(', ')}. Run: node lib/migrate.js`);
  }
}
