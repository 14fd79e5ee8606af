import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { helmProgram } from '../../stack/processes/go-programs.js';
import { runCommand } from '../../stack/processes/run-command.js';
import { PROJECT } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { allHealthy, asRoot, compose, docker, inTree, untilReached } from './compose.js';
import { begin, endWell, MERCHANT_KEY, OPERATOR_KEY } from './merchant.js';

/**
 * The chart's containers beside docker-compose.yml's Temporal, database and sandbox, with the user, rights, environment
 * and mounts that a cluster would give them. What is a cluster's own isn't tried: Services, Ingresses, policies and
 * scaling.
 */

const VALUES = {
  temporal: { address: 'temporal:7233' },
  provider: { collectionUrl: 'http://sandbox:4000', payoutUrl: 'http://sandbox:4000' },
  merchants: 'keys',
  // Containers have no Service before them, which would turn one port into another.
  api: { service: { port: 3000 } },
  desk: { enabled: true },
  codecServer: { enabled: true },
  networkPolicy: { providerPorts: [4000] },
};

const SECRETS: Readonly<Record<string, string>> = {
  'provider-collection-api-user': 'example-collection-user',
  'provider-collection-api-key': 'example-collection-key',
  'provider-payout-api-user': 'example-payout-user',
  'provider-payout-api-key': 'example-payout-key',
  'webhook-token': 'example-webhook-token',
  'api-keys': `shop:${MERCHANT_KEY}:collections+payouts+read+balance,operator:${OPERATOR_KEY}:review+read`,
  'encryption-keys': 'example:ZXhhbXBsZSBrZXkgdGhhdCBldmVyeWJvZHkga25vd3M=',
};

const probe = z.object({
  exec: z.object({ command: z.array(z.string()) }).optional(),
  httpGet: z.object({ path: z.string(), port: z.string() }).optional(),
});

const deploymentSchema = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({
      spec: z.object({
        securityContext: z.object({ runAsUser: z.number(), runAsGroup: z.number(), fsGroup: z.number() }),
        terminationGracePeriodSeconds: z.number().default(30),
        volumes: z.array(
          z.object({
            name: z.string(),
            secret: z.object({ items: z.array(z.object({ path: z.string() })) }).optional(),
          }),
        ),
        containers: z
          .array(
            z.object({
              image: z.string(),
              command: z.array(z.string()),
              env: z.array(z.object({ name: z.string(), value: z.string() })),
              ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
              securityContext: z.object({
                allowPrivilegeEscalation: z.literal(false),
                readOnlyRootFilesystem: z.literal(true),
                capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
              }),
              readinessProbe: probe,
              livenessProbe: probe.optional(),
              lifecycle: z.object({ preStop: probe }).optional(),
              volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
            }),
          )
          .length(1),
      }),
    }),
  }),
});
type Deployment = z.infer<typeof deploymentSchema>;

const names = ['sanaga-api', 'sanaga-worker', 'sanaga-desk', 'sanaga-codec-server'] as const;
const deployments = new Map<string, Deployment>();

async function render(): Promise<void> {
  const helm = await helmProgram();
  const values = inTree('chart-values.json');
  await writeFile(values, JSON.stringify(VALUES));
  const args = ['template', 'sanaga', `${PROJECT}deploy/helm/sanaga`, '--kube-version', '1.37.2', '--values', values];
  const outcome = await runCommand(helm, args, { env: process.env, timeLimitMs: 120_000 });
  if (outcome.kind === 'failed') throw new Error(outcome.output);
  for (const document of parseAllDocuments(outcome.output)) {
    const deployment = deploymentSchema.safeParse(document.toJS());
    if (deployment.success) deployments.set(deployment.data.metadata.name, deployment.data);
  }
}

const podOf = (name: string) => {
  const deployment = deployments.get(name);
  const [container] = deployment?.spec.template.spec.containers ?? [];
  if (deployment === undefined || container === undefined) throw new Error(`the chart has no ${name}`);
  return { ...deployment.spec.template.spec, container };
};

/** The Secret's files as a kubelet would mount them: root's, and readable for the group. */
async function mountOf(name: string): Promise<string> {
  const { securityContext, volumes } = podOf(name);
  const folder = inTree(`secrets-of-${name}`);
  // Other checks change its password.
  const [, databaseUrl = ''] = /^DATABASE_URL=(.+)$/m.exec(await readFile(inTree('.env'), 'utf8')) ?? [];
  await mkdir(folder, { recursive: true });
  for (const { path } of volumes.flatMap(({ secret }) => secret?.items ?? [])) {
    await writeFile(`${folder}/${path}`, SECRETS[path] ?? databaseUrl);
    await chmod(`${folder}/${path}`, 0o440);
    await asRoot('chown', `0:${securityContext.fsGroup}`, `${folder}/${path}`);
  }
  return folder;
}

async function start(name: string): Promise<void> {
  const { securityContext, container } = podOf(name);
  const secrets = await mountOf(name);
  // In docker-compose.yml's place, whose sandbox sends its notifications there.
  const alias = name === 'sanaga-api' ? 'api' : name;
  await docker(
    ...['create', '--name', name, '--network', 'sanaga_provider', '--network-alias', alias],
    ...['--user', `${securityContext.runAsUser}:${securityContext.runAsGroup}`],
    ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--tmpfs', '/tmp:size=64m', '--volume', `${secrets}:/run/secrets/sanaga:ro`],
    ...container.env.flatMap((setting) => ['--env', `${setting.name}=${setting.value}`]),
    ...[container.image, ...container.command],
  );
  for (const network of ['temporal', 'book', 'api']) {
    await docker('network', 'connect', '--alias', alias, `sanaga_${network}`, name);
  }
  await docker('start', name);
}

/** Whether a probe of a container succeeds, as a kubelet would ask. */
async function succeeds(name: string, { exec, httpGet }: z.infer<typeof probe>): Promise<boolean> {
  const port = podOf(name).container.ports.find((each) => each.name === httpGet?.port)?.containerPort;
  const command = exec?.command ?? ['node', 'deploy/http-health.js', `http://127.0.0.1:${port}${httpGet?.path}`];
  return await docker('exec', name, ...command).then(
    () => true,
    () => false,
  );
}

describe("the chart's containers", () => {
  beforeAll(async () => {
    await render();
    await compose('stop', 'api', 'worker', 'desk', 'codec');
    await compose('rm', '--force', 'api');
    for (const name of names) await start(name);
  }, 600_000);
  afterAll(async () => {
    for (const name of names) await docker('rm', '--force', name).catch(() => undefined);
    await Promise.all(names.map((name) => asRoot('rm', '-rf', inTree(`secrets-of-${name}`))));
    await compose('up', '-d');
    await allHealthy();
  }, 600_000);

  it.each(names)('%s becomes ready, and alive', async (name) => {
    const { readinessProbe, livenessProbe } = podOf(name).container;
    await eventually(
      () => succeeds(name, readinessProbe),
      (ready) => ready,
      180_000,
    );
    if (livenessProbe !== undefined) expect(await succeeds(name, livenessProbe)).toBe(true);
  });

  it('take payments of each kind', async () => {
    await untilReached();
    await endWell(await begin());
  });

  it.each(names)('%s stops within its time, by itself', async (name) => {
    const { terminationGracePeriodSeconds, container } = podOf(name);
    if (container.lifecycle !== undefined) expect(await succeeds(name, container.lifecycle.preStop)).toBe(true);
    await docker('stop', '--time', String(terminationGracePeriodSeconds), name);
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', name)).toBe('0');
  });

  it('end with code 78 where a setting is wrong', async () => {
    const { container } = podOf('sanaga-api');
    const wrong = docker('run', '--rm', '--network', 'none', '--env', 'PORT=x', container.image, ...container.command);
    await expect(wrong).rejects.toMatchObject({ exitCode: 78 });
  });
});
