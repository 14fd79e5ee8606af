import { describe, expect, it } from '@jest/globals';
import { asRoot, ENGINE, inside, inspect, OURS } from './compose.js';

const NO_CAPABILITY = '0000000000000000';

describe.each(OURS)('the container of %s', (service) => {
  it('has no root, no capability, and no way to get either', async () => {
    const status = await inside(service, 'cat', '/proc/1/status');
    const read = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1];
    expect(['Uid', 'CapEff', 'CapPrm', 'CapBnd', 'NoNewPrivs'].map(read)).toEqual([
      '1000',
      ...[NO_CAPABILITY, NO_CAPABILITY, NO_CAPABILITY],
      '1',
    ]);
  });

  it('can write nothing but what is temporary', async () => {
    await expect(inside(service, 'touch', '/app/written')).rejects.toThrow('Read-only file system');
    await inside(service, 'touch', '/tmp/written');
  });

  it('has the licence, and those of its packages that are Markdown', async () => {
    expect(await inside(service, 'head', '-n', '2', '/app/LICENSE')).toContain('Apache License');
    const found = await inside(service, 'find', '/app/node_modules', '-iname', 'licen[cs]e*.md');
    expect(found.split('\n').length).toBeGreaterThan(5);
  });

  it('has neither npm nor a compiler', async () => {
    const programs = await inside(
      service,
      'sh',
      '-c',
      'ls /usr/local/bin /usr/bin | grep -xE "npm|npx|yarn|gcc|cc" || true',
    );
    expect(programs).toBe('');
  });
});

/** Where the engine says that a log is. */
const LOG_FILE = ENGINE === 'docker' ? '{{.LogPath}}' : '{{.HostConfig.LogConfig.Path}}';
/** More than docker-compose.yml lets a file have, and much less than what is written. */
const LIMIT_BYTES = 15_000_000;

describe('a log', () => {
  it('is cut off before it fills the disk', async () => {
    const lines = `const line = 'x'.repeat(99_999) + '\\n';
      const out = require('node:fs').openSync('/proc/1/fd/1', 'w');
      for (let count = 0; count < 700; count++) require('node:fs').writeSync(out, line);`;
    await inside('desk', 'node', '-e', lines);
    const file = await inspect('desk', LOG_FILE);
    expect(Number(await asRoot('stat', '--format', '%s', file))).toBeLessThan(LIMIT_BYTES);
  });
});
