import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';
import { type Part, readConfig, settingNames } from '../../src/settings/read-settings.js';
import { SECRET_SETTINGS } from '../../src/settings/secret-files.js';
import { goModule, goProgram, helmProgram } from '../../stack/processes/go-programs.js';
import { runCommand } from '../../stack/processes/run-command.js';
import { writeCustomResourceSchema, writeKubernetesSchemas } from './kubernetes-schemas.js';

const CHART = fileURLToPath(new URL('../../deploy/helm/sanaga', import.meta.url));

/** The oldest version that the chart is for, and the newest. */
const KUBERNETES = ['1.29.6', '1.37.2'] as const;
const NEWEST = KUBERNETES[1];

const EXAMPLES = (await readdir(join(CHART, 'ci'))).sort();

const COMMAND_LIMIT_MS = 120_000;

let helm: string;
let kubeconform: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-chart-'));
  helm = await helmProgram();
  kubeconform = await goProgram('kubeconform', 'github.com/yannh/kubeconform', '0.8.0');
  for (const version of KUBERNETES) {
    await writeKubernetesSchemas(await goModule('k8s.io/kubernetes', version), schemasOf(version));
  }
  const keda = await goModule('github.com/kedacore/keda/v2', '2.21.0');
  const prometheus = await goModule('github.com/prometheus-operator/prometheus-operator', '0.85.0');
  for (const definition of [
    `${keda}/config/crd/bases/keda.sh_scaledobjects.yaml`,
    `${keda}/config/crd/bases/keda.sh_triggerauthentications.yaml`,
    `${prometheus}/example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml`,
  ]) {
    await writeCustomResourceSchema(definition, schemasOf('custom'));
  }
}, 3_600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const schemasOf = (version: string) => join(folder, 'schemas', version);

const run = (file: string, args: readonly string[]) =>
  runCommand(file, args, { env: process.env, timeLimitMs: COMMAND_LIMIT_MS });

async function render(args: readonly string[], version: string = NEWEST): Promise<string> {
  const outcome = await run(helm, ['template', 'sanaga', CHART, '--kube-version', version, ...args]);
  if (outcome.kind === 'failed') throw new Error(outcome.output);
  return outcome.output;
}

const valuesOf = (example: string) => ['--values', join(CHART, 'ci', example)];

const container = z.object({
  image: z.string(),
  command: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string() }),
  }),
  securityContext: z.unknown(),
  readinessProbe: z.object({}).optional(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() })),
});

const pod = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  spec: z.object({
    automountServiceAccountToken: z.boolean(),
    securityContext: z.unknown(),
    topologySpreadConstraints: z.array(z.unknown()),
    containers: z.array(container).length(1),
  }),
});

const job = z.object({
  kind: z.literal('Job'),
  metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()) }),
  spec: z.object({ backoffLimit: z.number(), template: pod }),
});

const deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number().optional(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: pod.extend({ spec: pod.shape.spec.extend({ terminationGracePeriodSeconds: z.number() }) }),
  }),
});
type Deployment = z.infer<typeof deployment>;

function objectsOf(rendered: string): unknown[] {
  return parseAllDocuments(rendered).flatMap((document): unknown[] => {
    expect(document.errors).toEqual([]);
    const object: unknown = document.toJS();
    return object === null ? [] : [object];
  });
}

const deploymentsOf = (rendered: string): Deployment[] =>
  objectsOf(rendered).flatMap((object) => deployment.safeParse(object).data ?? []);

const jobsOf = (rendered: string) => objectsOf(rendered).flatMap((object) => job.safeParse(object).data ?? []);

/** The programs whose settings are known, by their part. */
const PARTS: Readonly<Record<string, Part>> = {
  'lib/server.js': 'api',
  'lib/worker.js': 'worker',
  'lib/codec-server.js': 'codec',
  'lib/desk.js': 'desk',
  'lib/replay.js': 'replay',
  'lib/migrate.js': 'migrate',
};

/** The programs in the chart whose settings are known here, with those that they are given. */
const processesOf = (rendered: string) =>
  [...deploymentsOf(rendered), ...jobsOf(rendered)].flatMap(({ metadata, spec }) =>
    spec.template.spec.containers.flatMap(({ command, env }) => {
      const part = PARTS[command[1] ?? ''];
      return part === undefined ? [] : [{ name: metadata.name, part, env }];
    }),
  );

describe.each(EXAMPLES)('the chart with %s', (example) => {
  it('has nothing that helm lint objects to', async () => {
    const { kind, output } = await run(helm, [
      ...['lint', '--strict', '--kube-version', NEWEST, CHART],
      ...valuesOf(example),
    ]);
    expect({ kind, output }).toMatchObject({ kind: 'succeeded' });
  });

  it.each(KUBERNETES)('renders what Kubernetes %s takes, with no field that it does not know', async (version) => {
    const file = join(folder, `${example}-${version}.yaml`);
    await writeFile(file, await render(valuesOf(example), version));
    const locations = [version, 'custom'].flatMap((one) => [
      '-schema-location',
      `${schemasOf(one)}/{{.ResourceKind}}{{.KindSuffix}}.json`,
    ]);
    const outcome = await run(kubeconform, ['-strict', '-summary', ...locations, file]);
    expect(outcome).toMatchObject({ kind: 'succeeded' });
    expect(outcome.output).toMatch(/Invalid: 0, Errors: 0, Skipped: 0/);
  });

  it('gives no pod a right that it does not need', async () => {
    const rendered = await render(valuesOf(example));
    const deployments = deploymentsOf(rendered);
    expect(deployments.length).toBeGreaterThanOrEqual(2);
    for (const { metadata, spec } of [...deployments, ...jobsOf(rendered)]) {
      const pod = spec.template.spec;
      expect([metadata.name, pod.securityContext]).toMatchObject([
        metadata.name,
        { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      ]);
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.topologySpreadConstraints).toHaveLength(2);
      for (const { securityContext, volumeMounts } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(volumeMounts.filter(({ readOnly }) => !readOnly).map(({ mountPath }) => mountPath)).toEqual(['/tmp']);
      }
    }
    for (const { spec } of deployments) expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
  });

  it('gives each process settings that it reads, and no secret but in a file', async () => {
    const processes = processesOf(await render(valuesOf(example)));
    expect(processes.length).toBeGreaterThanOrEqual(2);
    for (const { name, part, env } of processes) {
      const own = settingNames(part);
      const known = [
        ...own,
        ...SECRET_SETTINGS.filter((secret) => own.includes(secret)).map((secret) => `${secret}_FILE`),
      ];
      const given = env.map((setting) => setting.name).filter((setting) => !setting.startsWith('TEMPORAL_'));
      expect([name, given.filter((setting) => !known.includes(setting))]).toEqual([name, []]);
      const secrets: readonly string[] = [...SECRET_SETTINGS, 'TEMPORAL_API_KEY'];
      expect(env.filter((setting) => secrets.includes(setting.name))).toEqual([]);
    }
  });

  it('makes settings that each process starts with', async () => {
    for (const { part, env } of processesOf(await render(valuesOf(example)))) {
      const settings = await Promise.all(env.map(async ({ name, value }) => [name, await mounted(value)] as const));
      expect(() => readConfig(part, Object.fromEntries(settings))).not.toThrow();
    }
  });

  it('gives workers longer to stop than they take', async () => {
    const rendered = deploymentsOf(await render(valuesOf(example)));
    const workers = rendered.filter(({ metadata }) => metadata.name.includes('worker'));
    expect(workers.length).toBeGreaterThan(0);
    for (const { spec } of workers) {
      const { containers, terminationGracePeriodSeconds } = spec.template.spec;
      const env = Object.fromEntries(containers.flatMap((one) => one.env.map(({ name, value }) => [name, value])));
      const grace = { '20s': 20, '1m': 60 }[String(env.WORKER_SHUTDOWN_GRACE)];
      expect(terminationGracePeriodSeconds).toBe(Number(grace) + 15);
    }
  });
});

/** The Secret's files, as an operator would make them. */
const FILES: Readonly<Record<string, string>> = {
  'webhook-token': '0123456789abcdef01234567',
  'api-keys': `shop:sha256-${'9f'.repeat(32)}:collections+payouts+read,ops:sha256-${'0b'.repeat(32)}:review`,
  'merchant-webhook-secret': `whsec_${Buffer.alloc(32).toString('base64')}`,
  'encryption-keys': `key-1:${Buffer.alloc(32, 1).toString('base64')}`,
  'database-url': 'postgres://sanaga:secret@postgres:5432/book',
  'codec-ui-token': 'abcdef0123456789abcdef01',
  'merchants.json': JSON.stringify({
    merchants: [
      { name: 'shop', keys: [{ sha256: '9f'.repeat(32), scopes: ['collections', 'read'] }] },
      { name: 'ops', keys: [{ sha256: '0b'.repeat(32), scopes: ['review'] }] },
    ],
  }),
};

/** A path below the Secret's folder, as one of a file that is there. */
async function mounted(value: string): Promise<string> {
  const [, name] = /^\/run\/secrets\/sanaga\/(.+)$/.exec(value) ?? [];
  if (name === undefined) return value;
  const file = join(folder, name);
  await writeFile(file, FILES[name] ?? 'a-credential');
  return file;
}

describe('the chart', () => {
  const minimal = {
    temporal: { address: 'temporal:7233' },
    provider: { collectionUrl: 'https://c.example', payoutUrl: 'https://p.example' },
  };

  async function refusalOf(values: object): Promise<string> {
    const file = join(folder, 'values.yaml');
    await writeFile(file, stringify(values));
    return await render(['--values', file]).then(
      () => '',
      (error: unknown) => String(error),
    );
  }

  it('is content with the least that has to be said', async () => {
    expect(await refusalOf(minimal)).toBe('');
  });

  it.each([
    ['no address of Temporal', { ...minimal, temporal: {} }, 'temporal.address is not set'],
    [
      'an address without a port',
      { ...minimal, temporal: { address: 'temporal' } },
      'temporal.address (temporal) must be host:port',
    ],
    ['no address of the provider', { ...minimal, provider: {} }, 'provider.collectionUrl is not set'],
    [
      'an address of the provider by http',
      { ...minimal, provider: { ...minimal.provider, collectionUrl: 'http://c.example:443' } },
      'provider.collectionUrl must be an https address',
    ],
    ['a value that there is not', { ...minimal, wroker: {} }, 'wroker'],
    [
      'a secret among the settings',
      { ...minimal, api: { settings: { WEBHOOK_TOKEN: 'x' } } },
      'WEBHOOK_TOKEN is a secret. Put it into the Secret sanaga as webhook-token',
    ],
    [
      'a setting that has a value of its own',
      { ...minimal, worker: { settings: { WORKER_BUILD_ID: '1' }, versioning: { enabled: true } } },
      'WORKER_BUILD_ID is set by another value',
    ],
    [
      'a limit of a day that only the API knows',
      { ...minimal, api: { settings: { MAX_PAYOUTS_PER_DAY: 1_000_000 } } },
      'MAX_PAYOUTS_PER_DAY belongs into settings',
    ],
    ['the tag latest', { ...minimal, image: { tag: 'latest' } }, 'image.tag must not be latest'],
    ['it for the API alone', { ...minimal, api: { tag: 'latest' } }, 'api.tag must not be latest'],
    [
      'a port of Temporal that its own policy closes',
      { ...minimal, temporal: { address: 'temporal:443' } },
      'networkPolicy.temporalPort is 7233, but temporal.address has the port 443',
    ],
    [
      'a port of the provider that its own policy closes',
      { ...minimal, provider: { ...minimal.provider, payoutUrl: 'https://p.example:8443/v2' } },
      "networkPolicy.providerPorts hasn't the port 8443 of provider.payoutUrl",
    ],
    [
      'workers scaled by a Temporal whose authority KEDA is not given',
      {
        ...minimal,
        temporal: { ...minimal.temporal, tls: { caSecret: 'temporal-ca' } },
        worker: { autoscaling: { enabled: true } },
      },
      'KEDA connects to Temporal by TLS only with',
    ],
    ['a pod that runs as root', { ...minimal, podSecurityContext: { runAsNonRoot: false } }, 'runAsNonRoot'],
    [
      'a grace that is shorter than a request',
      { ...minimal, worker: { shutdownGrace: '10s' } },
      'worker.shutdownGrace (10s) must be longer than provider.timeout (15s)',
    ],
    [
      'fewer pods at most than at least',
      { ...minimal, api: { autoscaling: { minReplicas: 5, maxReplicas: 2 } } },
      'api.autoscaling.maxReplicas must be at least minReplicas',
    ],
    ['an Ingress without a host', { ...minimal, api: { ingress: { enabled: true } } }, 'api.ingress.host is not set'],
    ...['api', 'codecServer', 'desk'].map(
      (name) =>
        [
          `an Ingress before ${name} that is not counted as a proxy`,
          { ...minimal, [name]: { ingress: { enabled: true, host: 'pay.example' } } },
          `${name}.trustedProxies is 0, but ${name}.ingress.enabled puts a proxy before it: set it to 1`,
        ] as const,
    ),
    [
      'previous versions without versions',
      { ...minimal, worker: { versioning: { previous: [{ buildId: '1', tag: '1', replicas: 1 }] } } },
      'worker.versioning.enabled is false',
    ],
    [
      'two versions of one name',
      {
        ...minimal,
        image: { tag: '1.0.0' },
        worker: {
          versioning: { enabled: true, previous: [{ buildId: '1.0-0', tag: '0.9.0', replicas: 1 }] },
        },
      },
      'would both be called sanaga-worker-1-0-0',
    ],
    [
      'one merchant’s address beside the merchants’ file',
      { ...minimal, merchantWebhookUrl: 'https://shop.example' },
      "merchantWebhookUrl can't be set with merchants: file",
    ],
  ])('refuses %s, and says so', async (_, values, message) => {
    expect(await refusalOf(values)).toContain(message);
  });

  it('leaves the API and the desk at the version that runs, when it is told so, until the workers are new', async () => {
    const values = [...valuesOf('minimal-values.yaml'), '--set', 'desk.enabled=true,image.tag=0.2.0,api.tag=0.1.0'];
    const images = deploymentsOf(await render(values)).map(({ metadata, spec }) => [
      metadata.name,
      ...spec.template.spec.containers.map(({ image }) => image.split(':').at(-1)),
    ]);
    expect(images.toSorted()).toEqual([
      ['sanaga-api', '0.1.0'],
      ['sanaga-desk', '0.1.0'],
      ['sanaga-worker', '0.2.0'],
    ]);
  });

  const hookPolicy = z.object({
    kind: z.literal('NetworkPolicy'),
    metadata: z.object({ annotations: z.object({ 'helm.sh/hook-weight': z.literal('-1') }) }),
    spec: z.object({
      podSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
      egress: z.array(z.unknown()),
    }),
  });

  /** The policy of a hook's Job, which is a hook that comes before it. */
  function hookPolicyOf(rendered: string, component: string) {
    const found = objectsOf(rendered)
      .flatMap((object) => hookPolicy.safeParse(object).data?.spec ?? [])
      .filter(({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component'] === component);
    expect(found).toHaveLength(1);
    return found[0] ?? { egress: [] };
  }

  it("brings the book's tables up to date first, after the replay, by what may reach the book alone", async () => {
    const rendered = await render(valuesOf('everything-values.yaml'));
    const migration = jobsOf(rendered).find(({ metadata }) => metadata.name === 'sanaga-migration');
    expect(migration?.metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '1',
    });
    const [{ command = [], env = [] } = {}] = migration?.spec.template.spec.containers ?? [];
    expect(command.slice(1)).toEqual(['lib/migrate.js']);
    expect(env.map(({ name }) => name).toSorted()).toEqual([
      ...['DATABASE_URL_FILE', 'LOG_LEVEL', 'PROVIDER_COLLECTION_URL', 'PROVIDER_PAYOUT_URL'],
    ]);
    expect(hookPolicyOf(rendered, 'migration').egress).toEqual([
      expect.objectContaining({ ports: expect.arrayContaining([{ protocol: 'UDP', port: 53 }]) }),
      expect.objectContaining({ ports: [{ protocol: 'TCP', port: 5432 }] }),
    ]);
  });

  it('replays payments with the new image before an upgrade, by what may reach Temporal alone', async () => {
    const rendered = await render(valuesOf('everything-values.yaml'));
    const replay = jobsOf(rendered).find(({ metadata }) => metadata.name === 'sanaga-replay');
    const hook = expect.objectContaining({ 'helm.sh/hook': 'pre-upgrade' });
    expect(replay).toMatchObject({ metadata: { annotations: hook }, spec: { backoffLimit: 0 } });
    const { labels } = replay?.spec.template.metadata ?? {};
    const [{ image = '', command = [], env = [] } = {}] = replay?.spec.template.spec.containers ?? [];
    expect([image.split(':').at(-1), command.slice(1)]).toEqual([
      '1.4.0',
      ['lib/replay.js', '--ended', '50', '--per-second', '5'],
    ]);
    expect(env.map(({ name }) => name)).not.toContain('PROVIDER_PAYOUT_API_KEY_FILE');
    expect(hookPolicyOf(rendered, 'replay').egress).toEqual([
      expect.objectContaining({ ports: expect.arrayContaining([{ protocol: 'UDP', port: 53 }]) }),
      expect.objectContaining({ ports: [{ protocol: 'TCP', port: 7233 }] }),
    ]);
    expect(labels).toMatchObject({ 'app.kubernetes.io/component': 'replay' });
  });

  it('keeps the last version of the workers beside the new one, under a name of its own', async () => {
    const workers = deploymentsOf(await render(valuesOf('everything-values.yaml'))).filter(({ metadata }) =>
      metadata.name.includes('worker'),
    );
    expect(workers.map(({ metadata, spec }) => [metadata.name, spec.replicas])).toEqual([
      ['sanaga-worker-1-4-0', undefined],
      ['sanaga-worker-1-3-0', 3],
    ]);
    const selectors = workers.map(({ spec }) => JSON.stringify(spec.selector.matchLabels));
    expect(new Set(selectors).size).toBe(2);
  });

  it('says in its notes which version to make current', async () => {
    // Helm shows notes only to those who have a cluster: here, they are one of the objects.
    const copy = join(folder, 'chart');
    await cp(CHART, copy, { recursive: true });
    const notes = await readFile(join(copy, 'templates/NOTES.txt'), 'utf8');
    await writeFile(join(copy, 'templates/notes.yaml'), `notes: |\n  Notes:\n${notes.replace(/^/gm, '  ')}`);
    const args = ['template', 'sanaga', copy, '--kube-version', NEWEST, '--show-only', 'templates/notes.yaml'];
    const { output } = await run(helm, [...args, ...valuesOf('everything-values.yaml')]);
    expect(output).toContain('--deployment-name sanaga --build-id 1.4.0');
  });
});
