import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { msToTs } from '@temporalio/common/lib/time.js';
import { z } from 'zod';
import { plainTargetEnvironment } from '../../src/temporal/connection.js';
import { makeSecrets } from '../../stack/processes/settings.js';
import { machine, PROJECT, runFile } from '../support/built.js';
import { bundleFromSource } from '../support/bundle-workflows.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/* `node lib/replay.js`, as it is run before a deployment, against a running stack whose payments are encrypted. */

const createdSchema = z.looseObject({ id: z.string() });

/** A number whose transactions stay pending. */
const PENDING = '670000800';

let running: RunningStack;
let nextVersion: string;
/** A payout that has ended, one that waits for its outcome, and a link that nobody has opened. */
let ids: Readonly<Record<'ended' | 'open' | 'link', string>>;

beforeAll(async () => {
  running = await bringUp();
  const order = async (path: string, body: object) => {
    const response = await running.call('POST', path, body, { 'idempotency-key': JSON.stringify(body) });
    return createdSchema.parse(await response.json()).id;
  };
  ids = {
    ended: await order('/v1/payouts', { amount: 700, phone: '677000000' }),
    open: await order('/v1/payouts', { amount: 800, phone: PENDING }),
    link: await order('/v1/collections', { method: 'link', amount: 500 }),
  };
  await running.merchant.waitUntil(ids.ended, ({ final }) => final, { limitMs: 30_000 });
  await running.client.workflow.getHandle(ids.ended).result();
  nextVersion = await versionWith('unguarded-change');
}, 300_000);
afterAll(async () => {
  await running?.stop();
  if (nextVersion !== undefined) await rm(nextVersion, { recursive: true });
});

/** An installation of production whose workflows have a change. */
async function versionWith(change: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-next-version-'));
  await cp(join(PROJECT, 'lib'), join(folder, 'lib'), { recursive: true });
  await cp(join(PROJECT, 'package.json'), join(folder, 'package.json'));
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  const { code } = await bundleFromSource([fileURLToPath(new URL(`./${change}.ts`, import.meta.url))]);
  await writeFile(join(folder, 'lib/workflow-bundle.js'), code);
  return folder;
}

/** A namespace of the same server, without a payment. */
async function emptyNamespace(): Promise<string> {
  const namespace = `empty-${randomUUID()}`;
  const { workflowService } = running.client.connection;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('3 days') });
  const isKnown = () =>
    workflowService.countWorkflowExecutions({ namespace }).then(
      () => true,
      () => false,
    );
  await eventually(isKnown, (known) => known);
  return namespace;
}

const replay = (args: readonly string[] = [], folder = PROJECT, settings: NodeJS.ProcessEnv = {}) =>
  runFile(join(folder, 'lib/replay.js'), args, {
    ...machine(),
    ...plainTargetEnvironment(running.stack.temporal.target),
    ENCRYPTION_KEYS: running.secrets.encryptionKeys,
    ...settings,
  });

describe('the replay before a deployment', () => {
  it('passes when the new version can go on with every payment', async () => {
    const { code, stdout } = await replay(['--per-second', '1000']);
    expect(stdout).toMatch(/^Replayed: 1 open workflows and [1-9]\d* ended ones\. Failed: 0\. Not begun yet: 1\./);
    expect(code).toBe(0);
  });

  it('names each payment that the new version cannot go on with, and fails', async () => {
    const { code, stdout } = await replay(['--per-second', '1000'], nextVersion);
    const named = [...stdout.matchAll(/^(\S+) \((\w+), run \S+\): \[TMPRL1100\] Nondeterminism error: .+$/gm)].map(
      ([, id]) => id,
    );
    expect(named).toEqual(expect.arrayContaining([ids.open, ids.ended]));
    expect(named).not.toContain(ids.link);
    expect(stdout).toMatch(/^Replayed: 0 open .* Failed: [2-9]\./m);
    expect(code).toBe(1);
  });

  it('changes nothing: the payment goes on, and its history is as it was', async () => {
    const lengths = async () =>
      await Promise.all(
        Object.values(ids).map(async (id) => (await running.client.workflow.getHandle(id).describe()).historyLength),
      );
    const before = await lengths();
    await replay(['--per-second', '1000']);
    expect(await lengths()).toEqual(before);
  });

  it('replays as many as it is told to', async () => {
    const { stdout } = await replay(['--open', '0', '--ended', '1', '--per-second', '1000']);
    expect(stdout).toMatch(/^Replayed: 0 open workflows and 1 ended ones\./);
  });

  it('fails without the key that payments are encrypted with, and says which it needs', async () => {
    const { code, stdout } = await replay([], PROJECT, { ENCRYPTION_KEYS: makeSecrets().encryptionKeys });
    expect(stdout).toContain(`${ids.open} (payOut, run `);
    expect(stdout).toMatch(/DecryptionError.* is encrypted with the key .* which this process doesn't have/);
    expect(code).toBe(1);
  });

  it.each([
    [[], { TEMPORAL_TASK_QUEUE: "another's" }],
    [['--open', '0', '--ended', '0'], {}],
  ])('fails when it replays none of the payments that there are: %j, %j', async (args, settings) => {
    const { code, stdout } = await replay(args, PROJECT, settings);
    expect(stdout).toContain('There are payments, but none was replayed');
    expect(code).toBe(1);
  });

  it('passes where there are no payments yet, so that it holds up no first upgrade', async () => {
    const namespace = await emptyNamespace();
    const { code, stdout } = await replay([], PROJECT, { TEMPORAL_NAMESPACE: namespace });
    expect(stdout).toBe(`No payments in the namespace ${namespace}, nothing to replay.\n`);
    expect(code).toBe(0);
  });

  it.each([
    ['the namespace is missing', { TEMPORAL_NAMESPACE: 'missing' }, 'missing'],
    ['Temporal is not reached', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, '14 UNAVAILABLE'],
  ])('fails when %s', async (_, settings, words) => {
    const { code, stdout, stderr } = await replay([], PROJECT, settings);
    expect(stdout).toBe('');
    expect(stderr).toContain(words);
    expect(code).toBe(1);
  });

  it.each([[['now']], [['--open', 'all']], [['--ended', '-1']], [['--per-second', '0']], [['--fast']]])(
    'refuses what is no option of its own: %j',
    async (args) => {
      const { code, stderr } = await replay(args);
      expect(stderr).toContain('Usage: node lib/replay.js');
      expect(code).toBe(64);
    },
  );
});
