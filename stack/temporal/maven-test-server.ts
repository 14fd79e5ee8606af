import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './lock.js';
import { findOnPath } from './on-path.js';
import { lastLine, runCommand } from './run-command.js';

const VERSION = '1.38.0';
const MAIN_CLASS = 'io.temporal.testserver.TestServer';
const LAUNCHER = 'temporal-test-server';
const FETCH_LIMIT = 10 * 60_000;
const FETCH_FOLDER = 'fetch-';

export type TestServerFetch =
  | { readonly kind: 'fetched'; readonly path: string }
  | { readonly kind: 'refused'; readonly reason: string };

const serverFolder = (folder: string) => join(folder, `temporal-test-server-${VERSION}`);

/**
 * The launcher of the test server that {@link fetchTestServer} has fetched into the folder earlier. It is written anew
 * when it is another version's of Sanaga.
 */
export async function fetchedTestServer(folder: string): Promise<string | undefined> {
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
 * Fetches the time-skipping test server with its dependencies through Maven into the cache folder, once, and writes a
 * launcher for it that runs like the native executable: the port is its argument.
 */
export async function fetchTestServer({
  folder,
  env,
  report,
}: {
  folder: string;
  env: NodeJS.ProcessEnv;
  report: (line: string) => void;
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
      // Under the lock no other fetch is running, so this belongs to one that was cut short.
      if (name.startsWith(FETCH_FOLDER)) await rm(join(folder, name), { recursive: true, force: true });
    }
    const place = await mkdtemp(join(folder, FETCH_FOLDER));
    try {
      report(`test server: fetching io.temporal:temporal-test-server:${VERSION} with Maven, once`);
      await writeFile(join(place, 'pom.xml'), pom);
      const outcome = await runCommand(mvn, ['-B', '-q', 'dependency:copy-dependencies'], {
        env,
        cwd: place,
        timeLimit: FETCH_LIMIT,
        onProgress: (elapsed) => report(`test server: still fetching after ${Math.round(elapsed / 1_000)} s`),
      });
      if (outcome.kind === 'failed') {
        return { kind: 'refused', reason: `mvn ${outcome.reason}: ${firstError(outcome.output)}` };
      }
      await writeFile(join(place, LAUNCHER), launcher, { mode: 0o755 });
      await rename(place, serverFolder(folder));
      return { kind: 'fetched', path: join(serverFolder(folder), LAUNCHER) };
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });
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
    <!-- Keeps the logging library from complaining that it has nowhere to log to. -->
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

/**
 * Java takes the place of the shell, so that killing the launcher's process kills the server. Beside it, a watch ends
 * the server when the process that started it is gone: a test run that was killed would leave it running otherwise.
 *
 * The flags are for small machines: the plain collector and only the quick compiler start faster and, on two cores, run
 * faster, too. The heap may grow, since the server keeps every workflow of a long simulation in memory.
 */
const launcher = `#!/bin/sh
parent=$PPID
(
  while kill -0 "$parent" && kill -0 $$; do sleep 1; done
  kill -KILL $$
) </dev/null >/dev/null 2>&1 &
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MaxRAMPercentage=50 -cp "$(dirname "$0")/jars/*" ${MAIN_CLASS} "$@"
`;

function firstError(output: string): string {
  return output.split('\n').find((line) => line.startsWith('[ERROR]')) ?? lastLine(output);
}
