import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api-under-test.js';

const FOLDER = 'src/api/rapidoc';

describe("RapiDoc's copy", () => {
  it('has the files whose digests were written down, and no others', async () => {
    const recorded = (await readFile(`${FOLDER}/SHA256SUMS`, 'utf8')).trimEnd().split('\n');
    const names = (await readdir(FOLDER)).filter((name) => !['README.md', 'SHA256SUMS'].includes(name)).sort();
    const found = names.map(async (name) => {
      const content = await readFile(`${FOLDER}/${name}`);
      return `${createHash('sha256').update(content).digest('hex')}  ${name}`;
    });
    expect(await Promise.all(found)).toEqual(recorded);
    expect(names).toContain('LICENSE.txt');
  });

  it('is of the version that is named beside it and in the list of packages', async () => {
    const [, version] = /RapiDoc (\S+) - /.exec(await readFile(`${FOLDER}/rapidoc-min.js.LICENSE.txt`, 'utf8')) ?? [];
    expect(await readFile(`${FOLDER}/README.md`, 'utf8')).toMatch(new RegExp(`^# RapiDoc ${version}\n`));
    expect(await readFile('scripts/sbom.js', 'utf8')).toContain(`'pkg:npm/rapidoc@${version}'`);
  });

  const api = useApi();
  it('is what the page of the reference is sent', async () => {
    const response = await fetch(`${api.url}/docs/rapidoc.js`);
    const sent = Buffer.from(await response.arrayBuffer());
    expect(sent.equals(gunzipSync(await readFile(`${FOLDER}/rapidoc-min.js.gz`)))).toBe(true);
  });
});
