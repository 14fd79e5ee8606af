import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { dayAfter, dayOf } from '../../src/payments/words/time.js';
import { STATEMENT_SCHEDULE_ID, STATEMENT_WORKFLOW_TYPE } from '../../src/workflows/messages.js';
import { machine, runToEnd } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

let running: RunningStack;
beforeAll(async () => {
  running = await bringUp();
});
afterAll(() => running.stop());

const paymentSchema = z.looseObject({ id: z.string(), amount: z.int(), phone: z.string().optional() });
const pageSchema = z.object({
  data: z.array(z.looseObject({ paymentId: z.string(), data: paymentSchema })),
});

const PHONE = '677000012';

/** `node lib/payers.js`, with the settings of the API. */
const payers = (...args: string[]) =>
  runToEnd('lib/payers.js', args, {
    ...machine(),
    DATABASE_URL: running.stack.bookUrl,
    ENCRYPTION_KEYS: running.secrets.encryptionKeys,
  });

/** The same in a terminal, where somebody types. */
const typing = (input: string, ...args: string[]) =>
  runToEnd(
    'lib/payers.js',
    args,
    {
      ...machine(),
      NODE_OPTIONS: '--import=data:text/javascript,process.stdin.isTTY%3Dtrue',
      DATABASE_URL: running.stack.bookUrl,
      ENCRYPTION_KEYS: running.secrets.encryptionKeys,
    },
    undefined,
    input,
  );

async function payOut(amount = 700) {
  const body = { amount, phone: PHONE, name: 'Jane Payee' };
  const response = await running.call('POST', '/v1/payouts', body, { 'idempotency-key': 'refund-1' });
  return { status: response.status, payment: paymentSchema.parse(await response.json()) };
}

const events = () =>
  eventually(
    async () => pageSchema.parse(await (await running.call('GET', '/v1/events')).json()).data,
    (data) => data.length > 0,
  );

describe('the statements of a running stack', () => {
  it('are made each day: a worker has scheduled it at its start', async () => {
    const handle = running.client.schedule.getHandle(STATEMENT_SCHEDULE_ID);
    const { action, spec } = await eventually(
      () => handle.describe().catch(() => undefined),
      (schedule) => schedule !== undefined,
    ).then((schedule) => schedule ?? Promise.reject(new Error('there is none')));
    expect(action).toMatchObject({ type: 'startWorkflow', workflowType: STATEMENT_WORKFLOW_TYPE });
    expect(spec.timezone).toBe('Africa/Douala');
  });

  const sanaga = (...args: string[]) =>
    runToEnd('build/cli/main.js', args, {
      ...machine(),
      SANAGA_URL: running.stack.apiUrl,
      SANAGA_API_KEY: running.secrets.apiKey,
    });

  it('are made when the command line asks for one', async () => {
    const day = dayAfter(dayOf(Date.now()), -2);
    const made = await sanaga('statements', day, '--make');
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing differs.') });
    const listed = await sanaga('statements', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({ date: day, version: 1, complete: true, payments: 0 });
    const csv = await sanaga('statements', day, '--csv');
    expect(csv.stdout).toMatch(/^record,date,service,/);
  });

  it('are made of the day so far, with the payments of a minute ago', async () => {
    const { payment } = await payOut();
    const { code, stdout } = await sanaga('statements', 'today', '--make');
    expect([code, stdout]).toEqual([3, expect.stringContaining('Payouts: 1\n')]);
    expect(stdout).toMatch(/incomplete\n/);
    expect(stdout).toContain('not covered: the day from');
    const csv = await sanaga('statements', 'today', '--csv');
    expect([csv.code, csv.stdout]).toEqual([3, expect.stringContaining(`,payout,${payment.id},`)]);
  });
});

describe('the book of a running stack', () => {
  it('has a payment, also when every process was killed', async () => {
    const { payment } = await payOut();
    const told = await events();
    expect(told).toEqual([
      expect.objectContaining({
        id: `evt_${payment.id}_succeeded_1`,
        type: 'payment.succeeded',
        data: expect.objectContaining({ id: payment.id, final: true }),
      }),
    ]);
    for (const part of ['worker', 'book', 'api'] as const) await running.stack.kill(part);
    for (const part of ['book', 'worker', 'api'] as const) await running.stack.restart(part);
    expect(await events()).toEqual(told);
    const again = await payOut();
    expect([again.status, again.payment.id]).toEqual([200, payment.id]);
    expect(await running.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('has nothing of who was paid in any file of its database', async () => {
    const bytes = await running.bookBytes();
    // The search reads what it looks through.
    const [event] = await events();
    expect(bytes.includes(event?.paymentId ?? '')).toBe(true);
    for (const secret of [PHONE, 'Jane', 'Payee']) expect(bytes.includes(secret)).toBe(false);
  });

  it('is brought up to date, again and again', async () => {
    const migrated = await runToEnd('lib/migrate.js', [], { ...machine(), DATABASE_URL: running.stack.bookUrl });
    expect(migrated).toMatchObject({ code: 0 });
    const sealed = await payers('reseal');
    expect(sealed.stdout).toMatch(/^states\.sealed: 0$/m);
  });

  it('forgets who was paid, when it is told to', async () => {
    const [before] = await events();
    expect(before?.data.phone).toBe('•••• 012');
    const payer = `+237 ${PHONE}`;
    const reason = ['--by', 'ann', '--why', 'ticket 4711'];
    const unseen = await payers('erase', payer, ...reason);
    expect([unseen.code, unseen.stdout]).toEqual([1, '']);
    expect(unseen.stderr).toContain('Nothing was erased: repeat what the preview says after "confirm:" as --confirm.');

    const shown = await payers('preview', payer);
    expect(shown.stdout).toContain(`${before?.paymentId}  merchant  payout  SUCCESSFUL  700 XAF  20`);
    expect(shown.stdout).toMatch(/^Payments: 1 \(merchant: 1\), from 20/m);
    const confirm = /^confirm: (1-[0-9a-f]{16})$/m.exec(shown.stdout)?.[1] ?? '';
    const exported = await payers('export', payer, ...reason);
    expect(JSON.parse(exported.stdout)).toMatchObject({ payer: PHONE, payments: [{ order: { name: 'Jane Payee' } }] });

    const wrong = await payers('erase', payer, ...reason, '--confirm', '1-0123456789abcdef');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('Look at the preview again')]);
    expect((await events())[0]?.data.phone).toBe('•••• 012');
    // In a terminal, where something else than the number is typed, or nothing.
    for (const typed of ['yes\n', '2\n', '']) {
      const answer = await typing(typed, 'erase', payer, ...reason);
      expect([answer.code, answer.stdout]).toEqual([1, '']);
      expect(answer.stderr).toContain('Type the number of payments, 1, to erase it: ');
    }
    expect((await events())[0]?.data.phone).toBe('•••• 012');
    const { stdout } = await payers('erase', payer, ...reason, '--confirm', confirm);
    expect(stdout).toContain(`erased: ${before?.paymentId}\n`);
    const none = await payers('preview', payer);
    expect(none.stdout).toMatch(/^No payment has it\.$/m);
    expect(await typing('0\n', 'erase', payer, ...reason)).toMatchObject({ code: 0 });
    const listed = await payers('requests', payer);
    expect(listed.stdout.match(/ {2}(export|erase) {2}.* {2}payments: 1 {2}by ann: ticket 4711$/gm)).toHaveLength(2);
    expect(listed.stdout).not.toContain(PHONE);
    const [after] = await events();
    expect(after?.data).toMatchObject({ id: before?.paymentId, amount: 700 });
    expect(after?.data.phone).toBeUndefined();
  });

  it.each([
    [[]],
    [['erase']],
    [['erase', 'somebody']],
    [['erase', '677000205']],
    [['erase', '677000205', '--by', 'ann']],
    [['erase', '677000205', '--by', 'ann', '--why', ' ']],
    [['export', '677000205']],
    [['preview']],
    [['preview', '677000205', '--by', 'ann']],
    [['reseal', '--by', 'ann']],
    [['requests', 'somebody']],
    [['erase', '677000205', '--yes']],
    [['reseal', 'now']],
    [['drop']],
  ])('is asked nothing by what is no command: %j', async (args) => {
    const { code, stderr } = await payers(...args);
    expect(code).toBe(64);
    expect(stderr).toContain('Usage: node lib/payers.js');
  });
});
