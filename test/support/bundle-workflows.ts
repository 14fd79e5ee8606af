import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** What this file has of a server: jest loads it before it can load what is written in TypeScript. */
interface BookServer {
  url(database: string): string;
  query(database: string, sql: string): Promise<string>;
  stop(): Promise<void>;
}

declare global {
  var bookServer: BookServer | undefined;
}

/** Before all suites: the workflows as one bundle, and a PostgreSQL server on which each suite makes its books. */
export default async function setUp(): Promise<void> {
  await bundleWorkflows();
  await startBookServer();
}

async function startBookServer(): Promise<void> {
  const { startPostgres } = await import(here('../../build/stack/postgres/postgres.js'));
  const { migrate } = await import(here('../../build/src/book/migrate.js'));
  // A test's data may be lost with the machine.
  const server: BookServer = await startPostgres(undefined, { settings: { fsync: 'off', synchronous_commit: 'off' } });
  globalThis.bookServer = server;
  await server.query('postgres', 'CREATE DATABASE empty_book');
  await migrate(server.url('empty_book'), { debug: () => undefined, info: () => undefined, error: () => undefined });
  process.env.BOOK_SERVER = server.url('');
}

/** Bundles the workflows from their source once for all suites, so that no test ever runs a stale build. */
async function bundleWorkflows(): Promise<void> {
  const { code } = await bundleFromSource();
  const folder = here('../../node_modules/.cache/sanaga');
  const digest = createHash('sha256').update(code).digest('hex').slice(0, 16);
  const path = `${folder}/workflows-${digest}.js`;
  await mkdir(folder, { recursive: true });
  // Two runs at once may write the same bundle: neither may read half of it.
  await writeFile(`${path}.${process.pid}`, code);
  await rename(`${path}.${process.pid}`, path);
  process.env.WORKFLOW_BUNDLE = path;
}

/** The workflows as they are today, with these files' interceptors on top: another version of them. */
export async function bundleFromSource(interceptors: readonly string[] = []): Promise<{ code: string }> {
  const workflowsPath = here('../../src/workflows/index.ts');
  return await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [...interceptors],
    preloadModules: [workflowsPath],
    failureConverterPath: here('../../src/temporal/failure-converter.ts'),
    payloadConverterPath: here('../../src/temporal/payload-converter.ts'),
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
    }),
  });
}

/** The bundle that {@link bundleWorkflows} made. */
export function workflowBundle(): { codePath: string } {
  const { WORKFLOW_BUNDLE: codePath } = process.env;
  if (codePath === undefined) throw new Error('no workflow bundle: run the tests through jest.config.js');
  return { codePath };
}

function here(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
