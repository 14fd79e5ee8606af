import { DEBIAN_POSTGRES } from '../../stack/postgres/postgres-programs.js';
import { findOnPath } from '../../stack/temporal/executables.js';

/**
 * A PATH with PostgreSQL's client programs, psql and pg_dump among them. npm doesn't bring these.
 *
 * @throws Error when they aren't installed
 */
export async function pathWithPostgresClients(): Promise<string> {
  const PATH = `${DEBIAN_POSTGRES}:${process.env.PATH}`;
  if ((await findOnPath('pg_restore', { PATH })) !== undefined) return PATH;
  throw new Error("PostgreSQL's client programs are not installed. Install them: apt-get install postgresql-client-15");
}
