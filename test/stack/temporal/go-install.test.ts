import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildTemporal, builtTemporalPath } from '../../../stack/temporal/go-install.js';
import { goThatBuilds, makeScratchFolder, type ScratchFolder, saysVersion } from './scratch-folder.js';

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

  async function build(progressEvery?: number) {
    return await buildTemporal({
      folder,
      env: { PATH: `${join(scratch.path, 'bin')}:/usr/bin:/bin`, LOG: join(scratch.path, 'go.log') },
      report: (line) => lines.push(line),
      ...(progressEvery !== undefined && { progressEvery }),
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
