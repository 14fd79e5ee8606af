import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { DEFAULT_NAMESPACE, lazyConnection } from '../../src/temporal/connection.js';
import { startChild, untilReady } from '../processes/child.js';
import { withLock } from '../processes/lock.js';
import { freePort } from '../processes/ports.js';
import { lastLine, runCommand } from '../processes/run-command.js';
import {
  type Candidate,
  cacheFolder,
  findOnPath,
  firstThatWorks,
  isExecutableFile,
  type LookResult,
} from './executables.js';
import { downloadWithSdk, sdkDownloadPath } from './sdk-download.js';

export interface FindTestServerOptions {
  readonly report: (line: string) => void;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  readonly download?: typeof downloadWithSdk;
  readonly fetch?: typeof fetchTestServer;
}

const ADVICE = 'Install Java (17 or later) and Maven, or allow this machine to reach https://temporal.download.';

/**
 * Finds the executable of the time-skipping test server, which takes a port as its only argument: in the cache folder,
 * then as the SDK's download, then as the Java archive that Maven fetches. A report line says which one was found and
 * why it is used.
 *
 * @throws NothingWorkedError with every place and the reason why it didn't work.
 */
export async function findTestServer({
  report,
  env = process.env,
  folder = cacheFolder(env),
  download = downloadWithSdk,
  fetch = fetchTestServer,
}: FindTestServerOptions): Promise<string> {
  const candidates: Candidate<string>[] = [
    {
      place: 'the cache folder',
      look: async (): Promise<LookResult<string>> => {
        const downloaded = sdkDownloadPath('temporal-test-server', folder);
        const path = (await isExecutableFile(downloaded)) ? downloaded : await fetchedTestServer(folder);
        if (path !== undefined) return { kind: 'found', found: path, why: 'it is in the cache folder' };
        return { kind: 'absent', reason: `${folder} has none` };
      },
    },
    {
      place: "the SDK's download",
      look: async () => {
        const result = await download('temporal-test-server', { folder, env });
        if (result.kind === 'downloaded') {
          return { kind: 'found', found: result.path, why: 'the SDK has downloaded it' };
        }
        report(`test server: the download of the SDK failed: ${result.reason}`);
        return { kind: 'absent', reason: result.reason };
      },
    },
    {
      place: 'Maven',
      look: async () => {
        const result = await fetch({ folder, env, report });
        if (result.kind === 'refused') return { kind: 'absent', reason: result.reason };
        return { kind: 'found', found: result.path, why: 'Maven has fetched it, and no other was found' };
      },
    },
  ];

  const { found, why } = await firstThatWorks('time-skipping test server', candidates, ADVICE);
  report(`test server: using ${found} because ${why}`);
  return found;
}

const VERSION = '1.38.0';
const MAIN_CLASS = 'io.temporal.testserver.TestServer';
const LAUNCHER = 'temporal-test-server';
const FETCH_LIMIT_MS = 10 * 60_000;
const FETCH_FOLDER = 'fetch-';

type TestServerFetch =
  | { readonly kind: 'fetched'; readonly path: string }
  | { readonly kind: 'refused'; readonly reason: string };

const serverFolder = (folder: string) => join(folder, `temporal-test-server-${VERSION}`);

/**
 * The launcher of the test server, if {@link fetchTestServer} has fetched one into the folder. A launcher that another
 * version of Sanaga has written is replaced.
 */
async function fetchedTestServer(folder: string): Promise<string | undefined> {
  const home = serverFolder(folder);
  const path = join(home, LAUNCHER);
  const present = await readFile(path, 'utf8').catch(() => undefined);
  if (present === undefined) return undefined;
  if (present !== launcher) {
    const draft = await mkdtemp(join(home, 'launcher-'));
    await writeFile(join(draft, LAUNCHER), launcher, { mode: 0o755 });
    await rename(join(draft, LAUNCHER), path);
    await rm(draft, { recursive: true });
  }
  return path;
}

/**
 * Fetches the time-skipping test server and its dependencies with Maven into the cache folder, once, and writes a
 * launcher that is called like the native executable: with the port as its argument.
 */
async function fetchTestServer({
  folder,
  env,
  report,
}: {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
}): Promise<TestServerFetch> {
  const [java, mvn] = [await findOnPath('java', env), await findOnPath('mvn', env)];
  if (java === undefined) return { kind: 'refused', reason: 'java is not on PATH' };
  if (mvn === undefined) return { kind: 'refused', reason: 'mvn is not on PATH' };

  await mkdir(folder, { recursive: true });
  const onWait = (pid: number) => report(`test server: waiting for process ${pid}, which is fetching it`);
  return await withLock(join(folder, 'temporal-test-server.lock'), onWait, async () => {
    const present = await fetchedTestServer(folder);
    if (present !== undefined) return { kind: 'fetched', path: present };

    for (const name of await readdir(folder)) {
      // No other fetch is running, as this one has the lock: it was interrupted.
      if (name.startsWith(FETCH_FOLDER)) await rm(join(folder, name), { recursive: true, force: true });
    }
    const place = await mkdtemp(join(folder, FETCH_FOLDER));
    try {
      report(`test server: fetching io.temporal:temporal-test-server:${VERSION} with Maven, once`);
      await writeFile(join(place, 'pom.xml'), pom);
      const outcome = await runCommand(mvn, ['-B', '-q', 'dependency:copy-dependencies'], {
        env,
        cwd: place,
        timeLimitMs: FETCH_LIMIT_MS,
        onProgress: (elapsedMs) => report(`test server: still fetching after ${Math.round(elapsedMs / 1_000)} s`),
      });
      if (outcome.kind === 'failed') {
        return { kind: 'refused', reason: `mvn ${outcome.reason}: ${firstError(outcome.output)}` };
      }
      await writeFile(join(place, LAUNCHER), launcher, { mode: 0o755 });
      await rename(place, serverFolder(folder));
      // It only saves time, and an older Java can't do it.
      await archiveClasses(serverFolder(folder), env).catch(() => undefined);
      return { kind: 'fetched', path: join(serverFolder(folder), LAUNCHER) };
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });
}

const ARCHIVE = 'classes.jsa';
const ARCHIVE_LIMIT_MS = 60_000;

/**
 * Has Java keep the classes of a running server as it has loaded them, so that each server to come starts in half the
 * time. They can only be kept when a server ends that has been used.
 */
async function archiveClasses(home: string, env: NodeJS.ProcessEnv): Promise<void> {
  const draft = join(home, `${ARCHIVE}.draft`);
  const port = await freePort();
  const file = join(home, LAUNCHER);
  const server = await startChild({
    ...{ name: 'test server', file, args: [String(port)] },
    env: { ...env, ARCHIVE_CLASSES_AT_EXIT: draft },
  });
  const namespace = DEFAULT_NAMESPACE;
  const connection = lazyConnection({ address: `127.0.0.1:${port}`, namespace });
  try {
    await untilReady(server, () => connection.workflowService.getSystemInfo({}).then(() => true));
    const { workflow } = new Client({ connection, namespace });
    const handle = await workflow.start('none', { taskQueue: 'none', workflowId: 'none', args: ['none'] });
    await handle.signal('none');
    await handle.describe();
    await handle.terminate();
    await server.stop(ARCHIVE_LIMIT_MS);
    await rename(draft, join(home, ARCHIVE));
  } finally {
    await connection.close();
    await server.kill();
  }
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sanaga</groupId>
  <artifactId>temporal-test-server-with-dependencies</artifactId>
  <version>${VERSION}</version>
  <packaging>pom</packaging>
  <properties>
    <outputDirectory>jars</outputDirectory>
    <includeScope>runtime</includeScope>
  </properties>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${VERSION}</version>
    </dependency>
    <!-- Without it, the logging library warns that it has nowhere to log to. -->
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

/**
 * Java replaces the shell, so that killing the launcher's process kills the server. A loop beside it kills the server
 * when the process that started it is gone: a test run that is killed would leave it running otherwise.
 *
 * The flags are for small machines: with the serial collector and the first compiler alone, the server starts faster
 * and, on two cores, runs faster. The heap may grow, as the server keeps every workflow of a long simulation in memory.
 */
const launcher = `#!/bin/sh
parent=$PPID
(
  while kill -0 "$parent" && kill -0 $$; do sleep 1; done
  kill -KILL $$
) </dev/null >/dev/null 2>&1 &
home=$(dirname "$0")
if [ -n "$ARCHIVE_CLASSES_AT_EXIT" ]; then
  classes="-XX:ArchiveClassesAtExit=$ARCHIVE_CLASSES_AT_EXIT"
elif [ -f "$home/${ARCHIVE}" ]; then
  classes="-XX:SharedArchiveFile=$home/${ARCHIVE}"
else
  classes=-Xshare:auto
fi
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MaxRAMPercentage=50 -Xlog:disable "$classes" -cp "$home/jars/*" ${MAIN_CLASS} "$@"
`;

function firstError(output: string): string {
  return output.split('\n').find((line) => line.startsWith('[ERROR]')) ?? lastLine(output);
}
