import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const ours = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Files by path. An import's target has to exist, so every tree brings the files that it imports. */
type Tree = Readonly<Record<string, string>>;

const reportSchema = z.object({
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

/** The folders with code that are checked: every tree has something in each of them. */
const rooms = ['src', 'bench', 'client', 'cli', 'examples', 'lab', 'sandbox', 'stack', 'test'];

/** Packages as far as an import of them needs; `playwright-core` is for tests alone, `undeclared` is nobody's. */
const packages = ['@temporalio/workflow', '@temporalio/common', 'pg', 'zod', 'playwright-core', 'undeclared'];

/** Lays a tree out in a folder of its own, with our rules and settings beside it, and returns what breaks a rule. */
async function violationsOf(tree: Tree) {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-imports-'));
  try {
    for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) {
      await cp(ours(name), join(folder, name));
    }
    for (const name of packages) {
      await write(folder, `node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
      await write(folder, `node_modules/${name}/index.js`, 'module.exports = {};');
    }
    await write(folder, 'node_modules/zod/mini/index.js', 'module.exports = {};');
    for (const [path, text] of Object.entries(tree)) await write(folder, path, text);

    const tool = ours('node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
    const args = [tool, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...rooms];
    // In JSON, violations are reported and not counted into the exit code.
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
    return reportSchema.parse(JSON.parse(stdout)).summary.violations;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

/** The project in small, with nothing wrong about it. */
const sound: Tree = {
  'src/payments/words/limits.ts': 'export const LIMIT = 6;',
  'src/payments/words/order.ts':
    "import { LIMIT } from './limits.js'; export const most = LIMIT; export type Order = number;",
  'src/payments/words/derive-payment-id.ts':
    "import { createHash } from 'node:crypto'; import { LIMIT } from './limits.js'; export const derive = () => [createHash, LIMIT];",
  'src/payments/machine/state-schema.ts':
    "import * as z from 'zod/mini'; import { LIMIT } from '../words/limits.js'; export const state = [z, LIMIT];",
  'src/reconciliation/statement.ts':
    "import { LIMIT } from '../payments/words/limits.js'; export const compare = LIMIT;",
  'src/provider/schemas.ts':
    "import { z } from 'zod'; import { LIMIT } from '../payments/words/limits.js'; export const wire = [z, LIMIT];",
  'src/provider/client.ts': "import { wire } from './schemas.js'; export const client = wire;",
  'src/book/turn.ts':
    "import pg from 'pg'; import { connect } from '../temporal/connection.js'; import { most } from '../payments/words/order.js'; export type Done = number; export const turn = [pg, connect, most];",
  'src/delivery/outbox.ts': "import { turn } from '../book/turn.js'; export const outbox = turn;",
  'src/activities/activities.ts':
    "import { client } from '../provider/client.js'; import { turn } from '../book/turn.js'; import type { Order } from '../payments/words/order.js'; export type Activities = Order; export const activities = [client, turn];",
  'src/temporal/search-attributes.ts':
    "import { keyword } from '@temporalio/common'; export const attributes = keyword;",
  'src/temporal/connection.ts':
    "import { attributes } from './search-attributes.js'; export const connect = attributes;",
  'src/workflows/messages.ts': "import { defineSignal } from '@temporalio/workflow'; export const hint = defineSignal;",
  'src/workflows/inputs.ts':
    "import * as z from 'zod/mini'; import { state } from '../payments/machine/state-schema.js'; export const read = [z, state];",
  'src/workflows/index.ts':
    "import type { Activities } from '../activities/activities.js'; import type { Done } from '../book/turn.js'; import { most } from '../payments/words/order.js'; import { attributes } from '../temporal/search-attributes.js'; import { hint } from './messages.js'; import { read } from './inputs.js'; export const run = (a: Activities, done: Done) => [a, done, most, attributes, hint, read];",
  'src/settings/read-settings.ts': "import { LIMIT } from '../payments/words/limits.js'; export const config = LIMIT;",
  'src/http/server.ts': "import { logger } from '../telemetry/logger.js'; export const serve = logger;",
  'src/telemetry/logger.ts': "import { z } from 'zod'; export const logger = z;",
  'src/process/run-process.ts':
    "import { config } from '../settings/read-settings.js'; export const runProcess = config;",
  'src/api/app.ts':
    "import { logger } from '../telemetry/logger.js'; import { config } from '../settings/read-settings.js'; import { derive } from '../payments/words/derive-payment-id.js'; import { wire } from '../provider/schemas.js'; import { connect } from '../temporal/connection.js'; import { hint } from '../workflows/messages.js'; import { turn } from '../book/turn.js'; import { serve } from '../http/server.js'; export const app = [logger, config, derive, wire, connect, hint, turn, serve];",
  'src/server.ts':
    "import { app } from './api/app.js'; import { runProcess } from './process/run-process.js'; void [app, runProcess];",
  'src/statements/steps.ts':
    "import { turn } from '../book/turn.js'; import { client } from '../provider/client.js'; import { hint } from '../workflows/messages.js'; import { ring } from '../engine/ring.js'; import { compare } from '../reconciliation/statement.js'; export const steps = [turn, client, hint, ring, compare];",
  'src/engine/ring.ts': "import { hint } from '../workflows/messages.js'; export const ring = hint;",
  'src/worker.ts':
    "import { activities } from './activities/activities.js'; import { outbox } from './delivery/outbox.js'; import { steps } from './statements/steps.js'; void [activities, outbox, steps];",
  'sandbox/ledger.ts': "import { wire } from '../src/provider/schemas.js'; export const ledger = wire;",
  'src/desk/app.ts':
    "import { logger } from '../telemetry/logger.js'; import { most } from '../payments/words/order.js'; export const desk = [logger, most];",
  'src/desk.ts':
    "import { desk } from './desk/app.js'; import { runProcess } from './process/run-process.js'; void [desk, runProcess];",
  'sandbox/settings.ts': "import { z } from 'zod'; export const settings = z;",
  'sandbox/main.ts':
    "import { ledger } from './ledger.js'; import { settings } from './settings.js'; void [ledger, settings];",
  'stack/temporal.ts':
    "import { connect } from '../src/temporal/connection.js'; import { settings } from '../sandbox/settings.js'; export const start = [connect, settings];",
  'stack/demo.ts': "import { start } from './temporal.js'; export const demo = start;",
  'lab/chaos.ts':
    "import { start } from '../stack/temporal.js'; import { ledger } from '../sandbox/ledger.js'; import { app } from '../src/api/app.js'; void [start, ledger, app];",
  'lab/explore/search.ts': "import { most } from '../../src/payments/words/order.js'; export const search = most;",
  'lab/explore.ts': "import { search } from './explore/search.js'; void search;",
  'bench/run.ts':
    "import { start } from '../stack/temporal.js'; import { wire } from '../src/provider/schemas.js'; export const run = [start, wire];",
  'bench/main.ts': "import { run } from './run.js'; void run;",
  'client/transport.ts': 'export const send = fetch;',
  'client/index.ts': "import { send } from './transport.js'; export const client = send;",
  'cli/main.ts':
    "import { client } from '../client/index.js'; import { demo } from '../stack/demo.js'; void [client, demo, import('../src/worker.js')];",
  'examples/shop/store.ts': "import type { client } from 'sanaga/client'; export type Store = typeof client;",
  'examples/shop/main.ts':
    "import { client } from 'sanaga/client'; import type { Store } from './store.js'; void (client satisfies Store);",
  'test/clock.ts': "import { wire } from '../src/provider/schemas.js'; export const clock = wire;",
};

interface WrongImport {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  /** The statement, when it isn't just an import of a file of ours. */
  readonly text?: string;
}

const wrongImports: readonly WrongImport[] = [
  { rule: 'payments-are-pure', from: 'src/payments/a.ts', to: 'src/provider/schemas.ts' },
  {
    rule: 'payments-are-pure',
    from: 'src/payments/b.ts',
    to: 'node_modules/zod/index.js',
    text: "import 'zod';",
  },
  { rule: 'payments-are-pure', from: 'src/payments/c.ts', to: 'crypto', text: "import 'node:crypto';" },
  {
    rule: 'payment-ids-need-a-hash-alone',
    from: 'src/payments/words/derive-payment-id.ts',
    to: 'fs',
    text: "import 'node:fs';",
  },
  {
    rule: 'state-schema-needs-zod-alone',
    from: 'src/payments/machine/state-schema.ts',
    to: 'fs',
    text: "import 'node:fs';",
  },
  { rule: 'workflows-never-hash', from: 'src/workflows/a.ts', to: 'src/payments/words/derive-payment-id.ts' },
  { rule: 'workflows-are-deterministic', from: 'src/workflows/b.ts', to: 'src/temporal/connection.ts' },
  { rule: 'workflows-are-deterministic', from: 'src/workflows/c.ts', to: 'src/provider/client.ts' },
  {
    rule: 'workflows-are-deterministic',
    from: 'src/workflows/d.ts',
    to: 'timers/promises',
    text: "import 'node:timers/promises';",
  },
  {
    rule: 'workflows-are-deterministic',
    from: 'src/workflows/e.ts',
    to: 'node_modules/zod/index.js',
    text: "import 'zod';",
  },
  {
    rule: 'workflows-know-activities-by-type',
    from: 'src/workflows/f.ts',
    to: 'src/activities/activities.ts',
  },
  {
    rule: 'search-attributes-go-into-the-bundle',
    from: 'src/temporal/search-attributes.ts',
    to: 'src/temporal/connection.ts',
  },
  { rule: 'activities-only-call', from: 'src/activities/a.ts', to: 'src/workflows/messages.ts' },
  { rule: 'activities-only-call', from: 'src/activities/b.ts', to: 'src/settings/read-settings.ts' },
  { rule: 'provider-knows-the-domain-alone', from: 'src/provider/a.ts', to: 'src/activities/activities.ts' },
  { rule: 'provider-knows-the-domain-alone', from: 'src/provider/b.ts', to: 'src/telemetry/logger.ts' },
  { rule: 'reconciliation-is-pure', from: 'src/reconciliation/a.ts', to: 'src/provider/client.ts' },
  {
    rule: 'engine-is-the-door-to-payments',
    from: 'src/engine/a.ts',
    to: 'src/api/app.ts',
  },
  { rule: 'engine-knows-no-http', from: 'src/engine/b.ts', to: 'src/http/server.ts' },
  { rule: 'engine-knows-no-http', from: 'src/engine/c.ts', to: 'src/api/app.ts' },
  { rule: 'http-knows-no-payment', from: 'src/http/a.ts', to: 'src/payments/words/order.ts' },
  { rule: 'http-knows-no-payment', from: 'src/http/b.ts', to: 'src/engine/ring.ts' },
  { rule: 'api-is-a-front-door', from: 'src/api/a.ts', to: 'src/activities/activities.ts' },
  { rule: 'workflows-are-known-by-their-messages', from: 'src/api/b.ts', to: 'src/workflows/index.ts' },
  {
    rule: 'statements-reach-payments-as-the-api-does',
    from: 'src/statements/a.ts',
    to: 'src/api/app.ts',
  },
  {
    rule: 'workflows-are-known-by-their-messages',
    from: 'src/statements/b.ts',
    to: 'src/workflows/index.ts',
  },
  { rule: 'statements-are-for-the-worker', from: 'src/api/i.ts', to: 'src/statements/steps.ts' },
  { rule: 'codec-only-reads', from: 'src/codec/a.ts', to: 'src/settings/read-settings.ts' },
  { rule: 'book-knows-the-rules-alone', from: 'src/book/a.ts', to: 'src/provider/client.ts' },
  { rule: 'book-knows-the-rules-alone', from: 'src/book/b.ts', to: 'src/settings/read-settings.ts' },
  { rule: 'sql-is-the-books', from: 'src/engine/d.ts', to: 'node_modules/pg/index.js', text: "import 'pg';" },
  { rule: 'delivery-only-tells', from: 'src/delivery/a.ts', to: 'src/provider/client.ts' },
  { rule: 'delivery-only-tells', from: 'src/delivery/b.ts', to: 'src/temporal/connection.ts' },
  { rule: 'workflows-know-activities-by-type', from: 'src/workflows/g.ts', to: 'src/book/turn.ts' },
  { rule: 'temporal-is-only-a-connection', from: 'src/temporal/a.ts', to: 'src/settings/read-settings.ts' },
  { rule: 'sandbox-is-another-company', from: 'sandbox/a.ts', to: 'src/payments/words/limits.ts' },
  { rule: 'sandbox-is-another-company', from: 'sandbox/b.ts', to: 'src/provider/client.ts' },
  { rule: 'sandbox-is-another-company', from: 'sandbox/c.ts', to: 'src/settings/read-settings.ts' },
  { rule: 'sandbox-is-another-company', from: 'sandbox/main.ts', to: 'src/payments/words/limits.ts' },
  { rule: 'sandbox-is-another-company', from: 'sandbox/main.ts', to: 'src/process/run-process.ts' },
  { rule: 'settings-depend-on-nothing', from: 'src/settings/read-settings.ts', to: 'src/telemetry/logger.ts' },
  { rule: 'api-is-for-the-server', from: 'src/worker.ts', to: 'src/api/app.ts' },
  { rule: 'schemas-describe', from: 'src/schemas/a.ts', to: 'src/engine/ring.ts' },
  { rule: 'desk-is-a-caller-of-the-api', from: 'src/desk/a.ts', to: 'src/api/app.ts' },
  { rule: 'desk-is-a-caller-of-the-api', from: 'src/desk/b.ts', to: 'src/temporal/connection.ts' },
  { rule: 'desk-is-a-caller-of-the-api', from: 'src/desk.ts', to: 'src/provider/client.ts' },
  { rule: 'desk-is-for-its-process', from: 'src/server.ts', to: 'src/desk/app.ts' },
  { rule: 'product-stands-alone', from: 'src/worker.ts', to: 'sandbox/ledger.ts' },
  { rule: 'product-stands-alone', from: 'src/temporal/b.ts', to: 'stack/temporal.ts' },
  { rule: 'product-stands-alone', from: 'src/api/c.ts', to: 'cli/main.ts' },
  { rule: 'product-stands-alone', from: 'src/telemetry/logger.ts', to: 'test/clock.ts' },
  {
    rule: 'product-needs-no-dev-dependency',
    from: 'src/api/d.ts',
    to: 'node_modules/playwright-core/index.js',
    text: "import 'playwright-core';",
  },
  { rule: 'product-stands-alone', from: 'src/api/g.ts', to: 'client/index.ts' },
  { rule: 'sandbox-is-another-company', from: 'sandbox/d.ts', to: 'client/index.ts' },
  { rule: 'client-needs-nothing', from: 'client/a.ts', to: 'crypto', text: "import 'node:crypto';" },
  {
    rule: 'client-needs-nothing',
    from: 'client/b.ts',
    to: 'node_modules/zod/index.js',
    text: "import 'zod';",
  },
  {
    rule: 'client-needs-nothing',
    from: 'client/c.ts',
    to: 'src/payments/words/order.ts',
    text: "import type { Order } from '../src/payments/words/order.js';",
  },
  { rule: 'client-has-one-door', from: 'cli/b.ts', to: 'client/transport.ts' },
  {
    rule: 'examples-are-a-merchants',
    from: 'examples/shop/a.ts',
    to: 'src/payments/words/order.ts',
    text: "import type { Order } from '../../src/payments/words/order.js';",
  },
  { rule: 'examples-are-a-merchants', from: 'examples/shop/b.ts', to: 'client/transport.ts' },
  { rule: 'examples-are-a-merchants', from: 'examples/shop/c.ts', to: 'stack/temporal.ts' },
  { rule: 'examples-import-the-package', from: 'examples/shop/d.ts', to: 'client/index.ts' },
  { rule: 'examples-are-for-nobody', from: 'stack/d.ts', to: 'examples/shop/store.ts' },
  { rule: 'product-stands-alone', from: 'src/api/h.ts', to: 'examples/shop/store.ts' },
  { rule: 'stack-knows-the-product-alone', from: 'stack/a.ts', to: 'sandbox/ledger.ts' },
  { rule: 'stack-knows-the-product-alone', from: 'stack/b.ts', to: 'lab/explore/search.ts' },
  { rule: 'exploration-knows-the-machine-alone', from: 'lab/explore/a.ts', to: 'src/workflows/messages.ts' },
  { rule: 'exploration-knows-the-machine-alone', from: 'lab/explore/b.ts', to: 'sandbox/ledger.ts' },
  { rule: 'lab-is-for-nobody', from: 'cli/a.ts', to: 'lab/explore/search.ts' },
  { rule: 'bench-measures-from-outside', from: 'lab/explore/c.ts', to: 'bench/run.ts' },
  { rule: 'processes-are-imported-by-nobody', from: 'src/server.ts', to: 'src/worker.ts' },
  { rule: 'processes-are-imported-by-nobody', from: 'stack/c.ts', to: 'sandbox/main.ts' },
  { rule: 'processes-are-imported-by-nobody', from: 'lab/chaos/b.ts', to: 'lab/explore.ts' },
  { rule: 'tests-are-for-nobody', from: 'lab/chaos/a.ts', to: 'test/clock.ts' },
  {
    rule: 'packages-are-declared',
    from: 'src/api/e.ts',
    to: 'node_modules/undeclared/index.js',
    text: "import 'undeclared';",
  },
  { rule: 'imports-resolve', from: 'src/api/f.ts', to: './absent.js', text: "import './absent.js';" },
  { rule: 'no-circles', from: 'src/payments/words/limits.ts', to: 'src/payments/words/order.ts' },
];

/** The sound tree with the wrong imports added to it. */
function spoilt(): Tree {
  const tree: Record<string, string> = {
    ...sound,
    'src/forgotten.ts': 'export const forgotten = 0;',
    'src/dead.ts': "import { logger } from './telemetry/logger.js'; export const dead = logger;",
  };
  for (const { from, to, text } of wrongImports) {
    const up = '../'.repeat(from.split('/').length - 1);
    const statement = text ?? `import '${up}${to.replace(/\.ts$/, '.js')}';`;
    tree[from] = `${statement}\n${tree[from] ?? ''}`;
  }
  return tree;
}

describe('the dependency rules', () => {
  let found: Awaited<ReturnType<typeof violationsOf>>;
  beforeAll(async () => {
    found = await violationsOf(spoilt());
  });

  it('let the right directions pass', async () => {
    expect(await violationsOf(sound)).toEqual([]);
  });

  it.each(wrongImports)('$rule: $from may not import $to', ({ rule, from, to }) => {
    expect(found).toContainEqual(expect.objectContaining({ rule: expect.objectContaining({ name: rule }), from, to }));
  });

  it('no-orphans: a file that nothing leads to or from is reported', () => {
    expect(rulesOn('src/forgotten.ts')).toContain('no-orphans');
  });

  it('nothing-is-dead: a file that no process reaches is reported', () => {
    expect(rulesOn('src/dead.ts')).toContain('nothing-is-dead');
  });

  it('each have a wrong import here that they catch', async () => {
    const config: unknown = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
    const tried = new Set([...wrongImports.map(({ rule }) => rule), 'no-orphans', 'nothing-is-dead']);
    const names = z.object({ forbidden: z.array(z.object({ name: z.string() })) }).parse(config);
    expect(new Set(names.forbidden.map(({ name }) => name))).toEqual(tried);
  });

  const rulesOn = (path: string) => found.filter(({ to }) => to === path).map(({ rule }) => rule.name);
});
