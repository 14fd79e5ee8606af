import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import ms, { type StringValue } from 'ms';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig } from '../../src/settings/read-settings.js';
import { runCommand } from '../../stack/processes/run-command.js';
import { findOnPath } from '../../stack/temporal/executables.js';
import { PROJECT } from '../support/built.js';

const LIMIT_MS = 120_000;

const OTHER_PLATFORMS = /^@swc\/core-(darwin|win32|linux-(arm-|ppc64|s390x))/;

async function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { cwd: PROJECT, env: { ...process.env, ...env }, timeLimitMs: LIMIT_MS };
  const outcome = await runCommand(file, args, options);
  if (outcome.kind === 'failed') throw new Error(`${file} ${outcome.reason}\n${outcome.output}`);
  return outcome.output;
}

const read = (path: string) => readFile(`${PROJECT}${path}`, 'utf8');

describe('the list of packages', () => {
  it('names every package that production needs, with its digest, and none that only development needs', async () => {
    const list = z
      .object({
        bomFormat: z.literal('CycloneDX'),
        components: z.array(
          z.object({
            name: z.string(),
            version: z.string(),
            hashes: z.array(z.object({ alg: z.string() })).optional(),
          }),
        ),
      })
      .parse(JSON.parse(await run('npm', ['run', '--silent', 'sbom'])));
    const { dependencies, devDependencies } = z
      .object({
        dependencies: z.record(z.string(), z.string()),
        devDependencies: z.record(z.string(), z.string()),
      })
      .parse(JSON.parse(await read('package.json')));
    const listed = new Set(list.components.map(({ name }) => name));
    expect(Object.keys(dependencies).filter((name) => !listed.has(name))).toEqual([]);
    expect(['jest', 'playwright-core', '@temporalio/testing'].filter((name) => listed.has(name))).toEqual([]);
    expect(Object.keys(devDependencies)).toContain('jest');
    // The lock file has no digests of binaries for platforms that no image is made for.
    const unproven = list.components.filter(({ name, hashes = [] }) => !hashes.length && !OTHER_PLATFORMS.test(name));
    expect(unproven.map(({ name, version }) => `${name}@${version}`)).toEqual([]);
  });
});

const service = z.object({
  image: z.string(),
  build: z.unknown().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  ports: z.array(z.union([z.string(), z.object({ host_ip: z.string().optional() })])).optional(),
  healthcheck: z.unknown().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  stop_grace_period: z.string().optional(),
});

describe('docker-compose.yml', () => {
  const composed = async (...profiles: readonly string[]) => {
    const legacy = await findOnPath('docker-compose', process.env);
    const [file, ...args] = legacy === undefined ? ['docker', 'compose'] : [legacy];
    const chosen = profiles.flatMap((name) => ['--profile', name]);
    const text = await run(file, [...args, ...chosen, '--env-file', '.env.example', 'config']);
    return z.object({ services: z.record(z.string(), service) }).parse(parse(text)).services;
  };

  it('is taken by docker-compose, with the settings of .env.example', async () => {
    const services = await composed();
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining([
        ...['api', 'worker', 'codec', 'desk'],
        ...['postgres', 'temporal', 'temporal-ui', 'temporal-schema', 'temporal-setup', 'book-database'],
      ]),
    );
    expect(Object.keys(await composed('metrics'))).toEqual(expect.arrayContaining(['prometheus', 'grafana']));
  });

  it('gives processes of ours no right that they do not need', async () => {
    for (const [name, ours] of Object.entries(await composed())) {
      // PostgreSQL's own image, with one package more, begins as root, and then takes another user.
      if (ours.build === undefined || name === 'postgres') continue;
      expect([name, ours]).toMatchObject([
        name,
        { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      ]);
      expect([name, ours.healthcheck]).not.toEqual([name, undefined]);
    }
  });

  it('stops a worker after its requests to the provider, and kills it later still', async () => {
    const { worker } = await composed();
    const settings = readConfig('worker', worker?.environment ?? {});
    expect(settings.WORKER_SHUTDOWN_GRACE).toBeGreaterThan(settings.PROVIDER_TIMEOUT);
    const killedAfter = ms((worker?.stop_grace_period ?? '0s') as StringValue);
    expect(killedAfter).toBeGreaterThan(settings.WORKER_SHUTDOWN_GRACE);
  });

  it('opens ports on this machine alone, and no image without a version', async () => {
    for (const [name, { ports = [], image }] of Object.entries(await composed())) {
      const hosts = ports.map((port) => (typeof port === 'string' ? port.split(':')[0] : port.host_ip));
      expect([name, hosts.filter((host) => host !== '127.0.0.1')]).toEqual([name, []]);
      expect([name, image]).toEqual([name, expect.stringMatching(/:v?\d/)]);
    }
  });
});

describe('the image', () => {
  it('runs as a user without privileges, given by number, in every target that is run', async () => {
    const dockerfile = await read('Dockerfile');
    const stages = dockerfile.split(/^FROM /m).slice(1);
    const base = stages.find((stage) => / AS base$/m.test(stage.split('\n')[0] ?? ''));
    expect(base).toMatch(/^USER 1000:1000$/m);
    const run = stages.filter((stage) => stage.startsWith('base AS '));
    expect(run.length).toBeGreaterThan(0);
    expect(run.filter((stage) => /^USER /m.test(stage))).toEqual([]);
  });
});
