import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cacheFolder } from '../../../stack/temporal/executables.js';
import { findTemporal } from '../../../stack/temporal/temporal-cli.js';
import { findTestServer } from '../../../stack/temporal/test-server.js';
import { goThatBuilds, makeScratchFolder } from '../scratch-folder.js';

describe('the cache folder', () => {
  it.each([
    [{ HOME: '/home/ada' }, '/home/ada/.cache/sanaga'],
    [{ HOME: '/home/ada', XDG_CACHE_HOME: '/var/cache' }, '/var/cache/sanaga'],
    [{ HOME: '/home/ada', XDG_CACHE_HOME: '' }, '/home/ada/.cache/sanaga'],
    [{ HOME: '/home/ada', XDG_CACHE_HOME: 'relative' }, '/home/ada/.cache/sanaga'],
  ])('with %j is %s', (env, folder) => {
    expect(cacheFolder(env)).toBe(folder);
  });
});

describe('the executables', () => {
  it('are both in the cache once they are found, so that the next time nothing is fetched or built', async () => {
    const scratch = await makeScratchFolder();
    await scratch.script('bin/go', goThatBuilds());
    await scratch.script('bin/java', 'true');
    await scratch.script('bin/mvn', 'true');
    const lines: string[] = [];
    const options = {
      env: { PATH: `${join(scratch.path, 'bin')}:/usr/bin:/bin` },
      folder: join(scratch.path, 'cache'),
      report: (line: string) => lines.push(line),
      download: async () => ({ kind: 'refused', reason: 'no such host' }) as const,
    };

    await findTemporal(options);
    await findTestServer(options);
    lines.length = 0;
    await findTemporal(options);
    await findTestServer(options);

    expect(lines).toEqual([
      expect.stringMatching(/^temporal: using .* because it is in the cache folder$/),
      expect.stringMatching(/^test server: using .* because it is in the cache folder$/),
    ]);
    await scratch.remove();
  });
});
