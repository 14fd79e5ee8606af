import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { dayAfter, dayOf } from '../../src/payments/words/time.js';
import { STATEMENT_SCHEDULE_ID, STATEMENT_WORKFLOW_TYPE } from '../../src/workflows/messages.js';
import { machine, runToEnd } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

let running: RunningStack;
beforeAll(async () => {
  running = await bringUp({}, { withRecords: true });
});
afterAll(() => running.stop());

const paymentSchema = z.looseObject({ id: z.string(), amount: z.int(), phone: z.string().optional() });
const pageSchema = z.object({
  data: z.array(z.looseObject({ paymentId: z.string(), data: paymentSchema })),
});

const PHONE = '677000012';

/** `node lib/records.js`, with the settings of the API. */
const records = (...args: string[]) =>
  runToEnd('lib/records.js', args, {
    ...machine(),
    RECORDS_URL: running.stack.recordsUrl,
    ENCRYPTION_KEYS: running.secrets.encryptionKeys,
  });

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

  it('are made when the command line asks for one', async () => {
    const day = dayAfter(dayOf(Date.now()), -2);
    const sanaga = (...args: string[]) =>
      runToEnd('build/cli/main.js', args, {
        ...machine(),
        SANAGA_URL: running.stack.apiUrl,
        SANAGA_API_KEY: running.secrets.apiKey,
      });
    const made = await sanaga('statements', day, '--make');
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing differs.') });
    const listed = await sanaga('statements', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({ date: day, version: 1, complete: true, payments: 0 });
    const csv = await sanaga('statements', day, '--csv');
    expect(csv.stdout).toMatch(/^record,date,service,/);
  });
});

describe('the records of a running stack', () => {
  it('have a payment some moments after its end, and still when every process was killed', async () => {
    const { payment } = await payOut();
    const recorded = await events();
    expect(recorded).toEqual([
      expect.objectContaining({
        id: `evt_${payment.id}_succeeded_1`,
        type: 'payment.succeeded',
        data: expect.objectContaining({ id: payment.id, final: true }),
      }),
    ]);
    for (const part of ['worker', 'records', 'api'] as const) await running.stack.kill(part);
    for (const part of ['records', 'worker', 'api'] as const) await running.stack.restart(part);
    expect(await events()).toEqual(recorded);
    const again = await payOut();
    expect([again.status, again.payment.id]).toEqual([200, payment.id]);
    expect(await running.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('have nothing of who was paid in any file of their database', async () => {
    const bytes = await running.recordedBytes();
    // The search reads what it looks through.
    const [event] = await events();
    expect(bytes.includes(event?.paymentId ?? '')).toBe(true);
    for (const secret of [PHONE, 'Jane', 'Payee']) expect(bytes.includes(secret)).toBe(false);
  });

  it('are brought up to date, and say how far they are', async () => {
    expect(await records('migrate')).toMatchObject({ code: 0, stdout: 'The tables are up to date.\n' });
    const { stdout } = await records('status');
    expect(stdout).toMatch(/^All payments that ended before \d{4}-\S+Z are recorded\.\n$/);
  });

  it('forget who was paid, when they are told to', async () => {
    const [before] = await events();
    expect(before?.data.phone).toBe('•••• 012');
    const { stdout } = await records('erase', `+237 ${PHONE}`);
    expect(stdout).toContain(`erased: ${before?.paymentId}\n`);
    const [after] = await events();
    expect(after?.data).toMatchObject({ id: before?.paymentId, amount: 700 });
    expect(after?.data.phone).toBeUndefined();
  });

  it.each([[[]], [['erase']], [['erase', 'somebody']], [['status', 'now']], [['drop']]])(
    'refuse what is no command of theirs: %j',
    async (args) => {
      const { code, stderr } = await records(...args);
      expect(code).toBe(64);
      expect(stderr).toContain('Usage: node lib/records.js');
    },
  );
});
