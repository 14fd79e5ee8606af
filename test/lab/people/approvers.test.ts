import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { bringToDeciders } from '../../../lab/people/approvers.js';
import { observedOf } from '../../../lab/people/observed-payment.js';
import { planChaosPayments } from '../../../lab/plan/chaos-payments.js';
import type { PlannedVerdict } from '../../../lab/plan/planned-hold.js';
import { secretOf } from '../../../lab/world/credentials.js';
import { LocalServer } from '../../../lab/world/local-server.js';
import { contextOf, stackAt } from '../chaos-context.js';

const planned = planChaosPayments(50, 1_000, 1).find(({ way }) => way === 'payout');
if (planned === undefined) throw new Error('the plan has no payout');
const payout = planned;
const { id, owner } = payout;
const digest = 'a'.repeat(64);

const shown = (status: string, more: object = {}) => ({ id, status, final: status === 'FAILED', amount: 100, ...more });
const problem = (code: string) => ({ code, payment: shown('CREATED') });

describe('the people who decide on held payouts', () => {
  const servers: LocalServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.leave()));
  });

  /** Has a verdict given, at once, to an API that gives these answers, the last one for ever. */
  async function give(verdict: Omit<PlannedVerdict, 'time'>, ...answers: (readonly [status: number, body: object])[]) {
    const hold = { needsApproval: true, approveAbove: 1, verdicts: [{ ...verdict, time: { afterMs: 0 } }] };
    const record = { ...observedOf({ ...payout, hold }), digest, heldUntil: Date.now() + 60_000 };
    const seen: { path: unknown; key: unknown; body: string }[] = [];
    const api = new LocalServer(async (request, response) => {
      seen.push({ path: request.url, key: request.headers.authorization, body: await text(request) });
      const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, {}];
      response.writeHead(status).end(JSON.stringify(body));
    });
    servers.push(api);
    await api.listen();
    const context = contextOf(stackAt({ apiUrl: api.url }), [record]);
    bringToDeciders(
      record,
      { for: ['approval'], since: new Date().toISOString(), until: new Date(record.heldUntil).toISOString(), digest },
      context,
    );
    await context.timeline.idle();
    context.api.close();
    return { seen, verdicts: record.verdicts, wrong: record.wrongAnswers.length };
  }

  it('approve by the digest that the payment shows, and with a key of their own', async () => {
    const { seen, verdicts, wrong } = await give({ by: 'accountant', action: 'approve' }, [200, shown('CREATED')]);
    const key = `Bearer ${secretOf(`${owner}-accountant`)}`;
    expect(seen).toEqual([{ path: `/v1/payouts/${id}/approve`, key, body: JSON.stringify({ digest }) }]);
    expect(verdicts).toEqual([expect.objectContaining({ action: 'approve', mayApprove: true, outcome: 'done' })]);
    expect(wrong).toBe(0);
  });

  it('ask again while it is not known whether the verdict was taken', async () => {
    const { verdicts } = await give({ by: 'owner', action: 'reject' }, [503, problem('x')], [200, shown('FAILED')]);
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(['open', 'done']);
  });

  it.each([
    ['one’s own approval that is taken', { by: 'clerk', action: 'approve' }],
    ['one by another key of the same person', { by: 'clerkAgain', action: 'approve' }],
    ['another merchant’s', { by: 'stranger', action: 'approve' }],
    ['one of another payout', { by: 'owner', action: 'approve', isOther: true }],
  ] as const)('hold %s against the API', async (_, verdict) => {
    const { wrong, verdicts } = await give(verdict, [200, shown('CREATED')]);
    expect(wrong).toBe(1);
    expect(verdicts.map(({ mayApprove }) => mayApprove)).toEqual([false]);
  });

  it('hold a refusal against the API that says something else than why', async () => {
    const approve = { by: 'clerk', action: 'approve' } as const;
    expect((await give(approve, [403, problem('same_person')])).wrong).toBe(0);
    expect((await give(approve, [403, problem('forbidden')])).wrong).toBe(1);
    expect((await give({ by: 'stranger', action: 'approve' }, [409, problem('not_held')])).wrong).toBe(1);
  });

  it('ask no more once a payout has ended as not approved, by whomever', async () => {
    const ended = { code: 'not_held', payment: shown('FAILED', { failureCode: 'not_approved' }) };
    const { verdicts } = await give({ by: 'owner', action: 'reject' }, [409, ended]);
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(['open']);
  });

  it('take a payout for stopped only once it is FAILED', async () => {
    const { verdicts } = await give(
      { by: 'owner', action: 'reject' },
      [200, shown('REVIEW')],
      [409, problem('not_held')],
    );
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(['open', 'refused']);
  });
});
