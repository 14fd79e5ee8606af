import { beforeAll, describe, expect, it } from '@jest/globals';
import pty from '@lydell/node-pty';
import { type ApiUnderTest, KEYS, merchantsWith, terms } from '../support/api-under-test.js';
import { built, machine, runToEnd } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, useStack } from '../support/payment-stack.js';

const stack = useStack();
let api: ApiUnderTest;
/** One whose payments come up for review soon. */
let hasty: ApiUnderTest;
beforeAll(async () => {
  api = await stack.startMore({ answerWithinMs: 10_000 });
  const grace = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  hasty = await stack.startMore({ terms: grace, answerWithinMs: HASTY_MS });
});

const environment = (key: string) => ({
  ...machine(),
  SANAGA_URL: api.url,
  SANAGA_API_KEY: key,
  TZ: 'UTC',
});
const asOperator = (...args: readonly string[]) => runToEnd('build/cli/main.js', args, environment(KEYS.operator));
const asShop = (...args: readonly string[]) => runToEnd('build/cli/main.js', args, environment(KEYS.shop));

/** Gives the command a terminal, and answers what it asks there. */
async function answering(answer: string, args: readonly string[], env = environment(KEYS.operator)) {
  const terminal = pty.spawn(process.execPath, [built('build/cli/main.js'), ...args], { env });
  let shown = '';
  terminal.onData((text) => {
    shown += text;
  });
  terminal.write(answer);
  const code = await new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  return { code, shown };
}

/** A payout of 700 XAF of which nobody knows whether the provider took it. */
async function reviewed(): Promise<string> {
  const id = await stack.doubtfulPayout(hasty);
  await eventually(
    () => stack.read(id),
    (answer) => answer.body.status === 'REVIEW',
  );
  stack.sandbox.faults.clear();
  return id;
}

const decision = (action: string, id: string, ...more: readonly string[]) => [
  'review',
  action,
  id,
  '--number',
  '1',
  '--why',
  'ticket 4711',
  ...more,
];

describe('sanaga review, with a real payment', () => {
  it('shows what has to be decided, and from when', async () => {
    const id = await reviewed();
    const { stdout } = await eventually(
      () => asOperator('review'),
      (ended) => ended.stdout.includes(id),
    );
    const row = stdout.split('\n').find((line) => line.includes(id)) ?? '';
    const [, review] = /700 XAF +(\d+) +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +shop +\S/.exec(row) ?? [];
    expect(review).toBe('1');
  });

  it('asks at a terminal, and decides nothing but for a yes', async () => {
    const id = await reviewed();
    const no = await answering('\n', decision('fail', id));
    expect(no.shown).toContain(`Call ${id} FAILED, so that 700 XAF (payout) counts as not moved?`);
    expect(no.shown).toContain('Nothing was decided.');
    expect([no.code, (await stack.read(id)).body.status]).toEqual([1, 'REVIEW']);

    const yes = await answering('y\n', decision('fail', id));
    expect(yes.code).toBe(0);
    expect((await stack.read(id)).body).toMatchObject({
      status: 'FAILED',
      final: true,
      resolution: { action: 'fail', by: 'operator', why: 'ticket 4711' },
    });
    const again = await asOperator(...decision('fail', id, '--yes'));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('409 not_under_review')]);
  });

  it('resends', async () => {
    const id = await reviewed();
    const { code, stdout } = await asOperator(...decision('resend', id, '--yes', '--json'));
    expect([code, JSON.parse(stdout).resolution.action]).toEqual([0, 'resend']);
    await eventually(
      async () => stack.transactionsOf(id),
      ({ length }) => length === 1,
    );
  });

  it('matches a transaction, and is refused for one that nobody knows', async () => {
    const id = await reviewed();
    const unknown = await asOperator(...decision('match', id, '--trans-id', 'invented', '--yes'));
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('resolution_refused')]);
    const order = { amount: 700, phone: '677000000', externalId: id, userId: id };
    const outcome = await stack.providers.payout.payout(order);
    const transId = outcome.kind === 'accepted' ? outcome.transId : 'none';
    const found = await asOperator(...decision('match', id, '--trans-id', transId, '--yes'));
    expect([found.code, (await stack.read(id)).body.transId]).toEqual([0, transId]);
  });

  it('is refused to a merchant', async () => {
    const id = await reviewed();
    const { code, stderr } = await asShop(...decision('resend', id, '--yes'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('403 forbidden')]);
    expect(stack.transactionsOf(id)).toEqual([]);
  });
});

describe('sanaga approvals, with a real payout', () => {
  const keys = [
    { name: 'shop', person: 'ann', secret: 'secret-of-ann', scopes: ['payouts', 'approve'] },
    { name: 'shop', person: 'bob', secret: 'secret-of-bob', scopes: ['approve'] },
  ] as const;
  let approving: ApiUnderTest;
  beforeAll(async () => {
    approving = await stack.startMore({ merchants: merchantsWith(keys), answerWithinMs: 20_000 });
  });
  const as = (person: string) => ({ ...environment(`secret-of-${person}`), SANAGA_URL: approving.url });
  const run = (person: string, ...args: readonly string[]) => runToEnd('build/cli/main.js', args, as(person));

  it('lists it, and has another person approve it at a terminal, with the amount repeated', async () => {
    const args = ['payout', '90,000', '--phone', '677000000', '--name', 'Ngono Marie', '--approval', '--json'];
    const { id } = JSON.parse((await run('ann', ...args)).stdout);
    await eventually(
      () => run('bob', 'approvals'),
      ({ stdout }) => stdout.includes(id) && stdout.includes('Ngono Marie, •••• 000  ann'),
    );
    const own = await run('ann', 'approve', id, '--amount', '90000');
    expect([own.code, own.stderr]).toEqual([1, expect.stringContaining('403 same_person')]);
    const wrong = await answering('9,000\n', ['approve', id], as('bob'));
    expect(wrong.shown).toContain('Repeat the amount to approve it, in XAF:');
    expect(wrong.shown).toContain('Nothing was approved: the amount is not 9,000 XAF');
    expect([wrong.code, stack.transactionsOf(id)]).toEqual([1, []]);
    expect((await answering('90 000\n', ['approve', id], as('bob'))).code).toBe(0);
    await eventually(
      async () => stack.transactionsOf(id),
      ({ length }) => length === 1,
    );
    const late = await run('bob', 'reject', id, '--why', 'too late');
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('409 not_held')]);
  });
});

describe('sanaga notifications, with a real payment', () => {
  it('lists them, and sends one again', async () => {
    const { id } = await stack.paid();
    const listed = await asShop('notifications', id);
    expect(listed.stdout).toMatch(/^ +1 {2}.*payment\.succeeded +not sent: no webhook address was set$/m);
    const resent = await asShop('notifications', 'resend', id, '1');
    expect(resent).toMatchObject({ code: 0, stderr: 'Notification 1 is sent again.\n' });
    const missing = await asShop('notifications', 'resend', id, '2');
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('no_such_notification')]);
  });
});
