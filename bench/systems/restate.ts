import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import got from 'got';
import { z } from 'zod';
import { answers, type Child, startChild, untilReady } from '../../stack/processes/child.js';
import { freePort } from '../../stack/processes/ports.js';
import { cleanEnvironment } from '../environment.js';
import { installPeer, peerFolder, peerSettings, peerTarget, startPeer } from './peer.js';
import { Started, type System, type SystemContext } from './system.js';

const NAME = 'restate';
const STOP_GRACE_MS = 10_000;
const END_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 50;

const countSchema = z.object({ rows: z.tuple([z.object({ n: z.number() })]) });

/** Restate's server, and one process with the API and the service that the server calls. */
export const restate: System = {
  name: NAME,
  missing: async () => undefined,
  prepare: (report) => installPeer(NAME, report),
  start: (context) =>
    Started.while(async (started) => {
      const ports = { ingress: await freePort(), admin: await freePort(), fabric: await freePort() };
      const [service, port] = [await freePort(), await freePort()];
      const [adminUrl, ingressUrl] = [`http://127.0.0.1:${ports.admin}`, `http://127.0.0.1:${ports.ingress}`];
      const data = join(context.folder, 'restate-data');
      const server = await startServer(context, ports, data);
      started.add(() => server.stop(STOP_GRACE_MS));
      const app = await startPeer(context, NAME, 'app', {
        ...peerSettings(context, port),
        RESTATE_INGRESS_URL: ingressUrl,
        SERVICE_PORT: String(service),
        // Otherwise the SDK logs several lines of each call.
        RESTATE_LOGGING: 'WARN',
      });
      started.add(() => app.stop(STOP_GRACE_MS));
      await untilReady(app, () => answers(`http://127.0.0.1:${port}/readyz`));
      await untilReady(server, () => answers(`${adminUrl}/health`));
      await untilReady(server, async () => {
        await got.post(`${adminUrl}/deployments`, {
          json: { uri: `http://127.0.0.1:${service}`, force: true },
          retry: { limit: 0 },
        });
        return true;
      });
      await untilReady(server, () => answers(`${ingressUrl}/restate/health`));

      const count = async (query: string) => {
        const body = await got.post(`${adminUrl}/query`, {
          json: { query: `select count(*) as n from ${query}` },
          headers: { accept: 'application/json' },
        });
        return countSchema.parse(JSON.parse(body.body)).rows[0].n;
      };
      return {
        target: peerTarget(port),
        processes: { app: app.pid, server: server.pid },
        bytes: () => folderSize(data),
        async events(payments) {
          const ids = `(${payments.map((id) => `'${id}'`).join(', ')})`;
          const deadline = Date.now() + END_LIMIT_MS;
          const ended = `sys_invocation where target_handler_name = 'run' and status = 'completed'`;
          while ((await count(`${ended} and target_service_key in ${ids}`)) < payments.length) {
            if (Date.now() > deadline) throw new Error('some workflows of Restate have not ended');
            await pause(LOOK_EVERY_MS);
          }
          return await count(`sys_journal j join sys_invocation i on j.id = i.id where i.target_service_key in ${ids}`);
        },
        stop: () => started.stop(),
      };
    }),
};

function startServer(
  { folder }: SystemContext,
  { ingress, admin, fabric }: Readonly<Record<'ingress' | 'admin' | 'fabric', number>>,
  data: string,
): Promise<Child> {
  return startChild({
    name: 'restate-server',
    file: serverProgram(),
    args: ['--no-logo'],
    env: {
      ...cleanEnvironment(),
      RESTATE_BASE_DIR: data,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_ADVERTISED_HOST: '127.0.0.1',
      RESTATE_BIND_PORT: String(fabric),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
    },
    logFile: join(folder, 'server.log'),
  });
}

/** The server's executable, which comes in a package for each platform. */
function serverProgram(): string {
  const require = createRequire(join(peerFolder(NAME), 'package.json'));
  const inPackage = `@restatedev/restate-server-${process.platform}-${process.arch}/package.json`;
  return join(require.resolve(inPackage), '..', 'bin', 'restate-server');
}

/** Bytes of the files in a folder and below it. Files that go away meanwhile don't count. */
async function folderSize(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
