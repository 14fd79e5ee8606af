import { spawn } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from '../../../stack/processes/run-command.js';
import { sdkDownloadPath } from '../../../stack/temporal/sdk-download.js';
import { findTestServer } from '../../../stack/temporal/test-server.js';
import { makeScratchFolder, type ScratchFolder } from '../scratch-folder.js';

describe('the search for the time-skipping test server', () => {
  let scratch: ScratchFolder;
  let cache: string;
  let env: NodeJS.ProcessEnv;
  let lines: string[];
  let asked: string[];

  beforeEach(async () => {
    scratch = await makeScratchFolder();
    cache = join(scratch.path, 'cache');
    env = { PATH: `${join(scratch.path, 'bin')}:/bin` };
    lines = [];
    asked = [];
  });

  afterEach(async () => {
    await scratch.remove();
  });

  async function find({ downloaded }: { downloaded?: string } = {}) {
    return await findTestServer({
      env,
      folder: cache,
      report: (line) => lines.push(line),
      download: async () => {
        asked.push('download');
        if (downloaded === undefined) return { kind: 'refused', reason: 'no such host' };
        return { kind: 'downloaded', path: downloaded };
      },
    });
  }

  it('takes what an earlier download has left in the cache', async () => {
    const path = await scratch.script(sdkDownloadPath('temporal-test-server', 'cache'), 'true');

    expect(await find()).toBe(path);
    expect(asked).toEqual([]);
  });

  it("takes the SDK's download before it asks Maven", async () => {
    const downloaded = await scratch.script('elsewhere/server', 'true');
    await scratch.script('bin/java', 'true');
    await scratch.script('bin/mvn', 'exit 9');

    expect(await find({ downloaded })).toBe(downloaded);
  });

  it('fetches it with Maven when the download is refused, once', async () => {
    await scratch.script('bin/java', 'true');
    await scratch.script('bin/mvn', `cp pom.xml ${join(scratch.path, 'seen.xml')}; echo "$@" >> ${scratch.path}/calls`);

    const [first, second] = await Promise.all([find(), find()]);

    expect(first).toBe(join(cache, 'temporal-test-server-1.38.0', 'temporal-test-server'));
    expect(second).toBe(first);
    expect(await readFile(join(scratch.path, 'calls'), 'utf8')).toBe('-B -q dependency:copy-dependencies\n');
    expect(await readFile(join(scratch.path, 'seen.xml'), 'utf8')).toMatch(
      /<artifactId>temporal-test-server<\/artifactId>\s*<version>1\.38\.0</,
    );
    expect(lines.at(-1)).toMatch(/because Maven has fetched it/);
    await find();
    expect(asked).toEqual(['download', 'download']);
  });

  it('ends with one error that lists every place and its reason', async () => {
    await scratch.script('bin/java', 'true');
    await scratch.script('bin/mvn', 'echo "[ERROR] no such artifact"; echo "[ERROR] -> [Help 1]"; exit 1');

    await expect(find()).rejects.toThrow(
      /1\. the cache folder: .* has none\n {2}2\. the SDK's download: no such host\n {2}3\. Maven: mvn ended with code 1: \[ERROR\] no such artifact\n/,
    );
    expect(await readdir(cache)).toEqual([]);
  });

  it.each(['java', 'mvn'])('says so when there is no %s', async (missing) => {
    for (const name of ['java', 'mvn']) {
      if (name !== missing) await scratch.script(`bin/${name}`, 'true');
    }
    env = { PATH: join(scratch.path, 'bin') };

    await expect(find()).rejects.toThrow(`3. Maven: ${missing} is not on PATH`);
  });
});

describe("the test server's launcher", () => {
  let scratch: ScratchFolder;
  let launcher: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    scratch = await makeScratchFolder();
    env = { PATH: `${join(scratch.path, 'bin')}:/usr/bin:/bin` };
    await scratch.script('bin/mvn', 'true');
    await scratch.script('bin/java', 'echo "$@"');
    const download = async () => ({ kind: 'refused', reason: 'not asked' }) as const;
    launcher = await findTestServer({ env, folder: scratch.path, report: () => undefined, download });
  });

  afterEach(async () => {
    await scratch.remove();
  });

  it('runs the server with the port that it is given', async () => {
    const { output } = await runCommand(launcher, ['7777'], { env, timeLimitMs: 120_000 });

    expect(output).toMatch(
      /-cp \S+\/temporal-test-server-1\.38\.0\/jars\/\* io\.temporal\.testserver\.TestServer 7777\n$/,
    );
  });

  it('takes the classes that Java has kept, once there are any', async () => {
    const run = async () => (await runCommand(launcher, ['7777'], { env, timeLimitMs: 120_000 })).output;
    expect(await run()).not.toContain('SharedArchiveFile');

    const archive = join(dirname(launcher), 'classes.jsa');
    await writeFile(archive, '');

    expect(await run()).toContain(`-XX:SharedArchiveFile=${archive} `);
  });

  it('has Java keep its classes when it is asked to', async () => {
    const asked = { ...env, ARCHIVE_CLASSES_AT_EXIT: '/tmp/draft' };
    const { output } = await runCommand(launcher, ['7777'], { env: asked, timeLimitMs: 120_000 });

    expect(output).toContain('-XX:ArchiveClassesAtExit=/tmp/draft ');
  });

  it('is written anew when another version of Sanaga has left it', async () => {
    const ours = await readFile(launcher, 'utf8');
    await writeFile(launcher, 'exec java -version');

    await findTestServer({ env, folder: scratch.path, report: () => undefined });

    expect(await readFile(launcher, 'utf8')).toBe(ours);
    expect((await stat(launcher)).mode & 0o111).toBe(0o111);
  });

  it('ends the server when the process that started it is gone', async () => {
    const pidFile = join(scratch.path, 'pid');
    await scratch.script('bin/java', `echo $$ > ${pidFile}; exec sleep 60`);
    const parent = spawn('/bin/sh', ['-c', `"${launcher}" 7777 & wait`], { env, stdio: 'ignore' });
    const pid = await until(async () => Number(await readFile(pidFile, 'utf8')) || undefined);

    parent.kill('SIGKILL');

    await until(async () => !isAlive(pid) || undefined);
    expect(isAlive(pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    const value = await look().catch(() => undefined);
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not come about within 30 s');
}
