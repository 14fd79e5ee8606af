/*
 * Builds the images, brings docker-compose.yml up with the sandbox as README says, takes payments through it, and
 * checks what else can be seen of running containers: test/containers. With `--all`, the long checks too; with the name
 * of a suite, that one. Its last line is `N passed, N failed`.
 *
 * With Docker, and a registry that it reaches, the images are the real ones. Otherwise it is podman, on a Debian where
 * this is root, in namespaces of its own. What it can't pull there has stand-ins, built once into the cache folder;
 * `--stand-ins` doesn't try to pull. `--where-possible` passes where neither is to be had. `--is-cached` only says
 * whether the stand-ins and the packages of this lock file are there, so that it takes two or three minutes.
 */
import './supported-node.js';

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  buildFoundations,
  buildStandIn,
  fullNameOf,
  hasStandIn,
  pull,
  thirdPartyImages,
  withoutDigest,
} from './containers/images.js';
import { installPodman, npmMounts, setUpPodman } from './containers/podman.js';
import { run, Steps, say, succeeds } from './containers/run.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const { cacheFolder } = await import('../build/stack/temporal/executables.js');
const { withLock } = await import('../build/stack/processes/lock.js');
const { helmProgram } = await import('../build/stack/processes/go-programs.js');

const { values: options, positionals: suites } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    'stand-ins': { type: 'boolean', default: false },
    'is-cached': { type: 'boolean', default: false },
    'where-possible': { type: 'boolean', default: false },
  },
});

/** The suites that take a minute or two. */
const SHORT = ['payments', 'rights', 'networks'];

/** Something has slipped into an image that is larger. */
const LARGEST_MB = 340;

const steps = new Steps();
const folder = join(cacheFolder(), 'containers');
/** Its name is that of docker-compose's project. */
const tree = join(folder, 'sanaga');
/** Of which packages there is a layer. */
const packages = join(folder, 'packages.recipe');
await mkdir(folder, { recursive: true });

if (options['is-cached']) {
  const isCached = await isEverythingCached();
  say(
    isCached ? 'The images that others make are in the cache folder.' : 'They would have to be built first, for long.',
  );
  process.exit(isCached ? 0 : 1);
}
if (!options['stand-ins'] && (await succeeds('docker', ['info']))) await withDocker();
else
  await withLock(
    join(folder, 'containers.lock'),
    (pid) => say(`waiting for process ${pid}, which runs them`),
    withPodman,
  );

say(`${steps.passed} passed, ${steps.failed} failed`);
process.exitCode = steps.failed === 0 ? 0 : 1;

/** Docker as it is installed, and what its registry has. */
async function withDocker() {
  const docker = (args, log) => run('docker', args, { log });
  await steps.take('a clone, with .env.example for its .env', copyTree);
  await buildImages((args, log) => docker(['build', ...args], log), docker);
  const program = (await succeeds('docker-compose', ['version'])) ? undefined : '#!/bin/sh\nexec docker compose "$@"\n';
  const env = await withCompose(process.env, program);
  await check([], { ...env, CONTAINERS_TREE: tree, CONTAINERS_ENGINE: 'docker' });
}

/** @returns an environment in which `docker-compose` is this program, if one is given */
async function withCompose(env, program) {
  const bin = join(folder, 'bin');
  await rm(bin, { recursive: true, force: true });
  await mkdir(bin, { recursive: true });
  if (program !== undefined) await writeFile(join(bin, 'docker-compose'), program, { mode: 0o755 });
  return { ...env, PATH: `${bin}:${process.env.PATH}` };
}

async function withPodman() {
  const hindrance = await installPodman();
  if (hindrance !== undefined) {
    say(`The containers are left out: Docker isn't there, and ${hindrance}.`);
    if (!options['where-possible']) steps.failed += 1;
    return;
  }
  const podman = await setUpPodman(folder);
  await steps.take('the images that others make', () => getImages(podman));
  await steps.take('a clone, with .env.example for its .env', copyTree);
  for (const name of ['docker-compose.yml', 'Dockerfile']) {
    await writeFile(join(tree, name), withoutDigest(await readFile(join(tree, name), 'utf8')));
  }
  const mounts = await npmMounts(folder);
  await buildImages((args, log) => podman.build([...mounts, ...args], { log }), podman.run);
  if (steps.failed === 0) await writeFile(packages, await recipeOfPackages());
  const socket = join(folder, 'podman.sock');
  const program = await readFile(new URL('containers/docker-compose.py', import.meta.url));
  const env = await withCompose(podman.env, program);
  const namespaces = [
    '--mount',
    '--net',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    '--propagation',
    'private',
  ];
  const first = fileURLToPath(new URL('containers/namespaces.js', import.meta.url));
  try {
    await check(['unshare', ...namespaces, 'catatonit', '--', process.execPath, first], {
      ...env,
      PODMAN_SOCKET: socket,
      DOCKER_HOST: `unix://${socket}`,
      COMPOSE_HTTP_TIMEOUT: '300',
      CONTAINERS_TREE: tree,
      CONTAINERS_ENGINE: 'podman',
    });
  } finally {
    // What was cut short leaves containers behind.
    await podman.run(['rm', '--all', '--force', '--volumes', '--time', '0']);
    await podman.run(['volume', 'prune', '--force']);
  }
}

/** Both targets of the Dockerfile, under the names that docker-compose.yml has for them. */
async function buildImages(build, engine) {
  const [, version] = /^SANAGA_TAG=(.*)$/m.exec(await readFile(join(tree, '.env'), 'utf8'));
  const [, postgres] = /^FROM postgres:([\w.]+)/m.exec(await readFile(join(tree, 'Dockerfile'), 'utf8'));
  for (const [target, tag] of [
    ['product', `sanaga:${version}`],
    ['sandbox', `sanaga-sandbox:${version}`],
    ['postgres', `sanaga-postgres:${postgres}`],
  ]) {
    await steps.take(`docker build --target ${target}`, async () => {
      await build(['--target', target, '--tag', tag, tree], join(folder, `build-${target}.log`));
      const megabytes = Number(await engine(['image', 'inspect', '--format', '{{.Size}}', tag])) / 1_000_000;
      say(`        ${tag}: ${Math.round(megabytes)} MB`);
      if (target !== 'postgres' && megabytes > LARGEST_MB) throw new Error(`It may have ${LARGEST_MB} MB at most.`);
    });
  }
}

/** Whether podman is there, with all stand-ins and the packages that the lock file names. */
async function isEverythingCached() {
  if (process.getuid?.() !== 0 || !(await succeeds('podman', ['--version']))) return false;
  if ((await readFile(packages, 'utf8').catch(() => '')) !== (await recipeOfPackages())) return false;
  const podman = await setUpPodman(folder);
  const images = (await thirdPartyImages()).filter(hasStandIn);
  const found = await Promise.all(images.map((image) => podman.exists(fullNameOf(image))));
  return found.every((isThere) => isThere);
}

/** What the layer with the packages is made of. */
async function recipeOfPackages() {
  const texts = await Promise.all(
    ['Dockerfile', 'package.json', 'package-lock.json'].map((name) => readFile(join(project, name))),
  );
  return texts.reduce((digest, text) => digest.update(text), createHash('sha256')).digest('hex');
}

/** All from a registry, or, where the first can't be pulled, stand-ins for all that have one. */
async function getImages(podman) {
  const images = await thirdPartyImages();
  const isReached = () =>
    pull(podman, images[0]).then(
      () => true,
      () => false,
    );
  if (!options['stand-ins'] && (await isReached())) {
    for (const image of images) await pull(podman, image);
    return;
  }
  await buildFoundations(podman, folder);
  for (const image of images) {
    if (!(await buildStandIn(podman, image, folder))) say(`        ${image}: untried, as nothing can stand in for it`);
  }
}

/** The files that a clone would have, as a strict umask would leave them: images may not depend on that. */
async function copyTree() {
  await rm(tree, { recursive: true, force: true });
  const listed = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: project });
  for (const file of listed.split('\0').filter((name) => name !== '')) {
    const copy = join(tree, file);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await copyFile(join(project, file), copy).catch((error) => {
      // It is listed still, and deleted.
      if (error.code !== 'ENOENT') throw error;
    });
    await chmod(copy, 0o600).catch(() => undefined);
  }
  // The provider is asked after twenty seconds, not three minutes, where a notification has met a killed API.
  const env = await readFile(join(tree, '.env.example'), 'utf8');
  await writeFile(join(tree, '.env'), env.replace(/^POLL_FIRST=$/m, 'POLL_FIRST=20s'));
  await run('chmod', ['-R', 'a+rX', 'deploy'], { cwd: tree });
  await mkdir(join(tree, 'secrets'));
  await chmod(tree, 0o755);
}

/** Has what runs checked, and counts it. `prefix`: what runs the checks in namespaces. */
async function check(prefix, env) {
  if (steps.failed > 0) return;
  const results = join(folder, 'results.json');
  await writeFile(results, '{"passed":0,"failed":1}');
  const names = suites.length === 0 && !options.all ? SHORT : suites;
  // The checks run where nothing can be downloaded.
  if (options.all || names.includes('chart')) await steps.take('Helm, for the chart', helmProgram);
  const checks = fileURLToPath(new URL('containers/checks.js', import.meta.url));
  const [file, ...args] = [...prefix, process.execPath, checks, ...names.map((name) => `test/containers/${name}`)];
  const child = spawn(file, args, { cwd: project, env: { ...env, CONTAINERS_RESULTS: results }, stdio: 'inherit' });
  // The first process of the namespaces takes them with it.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGKILL'));
  await once(child, 'exit');
  const { passed, failed } = JSON.parse(await readFile(results, 'utf8'));
  steps.passed += passed;
  steps.failed += failed;
}
