import { setTimeout as pause } from 'node:timers/promises';
import { startPostgres } from '../../stack/postgres/postgres.js';
import { findPostgres, POSTGRES_ADVICE } from '../../stack/postgres/postgres-programs.js';
import { answers, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { installPeer, peerSettings, peerTarget, startPeer } from './peer.js';
import { Started, type System } from './system.js';

const NAME = 'dbos';
const DATABASE = 'payments';
const STOP_GRACE_MS = 10_000;
const END_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** DBOS on PostgreSQL: the engine is a library in the process of the API. */
export const dbos: System = {
  name: NAME,
  missing: async () => ((await findPostgres()) === undefined ? POSTGRES_ADVICE : undefined),
  prepare: (report) => installPeer(NAME, report),
  start: (context) =>
    Started.while(async (started) => {
      const postgres = await startPostgres();
      started.add(postgres.stop);
      await postgres.query('postgres', `create database ${DATABASE}`);
      const port = await freePort();
      const app = await startPeer(context, NAME, 'app', {
        ...peerSettings(context, port),
        DBOS_SYSTEM_DATABASE_URL: postgres.url(DATABASE),
      });
      started.add(() => app.stop(STOP_GRACE_MS));
      await untilReady(app, () => answers(`http://127.0.0.1:${port}/readyz`));

      const count = async (table: string, where: string) =>
        Number(await postgres.query(DATABASE, `select count(*) from dbos.${table} where ${where}`));
      return {
        target: peerTarget(port),
        processes: { app: app.pid, postgres: postgres.pid },
        bytes: () => postgres.size([DATABASE]),
        async events(payments) {
          const ids = `workflow_uuid in (${payments.map((id) => `'${id}'`).join(', ')})`;
          const deadline = Date.now() + END_LIMIT_MS;
          while ((await count('workflow_status', `${ids} and status = 'SUCCESS'`)) < payments.length) {
            if (Date.now() > deadline) throw new Error('some workflows of DBOS have not ended');
            await pause(LOOK_EVERY_MS);
          }
          return (await count('workflow_status', ids)) + (await count('operation_outputs', ids));
        },
        stop: () => started.stop(),
      };
    }),
};
