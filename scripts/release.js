/*
 * Prepares a release, and publishes nothing: `npm run release -- 0.1.0`, from a clean tree. It leaves in release/0.1.0/
 * the client's npm package, the context of the images (`docker build - <FILE`), the chart, the list of production's
 * packages, the notes out of the changelog, and the digests of these; each is checked first, as who gets it would use
 * it.
 */
// An old Node has neither function, and is to be told so by the first import: named imports would fail before it.
import './supported-node.js';

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, { readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path, { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const [version = ''] = process.argv.slice(2);
const release = join(root, 'release', version);
const file = (name) => join(release, name);
const read = (name) => readFileSync(join(root, name), 'utf8');

const packed = `sanaga-${version}.tgz`;
const context = `sanaga-images-${version}.tar.gz`;
const chart = `sanaga-chart-${version}.tgz`;
const packages = `sanaga-${version}.cdx.json`;

refuse(mistakes());
const scratch = await mkdtemp(join(tmpdir(), 'sanaga-release-'));
try {
  await rm(release, { recursive: true, force: true });
  await mkdir(release, { recursive: true });
  run('npm', ['run', '--silent', 'build']);
  await packClient();
  await packContext();
  await packChart();
  await listPackages();
  await writeFile(file('NOTES.md'), notes().text);
  await writeDigests();
} catch (error) {
  // What isn't whole may not be taken for a release.
  await rm(release, { recursive: true, force: true });
  refuse([error instanceof Error ? error.message : String(error)]);
} finally {
  await rm(scratch, { recursive: true, force: true });
}
process.stdout.write(`${release}\n${(await readdir(release)).map((name) => `  ${name}\n`).join('')}`);
const unpinned = ['docker-compose.yml', 'Dockerfile'].flatMap((name) =>
  [...read(name).matchAll(/^(?:\s*image: |FROM )(?!sanaga)([\w./-]+:[\w.-]+)(?:\s|$)/gm)].map(([, image]) => image),
);
if (unpinned.length > 0) {
  process.stdout.write(`No digest has ${unpinned.join(', ')}: run npm run pin, commit, and run this again.\n`);
}
if (notes().date === 'unreleased') {
  process.stdout.write(`CHANGELOG.md calls ${version} unreleased: give it a date, commit, and run this again.\n`);
}

/** Says what keeps this tree from being released as the version. */
function mistakes() {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return ['give the version, such as: npm run release -- 0.1.0'];
  const changed = run('git', ['status', '--porcelain']).trim();
  const description = parse(read('deploy/helm/sanaga/Chart.yaml'));
  const given = {
    'package.json': JSON.parse(read('package.json')).version,
    'package-lock.json': JSON.parse(read('package-lock.json')).version,
    'client/transport.ts': /VERSION = '(.*)'/.exec(read('client/transport.ts'))?.[1],
    'deploy/helm/sanaga/Chart.yaml (version)': description.version,
    'deploy/helm/sanaga/Chart.yaml (appVersion)': description.appVersion,
  };
  return [
    ...(changed === '' ? [] : [`the tree is not clean:\n${changed}`]),
    ...Object.entries(given)
      .filter(([, one]) => one !== version)
      .map(([name, one]) => `${name} has the version ${one}`),
    ...(notes() === undefined ? [`CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)" with text below it`] : []),
  ];
}

function refuse(reasons) {
  if (reasons.length === 0) return;
  process.stderr.write(`${reasons.map((reason) => `release: ${reason}\n`).join('')}`);
  process.exit(1);
}

/** Returns the changelog's section for the version, and its date, which may be "unreleased". */
function notes() {
  for (const chapter of read('CHANGELOG.md').split(/^## /m)) {
    const [, named, date] = /^(\S+) \((\d{4}-\d{2}-\d{2}|unreleased)\)\n/.exec(chapter) ?? [];
    const text = chapter.slice(chapter.indexOf('\n')).trim();
    if (named === version && text !== '') return { date, text: `${text}\n` };
  }
  return undefined;
}

/** Packs the client, installs it in a project of its own, and imports it there. */
async function packClient() {
  run('npm', ['pack', '--silent', join(root, 'dist'), '--pack-destination', release]);
  const cwd = await folder('merchant');
  run('npm', ['init', '--yes'], cwd);
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', file(packed)], cwd);
  const use = "import { Sanaga } from 'sanaga/client'; new Sanaga({ apiKey: 'sk', baseUrl: 'http://127.0.0.1' });";
  run(process.execPath, ['--input-type=module', '--eval', use], cwd);
}

/** Packs what .dockerignore lets through, and builds the product of it alone, as the Dockerfile does. */
async function packContext() {
  const kept = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const names = run('git', ['ls-files'])
    .trim()
    .split('\n')
    .filter((name) => name === 'Dockerfile' || kept.some((one) => name === one || path.matchesGlob(name, `${one}/**`)));
  run('tar', ['-czf', file(context), '--owner=0', '--group=0', '--', ...names]);

  const cwd = await folder('images');
  run('tar', ['-xzf', file(context)], cwd);
  const copied = read('Dockerfile')
    .matchAll(/^COPY (?!--from)(?:--chmod=\S+ )?(.*) \S+$/gm)
    .flatMap(([, sources]) => sources.split(' '));
  const missing = [...copied].filter((name) => fs.globSync(name, { cwd }).length === 0);
  if (missing.length > 0) throw new Error(`.dockerignore keeps from the Dockerfile what it copies: ${missing}`);
  await symlink(join(root, 'node_modules'), join(cwd, 'node_modules'));
  run(process.execPath, ['scripts/build.js', '--production'], cwd);
}

/** Packs the chart as `helm package` does, and reads its description out of the package. */
async function packChart() {
  const cwd = await folder('chart');
  const archive = join(cwd, 'chart.tar');
  run('git', ['archive', '--prefix=sanaga/', '--output', archive, 'HEAD:deploy/helm/sanaga']);
  run('tar', ['-xf', archive], cwd);
  const ignored = read('deploy/helm/sanaga/.helmignore').split('\n').filter(Boolean);
  const excluded = ignored.map((name) => `--exclude=sanaga/${name.replace(/\/$/, '')}`);
  await copyFile(join(root, 'LICENSE'), join(cwd, 'sanaga/LICENSE'));
  run('tar', ['-czf', file(chart), '--owner=0', '--group=0', ...excluded, 'sanaga'], cwd);
  const description = parse(run('tar', ['-xzOf', file(chart), 'sanaga/Chart.yaml']));
  if (description.name !== 'sanaga' || description.version !== version)
    throw new Error(`${chart} is of another version`);
}

/** Lists production's packages, and sees that none of those that it names is missing. */
async function listPackages() {
  const list = run(process.execPath, [join(root, 'scripts/sbom.js')]);
  const { metadata, components } = JSON.parse(list);
  const listed = new Set(components.map(({ name }) => name));
  const missing = Object.keys(JSON.parse(read('package.json')).dependencies).filter((name) => !listed.has(name));
  if (missing.length > 0) throw new Error(`${packages} lacks ${missing}`);
  const of = `${metadata.component.name}@${metadata.component.version}`;
  if (of !== `sanaga@${version}`) throw new Error(`${packages} is of ${of}`);
  await writeFile(file(packages), list);
}

/** Writes the digests as `sha256sum --check` reads them. */
async function writeDigests() {
  const lines = [];
  for (const name of (await readdir(release)).sort()) {
    const digest = createHash('sha256')
      .update(await readFile(file(name)))
      .digest('hex');
    lines.push(`${digest}  ${name}\n`);
  }
  await writeFile(file('SHA256SUMS'), lines.join(''));
}

async function folder(name) {
  const path = join(scratch, name);
  await mkdir(path);
  return path;
}

function run(command, args, cwd = root) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}
