import { createHash } from 'node:crypto';
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, say } from './run.js';

const { buildWithGo, goModule, goProgram } = await import('../../build/stack/processes/go-programs.js');

const project = fileURLToPath(new URL('../..', import.meta.url));
const STAND_INS = fileURLToPath(new URL('stand-ins', import.meta.url));

/** Where `go install` finds the Web UI, by the version that docker-compose.yml names. */
const WEB_UI = 'github.com/temporalio/ui-server/v2';
const TEMPORAL_SERVER = 'go.temporal.io/server';
const NODE_EXPORTER = 'github.com/prometheus/node_exporter';

/**
 * What plays an image that can't be pulled: the folder it is built in, what else goes into that folder, and what it is
 * made of.
 */
const STAND_IN_OF = [
  { image: /^node:/, name: 'node', gather: gatherNode, of: 'Debian and the Node of npm' },
  { image: /^postgres:/, name: 'postgres', of: "Debian's PostgreSQL 15" },
  { image: /^temporalio\/server:/, name: 'temporal-server', gather: gatherServer, of: 'Debian and the same source' },
  {
    image: /^temporalio\/admin-tools:/,
    name: 'temporal-admin-tools',
    gather: gatherTools,
    of: 'Debian and the same source',
  },
  { image: /^temporalio\/ui:/, name: 'temporal-ui', gather: gatherWebUi, of: 'Debian and the same source' },
  { image: /^haproxy:/, name: 'haproxy', of: "Debian's HAProxy" },
  { image: /^prom\/prometheus:/, name: 'prometheus', of: "Debian's Prometheus" },
  {
    image: /^prometheuscommunity\/postgres-exporter:/,
    name: 'postgres-exporter',
    of: "Debian's exporter",
  },
  {
    image: /^prom\/node-exporter:/,
    name: 'node-exporter',
    gather: gatherNodeExporter,
    of: 'Debian and the same source',
  },
];

/** The images that docker-compose.yml and the Dockerfile begin with, and that aren't made here. */
export async function thirdPartyImages() {
  const read = (name) => readFile(join(project, name), 'utf8');
  const named = (text, pattern) => [...text.matchAll(pattern)].map(([, name]) => name);
  const composed = named(await read('docker-compose.yml'), /^\s*image: (\S+)$/gm);
  const built = named(await read('Dockerfile'), /^FROM (\S+:\S+)/gm);
  return [...new Set([...composed, ...built])].filter((name) => !name.startsWith('sanaga'));
}

/** `name:tag` of `name:tag@digest`: podman 4 takes no name that has both. */
export const withoutDigest = (text) => text.replaceAll(/@sha256:[0-9a-f]{64}/g, '');

/** An image's name and tag with its registry, which podman asks for. */
export function fullNameOf(image) {
  const name = withoutDigest(image);
  return `docker.io/${name.includes('/') ? name : `library/${name}`}`;
}

/** Gets an image from the registry, by its digest if it has one, under its name and tag. */
export async function pull(podman, image) {
  const [, digest] = image.split('@');
  const name = fullNameOf(image);
  const exact = digest === undefined ? name : `${name.slice(0, name.lastIndexOf(':'))}@${digest}`;
  await podman.run(['pull', '--quiet', exact]);
  if (exact !== name) await podman.run(['tag', exact, name]);
}

export const hasStandIn = (image) => STAND_IN_OF.some((each) => each.image.test(image));

/**
 * Builds an image under the name of one that can't be pulled.
 *
 * @param {{ build(args: readonly string[]): Promise<unknown>, exists(image: string): Promise<boolean> }} podman
 * @param {string} image as docker-compose.yml names it
 * @param {string} folder for what is kept between runs
 * @returns {Promise<boolean>} whether anything can stand in for it
 */
export async function buildStandIn(podman, image, folder) {
  const standIn = STAND_IN_OF.find((each) => each.image.test(image));
  if (standIn === undefined) return false;
  say(`        ${image}: a stand-in, of ${standIn.of}`);
  const context = join(folder, 'contexts', standIn.name);
  const name = fullNameOf(image);
  // Gathering takes seconds, even where nothing is new.
  const recipe = await digestOf([join(STAND_INS, standIn.name), join(STAND_INS, 'alpine')], [image, process.version]);
  const kept = await readFile(`${context}.recipe`, 'utf8').catch(() => undefined);
  if (kept === recipe && (await podman.exists(name))) return true;
  await cp(join(STAND_INS, standIn.name), context, { recursive: true });
  await standIn.gather?.(context, withoutDigest(image).split(':')[1]);
  await podman.build(['--tag', name, context]);
  await writeFile(`${context}.recipe`, recipe);
  return true;
}

/** What tells one recipe from another: the files of folders, and words. */
async function digestOf(folders, words) {
  const digest = createHash('sha256');
  for (const word of words) digest.update(word);
  for (const folder of folders) {
    for (const name of (await readdir(folder)).sort()) digest.update(await readFile(join(folder, name)));
  }
  return digest.digest('hex');
}

/** What all stand-ins begin with: Debian, by debootstrap, and with busybox's programs, as Alpine has them. */
export async function buildFoundations(podman, folder) {
  if (!(await podman.exists('localhost/debian:bookworm'))) {
    const root = join(folder, 'rootfs');
    await rm(root, { recursive: true, force: true });
    await run('debootstrap', ['--variant=minbase', 'bookworm', root], { log: join(folder, 'debootstrap.log') });
    // As in the official image.
    for (const name of ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man', 'usr/share/locale'])
      await rm(join(root, name), { recursive: true });
    await mkdir(join(root, 'var/cache/apt/archives/partial'), { recursive: true });
    await mkdir(join(root, 'var/lib/apt/lists/partial'), { recursive: true });
    const archive = join(folder, 'rootfs.tar');
    await run('tar', ['-C', root, '-cf', archive, '.']);
    await podman.run(['import', '--quiet', archive, 'localhost/debian:bookworm']);
    await rm(root, { recursive: true });
    await rm(archive);
  }
  await podman.build(['--tag', 'localhost/alpine:base', join(STAND_INS, 'alpine')]);
}

async function gatherNode(context) {
  await copyFile(process.execPath, join(context, 'node'));
  const globals = (await run('npm', ['root', '--global'])).trim();
  await cp(join(globals, 'npm'), join(context, 'npm'), { recursive: true, dereference: true });
}

async function gatherServer(context, version) {
  await copyFile((await temporalPrograms(version)).server, join(context, 'temporal-server'));
  await copyFile(join(await goModule(TEMPORAL_SERVER, version), 'config/docker.yaml'), join(context, 'docker.yaml'));
}

async function gatherTools(context, tag) {
  const { findTemporal } = await import('../../build/stack/temporal/temporal-cli.js');
  await copyFile((await temporalPrograms(tag.split('-')[0])).sqlTool, join(context, 'temporal-sql-tool'));
  await copyFile((await findTemporal({ report: say })).path, join(context, 'temporal'));
}

async function temporalPrograms(version) {
  const { buildTemporalServer, TEMPORAL_VERSION } = await import('../../build/bench/servers/temporal-on-postgres.js');
  if (version !== TEMPORAL_VERSION) throw new Error(`Temporal ${version} can't be built, only ${TEMPORAL_VERSION}`);
  return await buildTemporalServer(say);
}

async function gatherWebUi(context, version) {
  await copyFile(await goProgram('server', WEB_UI, version), join(context, 'ui-server'));
  await copyFile(join(await goModule(WEB_UI, version), 'config/docker.yaml'), join(context, 'docker.yaml'));
}

async function gatherNodeExporter(context, tag) {
  const name = 'node_exporter';
  const [program] = await buildWithGo({ name, version: tag.replace(/^v/, ''), packages: [NODE_EXPORTER], report: say });
  await copyFile(program, join(context, name));
}
