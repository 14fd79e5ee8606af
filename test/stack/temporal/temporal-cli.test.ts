import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NothingWorkedError } from '../../../stack/temporal/executables.js';
import { sdkDownloadPath } from '../../../stack/temporal/sdk-download.js';
import { buildTemporal, builtTemporalPath, findTemporal } from '../../../stack/temporal/temporal-cli.js';
import { goThatBuilds, makeScratchFolder, type ScratchFolder, saysVersion } from '../scratch-folder.js';

describe('the search for the Temporal CLI', () => {
  let scratch: ScratchFolder;
  let lines: string[];
  let asked: string[];

  beforeEach(async () => {
    scratch = await makeScratchFolder();
    lines = [];
    asked = [];
  });

  afterEach(async () => {
    await scratch.remove();
  });

  /** Looks only in the scratch folder; a download is refused unless `downloaded` is where it would leave the file. */
  async function find({ downloaded }: { downloaded?: string } = {}) {
    return await findTemporal({
      env: { PATH: `${join(scratch.path, 'bin')}:/usr/bin:/bin` },
      folder: join(scratch.path, 'cache'),
      report: (line) => lines.push(line),
      download: async () => {
        asked.push('download');
        if (downloaded === undefined) return { kind: 'refused', reason: 'no such host' };
        return { kind: 'downloaded', path: downloaded };
      },
    });
  }

  const cachedName = (path: string) => path.slice(scratch.path.length + 1);
  const built = () => cachedName(builtTemporalPath(join(scratch.path, 'cache')));

  it('prefers the one on PATH to the one in the cache', async () => {
    const onPath = await scratch.script('bin/temporal', saysVersion());
    await scratch.script(built(), saysVersion());

    expect(await find()).toEqual({ path: onPath, version: '1.29.1' });
    expect(lines).toEqual([`temporal: using ${onPath} (server 1.29.1) because it is on PATH`]);
  });

  it('takes what was built into the cache before it asks for a download', async () => {
    const cached = await scratch.script(built(), saysVersion());

    expect((await find()).path).toBe(cached);
    expect(asked).toEqual([]);
    expect(lines.at(-1)).toMatch(/because it is in the cache folder$/);
  });

  it('takes what the SDK has downloaded into the cache earlier', async () => {
    const name = cachedName(sdkDownloadPath('temporal', join(scratch.path, 'cache')));
    const cached = await scratch.script(name, saysVersion());

    expect((await find()).path).toBe(cached);
    expect(asked).toEqual([]);
  });

  it('asks for the download when there is none on PATH nor in the cache', async () => {
    const downloaded = await scratch.script('elsewhere/temporal', saysVersion());
    await scratch.script('bin/go', 'exit 9');

    expect((await find({ downloaded })).path).toBe(downloaded);
    expect(lines.at(-1)).toMatch(/because the SDK has downloaded it$/);
  });

  it('builds with Go when the download is refused, and finds the build in the cache afterwards', async () => {
    await scratch.script('bin/go', goThatBuilds());

    const first = await find();
    expect(first.path).toBe(join(scratch.path, built()));
    expect(lines.at(-1)).toMatch(/because it was built with Go/);
    expect(await find()).toEqual(first);
    expect(asked).toEqual(['download']);
  });

  it('passes over one on PATH that is too old', async () => {
    await scratch.script('bin/temporal', saysVersion('1.22.0'));
    const cached = await scratch.script(built(), saysVersion('1.29.0'));

    expect((await find()).path).toBe(cached);
  });

  it('passes over one in the cache that does not run', async () => {
    await scratch.script(built(), 'exit 3');
    const downloaded = await scratch.script('elsewhere/temporal', saysVersion());

    expect((await find({ downloaded })).path).toBe(downloaded);
  });

  it('ends with one error that lists every place and its reason when none serves', async () => {
    await scratch.script('bin/temporal', 'echo a clock, not a server');
    await scratch.script(built(), 'echo "cannot run" >&2; exit 3');
    await scratch.script('bin/go', 'echo "go: no network" >&2; exit 1');

    const error = await find().catch((caught) => caught);

    expect(error).toBeInstanceOf(NothingWorkedError);
    expect(error.tried.map(({ place }: { place: string }) => place)).toEqual([
      'temporal on PATH',
      'the cache folder',
      "the SDK's download",
      'go install',
    ]);
    expect(error.message).toMatch(/1\. temporal on PATH: .*says "a clock, not a server"/);
    expect(error.message).toMatch(/2\. the cache folder: .*does not run: cannot run/);
    expect(error.message).toMatch(/3\. the SDK's download: no such host/);
    expect(error.message).toMatch(/4\. go install: .*go: no network/);
    expect(error.message).toMatch(/TEMPORAL_ADDRESS/);
  });
});

describe('a build of the Temporal CLI with Go', () => {
  let scratch: ScratchFolder;
  let folder: string;
  let lines: string[];

  beforeEach(async () => {
    scratch = await makeScratchFolder();
    folder = join(scratch.path, 'cache');
    lines = [];
  });

  afterEach(async () => {
    await scratch.remove();
  });

  async function build(progressEveryMs?: number) {
    return await buildTemporal({
      folder,
      env: { PATH: `${join(scratch.path, 'bin')}:/usr/bin:/bin`, LOG: join(scratch.path, 'go.log') },
      report: (line) => lines.push(line),
      ...(progressEveryMs !== undefined && { progressEveryMs }),
    });
  }

  const go = (seconds: number) => `echo "$@" >> "$LOG"; ${goThatBuilds(seconds)}`;

  it('happens once when two need it at the same time', async () => {
    await scratch.script('bin/go', go(0.3));

    const results = await Promise.all([build(), build()]);

    const path = builtTemporalPath(folder);
    expect(results).toEqual([
      { kind: 'built', path },
      { kind: 'built', path },
    ]);
    const calls = await readFile(join(scratch.path, 'go.log'), 'utf8');
    expect(calls).toBe('install github.com/temporalio/cli/cmd/temporal@v1.5.1\n');
    expect(lines).toContain(`temporal: waiting for process ${process.pid}, which is building it`);
  });

  it('tells how long it has been going on', async () => {
    await scratch.script('bin/go', go(0.3));

    await build(100);

    expect(lines.filter((line) => /still building after \d+ s/.test(line)).length).toBeGreaterThan(0);
  });

  it('leaves nothing behind when it fails, and clears what a killed one has left', async () => {
    await scratch.script('bin/go', 'touch "$GOBIN/half"; echo "go: module not found" >&2; exit 1');
    await mkdir(join(folder, 'build-abandoned'), { recursive: true });

    expect(await build()).toEqual({
      kind: 'refused',
      reason: 'go install ended with code 1: go: module not found',
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('replaces a build that does not run', async () => {
    await scratch.script('bin/go', go(0));
    const broken = await scratch.script('cache/temporal-1.5.1', 'exit 3');

    expect(await build()).toEqual({ kind: 'built', path: broken });
    expect(await readFile(broken, 'utf8')).toContain(saysVersion());
  });

  it('says so when there is no Go', async () => {
    const outcome = await buildTemporal({ folder, env: { PATH: folder }, report: () => undefined });

    expect(outcome).toEqual({ kind: 'refused', reason: 'go is not on PATH' });
  });
});
