import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { prepareExecutables } from '../../../stack/temporal/prepare-executables.js';
import { goThatBuilds, makeScratchFolder } from './scratch-folder.js';

describe('preparing the executables', () => {
  it('leaves both in the cache, so that the next time nothing is fetched or built', async () => {
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

    await prepareExecutables(options);
    lines.length = 0;
    await prepareExecutables(options);

    expect(lines).toEqual([
      expect.stringMatching(/^temporal: using .* because it is in the cache folder$/),
      expect.stringMatching(/^test server: using .* because it is in the cache folder$/),
    ]);
    await scratch.remove();
  });
});
