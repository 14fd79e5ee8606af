import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loseNotifications } from '../../stack/demo/ledger.js';
import type { PaymentAnswer } from '../../stack/demo/merchant.js';
import { atCheckout } from '../../stack/demo/payer.js';
import { stackSettings } from '../../stack/processes/settings.js';
import { machine, runToEnd } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

const PAYER = { phone: '677123000', name: 'Ngo Bassa', email: 'ngo.bassa@example.com' };
const isFinal = ({ final }: PaymentAnswer) => final;

describe('payments, end to end', () => {
  let running: RunningStack;
  let number = 0;

  beforeAll(async () => {
    // Later than a link's end at ten seconds, which takes two questions: of three a minute, one is left for a task that
    // is done again.
    running = await bringUp({ POLL_FIRST: '11s' });
  });

  afterAll(async () => {
    await running?.stop();
  });

  const create = (path: string, body: object) => running.merchant.create(path, body, `order ${++number}`);
  const createLink = (body: object = {}) => create('/v1/collections', { method: 'link', amount: 5_000, ...body });
  const linkOf = ({ link }: PaymentAnswer) => link ?? 'no link';

  /** Follows a payment to its end, and sees that the provider says the same, of one transaction. */
  async function ends({ id }: PaymentAnswer): Promise<PaymentAnswer> {
    const payment = await running.merchant.waitUntil(id, isFinal, { limitMs: 40_000 });
    const transactions = await running.transactionsOf(id);
    expect(transactions.map(({ transaction }) => transaction)).toEqual([
      expect.objectContaining({
        status: payment.status,
        amount: payment.amount,
        transId: payment.transId,
      }),
    ]);
    return payment;
  }

  it('a link is paid at the checkout page', async () => {
    const created = await createLink();
    expect(created).toMatchObject({ status: 'CREATED', final: false });
    await atCheckout(linkOf(created), { action: 'pay', phone: PAYER.phone });
    expect(await ends(created)).toMatchObject({ status: 'SUCCESSFUL' });
  });

  it('a link that was declined can be paid after that, and the merchant hears of both', async () => {
    const created = await createLink();
    await atCheckout(linkOf(created), { action: 'decline' });
    const declined = await running.merchant.waitUntil(created.id, ({ status }) => status === 'FAILED', {
      limitMs: 30_000,
    });
    expect(declined.final).toBe(false);
    await noticed(created.id, 1);
    await atCheckout(linkOf(created), { action: 'pay', phone: PAYER.phone });
    expect(await ends(created)).toMatchObject({ status: 'SUCCESSFUL' });

    await noticed(created.id, 2);
    const types = running.hook.notices(created.id).map(({ type }) => type);
    expect(types).toEqual(['payment.attempt_failed', 'payment.succeeded']);
  });

  it('a link expires when its time is over', async () => {
    expect(await ends(await createLink({ expiresIn: '10s' }))).toMatchObject({ status: 'EXPIRED' });
  });

  it('a link is expired by the merchant, and cannot be paid any more', async () => {
    const created = await createLink();
    expect(await running.merchant.expire(created.id)).toMatchObject({ status: 'EXPIRED', final: true });
    await ends(created);
    const late = atCheckout(linkOf(created), { action: 'pay', phone: PAYER.phone });
    await expect(late).rejects.toThrow('410');
  });

  it('a link whose notification is lost is settled by polling', async () => {
    const created = await createLink();
    await loseNotifications(running.stack.sandboxUrl, created.transId ?? '');
    await atCheckout(linkOf(created), { action: 'pay', phone: PAYER.phone });
    expect(await ends(created)).toMatchObject({ status: 'SUCCESSFUL' });
    const [entry] = await running.transactionsOf(created.id);
    expect(entry?.notifications.filter(({ acknowledged }) => acknowledged)).toEqual([]);
  });

  it.each([
    ['succeeds', '677000000', 'SUCCESSFUL'],
    ['fails', '699000100', 'FAILED'],
  ])('a direct payment %s', async (_, phone, status) => {
    const created = await create('/v1/collections', { ...PAYER, method: 'direct', amount: 2_500, phone });
    expect(await ends(created)).toMatchObject({ kind: 'collection', method: 'direct', status });
  });

  it.each([
    ['to a phone succeeds', { phone: '677000000', name: PAYER.name }, 'SUCCESSFUL'],
    ['to a phone fails', { phone: '677000100', medium: 'mobile money' }, 'FAILED'],
    ['to an account succeeds', { medium: 'platform', email: 'also.paid@example.com' }, 'SUCCESSFUL'],
    ['to an account fails', { medium: 'platform', email: 'also.never.paid@example.com' }, 'FAILED'],
  ])('a payout %s', async (_, recipient, status) => {
    const created = await create('/v1/payouts', { amount: 10_000, ...recipient });
    expect(await ends(created)).toMatchObject({ kind: 'payout', status });
  });

  it('the same Idempotency-Key gives the same payment, and the provider is asked once', async () => {
    const body = { method: 'direct', amount: 1_500, phone: PAYER.phone };
    const key = { 'idempotency-key': 'order 4711' };
    const answers = await Promise.all([1, 2, 3].map(() => running.call('POST', '/v1/collections', body, key)));
    const payments = await Promise.all(answers.map(async (answer) => (await answer.json()) as PaymentAnswer));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect(new Set(payments.map(({ id }) => id)).size).toBe(1);

    const [payment] = payments;
    if (payment === undefined) throw new Error('nothing was answered');
    await ends(payment);
    const afterTheEnd = await running.call('POST', '/v1/collections', body, key);
    expect(afterTheEnd.status).toBe(200);
    expect(await afterTheEnd.json()).toMatchObject({ id: payment.id, status: 'SUCCESSFUL' });
    expect(await running.transactionsOf(payment.id)).toHaveLength(1);
  });

  it('the same Idempotency-Key with another body is refused', async () => {
    const key = { 'idempotency-key': 'order 4712' };
    const body = { amount: 1_500, phone: PAYER.phone };
    const first = await running.call('POST', '/v1/payouts', body, key);
    const other = await running.call('POST', '/v1/payouts', { ...body, amount: 1_600 }, key);
    expect([first.status, other.status]).toEqual([201, 409]);
    expect(await other.json()).toMatchObject({ code: 'idempotency_key_reused' });
    const { id } = (await first.json()) as PaymentAnswer;
    expect(await running.transactionsOf(id)).toHaveLength(1);
  });

  it('the merchant is notified of an outcome, with a signature', async () => {
    const created = await create('/v1/payouts', { amount: 700, phone: '677000100' });
    await ends(created);
    await noticed(created.id, 1);
    expect(running.hook.notices(created.id)).toEqual([
      { type: 'payment.failed', data: { id: created.id, status: 'FAILED', final: true } },
    ]);
  });

  it("payments are found by Temporal's search attributes", async () => {
    const body = { method: 'direct', amount: 123_456, phone: PAYER.phone, externalId: 'cart-9' };
    const { id } = await ends(await create('/v1/collections', body));
    const query = `PaymentStatus = "SUCCESSFUL" AND PaymentKind = "collection" AND ExternalId = "cart-9"`;
    const found = async () => {
      const ids: string[] = [];
      for await (const { workflowId } of running.client.workflow.list({ query })) ids.push(workflowId);
      return ids;
    };
    // Visibility follows a moment after.
    expect(await eventually(found, (ids) => ids.length > 0)).toEqual([id]);
  });

  it('the health check of a worker sees it at work, and says so where none is', async () => {
    const { address, namespace } = running.stack.temporal.target;
    const env = {
      ...machine(),
      ...stackSettings({ api: 1, sandbox: 1, book: 1 }, running.secrets),
      ...{ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: running.taskQueue },
    };
    const check = (settings = {}) => runToEnd('deploy/worker-health.js', [], { ...env, ...settings });
    expect(await check()).toEqual({ code: 0, stdout: '', stderr: '' });
    const { code, stderr } = await check({ TEMPORAL_TASK_QUEUE: 'nobody' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^no worker of .+ asks for work at nobody$/m);
  });

  it('no log of any process has a phone number, an e-mail, a name or a key in it', async () => {
    const link = await createLink({ email: PAYER.email });
    await atCheckout(linkOf(link), { action: 'pay', phone: '655123000' });
    await ends(link);
    const logs = await running.logs();
    expect(logs).toContain('payment changed');
    const personal = [PAYER.phone, PAYER.name, PAYER.email, '655123000', '677000100', '@example.com'];
    const { hook, secrets } = running;
    for (const secret of [...personal, ...Object.values(secrets), hook.secret]) {
      expect(logs.includes(secret) ? secret : 'nothing').toBe('nothing');
    }
  });

  async function noticed(id: string, count: number): Promise<void> {
    await eventually(
      async () => running.hook.notices(id),
      (notices) => notices.length >= count,
    );
  }
});
