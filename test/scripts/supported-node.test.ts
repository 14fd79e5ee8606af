import { execFileSync, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { PROJECT } from '../support/built.js';
import { findNode20 } from '../support/node-20.js';

const { engines }: { readonly engines: { readonly node: string } } = JSON.parse(
  readFileSync(`${PROJECT}package.json`, 'utf8'),
);

const listed = new URL('../../scripts/programs.js', import.meta.url).href;
const { PROGRAMS }: { readonly PROGRAMS: Readonly<Record<string, readonly string[]>> } = await import(listed);

/** Scripts that others import are no programs. */
const MODULES = [
  'scripts/programs.js',
  'scripts/python-tool.js',
  'scripts/supported-node.js',
  'scripts/unless-built.js',
];

/** Needs nothing of ours: it is in an image without the rest, beside that image's Node. */
const ALONE = 'deploy/http-health.js';

const programs = [
  ...Object.entries(PROGRAMS).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}`)),
  ...globSync(['scripts/*.js', 'deploy/*.js'], { cwd: PROJECT }).filter(
    (name) => !MODULES.includes(name) && name !== ALONE,
  ),
].sort();

/** Has Node say that it is another. */
const pretend = (version: string) => [
  '--import',
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`,
];

async function run(node: string, args: readonly string[]) {
  const child = spawn(node, args, { cwd: PROJECT, env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { stdout, stderr, code };
}

const refusal = (version: string, node: string) => ({
  stdout: '',
  stderr:
    `Sanaga needs Node 24 or later, and this is Node ${version} (${node}). ` +
    "In the project's folder, npm run and npx use the one that npm ci brings; with npm 10, run npm rebuild first.\n",
  code: 1,
});

const node20 = await findNode20();

describe('a Node that is too old', () => {
  it('is older than what package.json asks for', () => {
    expect(engines.node).toBe('>=24');
  });

  it.each(programs)('is refused in a line by %s', async (program) => {
    expect(await run(process.execPath, [...pretend('23.11.1'), program])).toEqual(refusal('23.11.1', process.execPath));
  });

  it.each(programs)('is refused in a line by %s on a real Node 20', async (program) => {
    const version = execFileSync(node20, ['--version'], { encoding: 'utf8' }).trim().slice(1);
    expect(await run(node20, [program])).toEqual(refusal(version, node20));
  });
});

describe('the example shop', () => {
  const shop = 'examples/shop/start.js';

  it('says which Node it needs, since an older one reads no TypeScript', async () => {
    expect(await run(process.execPath, [...pretend('22.0.0'), shop])).toEqual({
      stdout: '',
      stderr: 'shop: it needs Node 24 or later, and this is Node 22.0.0\n',
      code: 1,
    });
  });

  it('says so on a real Node 20', async () => {
    const { stderr, code } = await run(node20, [shop]);
    expect(stderr).toMatch(/^shop: it needs Node 24 or later, and this is Node 20\.[\d.]+\n$/);
    expect(code).toBe(1);
  });
});

describe('what is run by its name', () => {
  it('is all that the image, the chart, npm and the stack run', () => {
    const files = ['package.json', 'Dockerfile', 'docker-compose.yml', 'stack/processes/stack.ts', '.ci/run'];
    const charts = globSync('deploy/helm/sanaga/templates/*.yaml', { cwd: PROJECT });
    const named = [...files, ...charts].flatMap((file) =>
      [...readFileSync(`${PROJECT}${file}`, 'utf8').matchAll(/\b(?:lib|build|scripts|deploy)\/[\w/-]+\.js\b/g)].map(
        ([name]) => name,
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    const started = new Set(named.filter((name) => !MODULES.includes(name) && name !== ALONE));
    expect(programs).toEqual(expect.arrayContaining([...started]));
  });
});
