import { join } from 'node:path';
import { execa } from 'execa';
import { eventually } from '../support/eventually.js';

/** docker-compose.yml, as it runs: scripts/containers.js brings it up, and says where. */

const { CONTAINERS_TREE: tree = '', CONTAINERS_ENGINE: engine = 'docker' } = process.env;

/** `docker` or `podman`. */
export const ENGINE = engine;

/** The folder that docker-compose is run in, with .env and secrets/. */
export const TREE = tree;
export const inTree = (path: string) => join(tree, path);

const LIMIT_MS = 400_000;
/** Longer than a worker's takes to fail: Temporal forgets it after two minutes, and then it is asked three times. */
const HEALTH_LIMIT_MS = 420_000;

/** Those of docker-compose.yml that run, and don't end by themselves. */
export const SERVICES = [
  'postgres',
  'backup',
  'temporal',
  'temporal-ui',
  'api',
  'balancer',
  'worker',
  'codec',
  'desk',
  'sandbox',
] as const;
/** Those that are made of images of ours. */
export const OURS = ['api', 'worker', 'codec', 'desk', 'sandbox'] as const;

/** Runs docker-compose to its end. @returns what it has printed. @throws Error with all of that, when it fails */
export async function compose(...args: readonly string[]): Promise<string> {
  const { stdout } = await execa('docker-compose', args, { cwd: tree, timeout: LIMIT_MS, stdin: 'ignore' });
  return stdout;
}

/** Docker's own commands, or podman's. */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await execa(engine, args, { timeout: LIMIT_MS, stdin: 'ignore' });
  return stdout;
}

/** The ids of a service's containers. */
export async function containersOf(service: string): Promise<readonly string[]> {
  return (await compose('ps', '-q', service)).split('\n').filter((line) => line !== '');
}

export async function containerOf(service: string): Promise<string> {
  const [id, ...others] = await containersOf(service);
  if (id === undefined || others.length > 0) throw new Error(`${service} has ${others.length + 1} containers`);
  return id;
}

/** What the engine says of a service's container, in its own template's words: `{{.State.Pid}}`. */
export async function inspect(service: string, template: string): Promise<string> {
  return await docker('inspect', '--format', template, await containerOf(service));
}

/** Runs a command in a service's container. */
export async function inside(service: string, ...command: readonly string[]): Promise<string> {
  return await docker('exec', await containerOf(service), ...command);
}

export async function untilHealth(service: string, expected: 'healthy' | 'unhealthy'): Promise<void> {
  const look = () => inspect(service, '{{.State.Health.Status}}').catch(({ message }: Error) => message);
  await eventually(look, (health) => health === expected, HEALTH_LIMIT_MS);
}

export async function allHealthy(): Promise<void> {
  for (const service of SERVICES) await untilHealth(service, 'healthy');
  await untilReached();
}

/** Until the API answers where others get at it: the balancer finds a new one a moment after that is healthy. */
export async function untilReached(): Promise<void> {
  const isReady = () =>
    fetch('http://127.0.0.1:3000/readyz').then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isReady, (ready) => ready, HEALTH_LIMIT_MS);
}

/** Sends a signal to the first process of a container, as the machine could, past the engine. */
export async function signal(service: string, name: 'KILL' | 'STOP' | 'CONT'): Promise<void> {
  await asRoot('kill', '-s', name, await inspect(service, '{{.State.Pid}}'));
}

/** Runs a command as root. @returns what it has printed. @throws Error when it fails, or needs a password */
export async function asRoot(...command: readonly [string, ...string[]]): Promise<string> {
  const [file, ...args] = process.getuid?.() === 0 ? command : (['sudo', '-n', ...command] as const);
  const { stdout } = await execa(file, args);
  return stdout;
}
