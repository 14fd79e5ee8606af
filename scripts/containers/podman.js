import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, succeeds } from './run.js';

/**
 * Podman as it is on Debian 12, with what it keeps in a folder of its own. It may run where there are no cgroups to be
 * had, and where limits can't be raised: inside another container.
 */

const PACKAGES = {
  podman: 'podman',
  crun: 'crun',
  'docker-compose': 'docker-compose',
  debootstrap: 'debootstrap',
  catatonit: 'catatonit',
  iptables: 'iptables',
};
/** They are no commands. */
const BESIDE = ['netavark', 'aardvark-dns'];

const LIMITS = ['nofile=16384:16384', 'nproc=32768:32768'];

/** crun refuses version 2 of cgroups mounted beside version 1. In a mount namespace alone, it isn't. */
const WITHOUT_MIXED_CGROUPS = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"';

/** Installs what is missing, on a Debian where that is allowed. @returns {Promise<string | undefined>} why it can't */
export async function installPodman() {
  const found = await Promise.all(Object.keys(PACKAGES).map((name) => succeeds('which', [name])));
  const missing = Object.values(PACKAGES).filter((_, index) => !found[index]);
  if (process.getuid?.() !== 0) return 'podman is only used by root here';
  if (missing.length === 0) return undefined;
  if (!(await succeeds('which', ['apt-get']))) return `${missing.join(', ')} can't be installed without apt`;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-q'], { env });
  await run('apt-get', ['install', '-qy', '--no-install-recommends', ...missing, ...BESIDE], { env });
  return undefined;
}

/**
 * @param {string} folder for all that podman keeps
 */
export async function setUpPodman(folder) {
  await Promise.all(['tmp', 'networks'].map((name) => mkdir(join(folder, name), { recursive: true })));
  const containers = join(folder, 'containers.conf');
  const storage = join(folder, 'storage.conf');
  await writeFile(
    containers,
    `[containers]
cgroups = "disabled"
log_driver = "k8s-file"
default_ulimits = ${JSON.stringify(LIMITS)}
[engine]
cgroup_manager = "cgroupfs"
runtime = "crun"
events_logger = "file"
tmp_dir = "${folder}/libpod"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
`,
  );
  await writeFile(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`,
  );
  const env = {
    ...process.env,
    CONTAINERS_CONF: containers,
    CONTAINERS_STORAGE_CONF: storage,
    TMPDIR: join(folder, 'tmp'),
  };
  const podman = (args, options) =>
    run(
      'unshare',
      ['--mount', '--propagation', 'private', 'sh', '-c', WITHOUT_MIXED_CGROUPS, 'sh', 'podman', ...args],
      { env, ...options },
    );
  const limits = LIMITS.flatMap((limit) => ['--ulimit', limit]);
  return {
    env,
    run: podman,
    build: (args, options) =>
      podman(['build', '--format', 'docker', '--layers', '--network', 'host', ...limits, ...args], options),
    exists: (image) =>
      podman(['image', 'exists', image]).then(
        () => true,
        () => false,
      ),
  };
}

/**
 * What a build needs to install packages as npm does on this machine: its settings, and the certificates that it
 * trusts. They are mounted, and stay out of the image.
 *
 * @returns {Promise<readonly string[]>} for `podman build`
 */
export async function npmMounts(folder) {
  const setting = async (name) => (await run('npm', ['config', 'get', name])).trim();
  const files = [await setting('globalconfig'), await setting('userconfig'), '/etc/npmrc'].filter((file) =>
    existsSync(file),
  );
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const certificates = await setting('cafile');
  const npmrc = join(folder, 'npmrc');
  await writeFile(npmrc, [...texts, certificates === 'null' ? '' : 'cafile=/etc/npm-certificates.pem'].join('\n'));
  await chmod(npmrc, 0o600);
  const mounts = ['--volume', `${npmrc}:/root/.npmrc:ro`];
  if (certificates === 'null') return mounts;
  const copy = join(folder, 'npm-certificates.pem');
  await copyFile(certificates, copy);
  return [...mounts, '--volume', `${copy}:/etc/npm-certificates.pem:ro`];
}
