import { describe, expect, it } from '@jest/globals';
import { describePayment } from '../../../src/payments/views/describe-payment.js';
import type { PaymentState } from '../../../src/payments/words/payment-state.js';
import { directOrder, HOUR, linkOrder, MINUTE, payoutOrder, transactionOf, transId } from '../../support/orders.js';
import { absent, backoff, opened, paid, type Scenario, taken, UNAUTHORIZED } from '../../support/scenario.js';

/** Texts that would be links in Markdown. */
const EVIL = '[pay](http://evil.example) www.evil.example pay@evil.example\u202e';
const DESK = { deskUrl: 'https://desk.example' };

const lines = ({ payment }: Scenario): string[] => describePayment(payment).trimEnd().split('\n');

describe('the current details of a payment', () => {
  it('of a link that waits say what it waits for, and until when', () => {
    expect(lines(taken(linkOrder))).toEqual([
      '**CREATED**',
      '',
      '- Amount: 5,000 XAF',
      '- Transaction: `T1`',
      '- Link ends: 2026-01-02T00:00:00.000Z',
      '- Next question to the provider: 2026-01-01 00:03:00 UTC, or when notified',
      '- Can be done: ask the provider now, with the refresh call',
    ]);
  });

  it('of one that has ended say what came of it, and what can still be done', () => {
    expect(lines(paid(payoutOrder))).toEqual([
      '**SUCCESSFUL**, final',
      '',
      '- Amount: 5,000 XAF',
      '- Transaction: `T1`',
      '- Can be done: check the outcome again, with the refresh call',
    ]);
  });

  it('of a refund name the collection', () => {
    expect(lines(paid({ ...payoutOrder, refundOf: directOrder.id }))).toContain('- Refunds: `col_2`');
  });

  it('of a review say first what is to be done, why, and from when on', () => {
    expect(lines(absent(payoutOrder, { resolveAfterMs: HOUR }))).toEqual([
      '**REVIEW**',
      '',
      '- To do: decide review 1 with the resolve call: resend, fail or match',
      expect.stringMatching(/^- Reason: it isn't known whether the provider accepted the payment/),
      '- Decide from: 2026-01-01 01:00:00 UTC',
      expect.stringMatching(/^- Not known: whether the provider took it: no answer within 15 s/),
      '- Amount: 5,000 XAF',
      '- Next question to the provider: 2026-01-01 01:15:00 UTC, or when notified',
    ]);
  });

  it('of one whose request is in doubt say until when that may stay so', () => {
    const inDoubt = opened(payoutOrder, { ambiguousGraceMs: HOUR }).sent({
      kind: 'ambiguous',
      reason: 'reset',
    });
    expect(lines(inDoubt)).toContain('- Grace period: until 2026-01-01 01:00:00 UTC');
    inDoubt.listed(transactionOf(payoutOrder, { status: 'PENDING' }));
    expect(lines(inDoubt).join()).not.toContain('Grace period');
    expect(lines(inDoubt.after(3 * MINUTE).found('FAILED'))).toContain('- Grace period: until 2026-01-01 01:03:01 UTC');
    expect(lines(taken(payoutOrder)).join()).not.toContain('Grace period');
    expect(lines(absent(payoutOrder)).join()).not.toContain('Grace period');
  });

  it('of one that waits to be sent once more say that this can be taken back', () => {
    const waiting = (given = {}) => absent(payoutOrder, given).resend().listed().sent(UNAUTHORIZED);
    expect(lines(waiting()).join()).not.toContain('Can be done');
    expect(lines(waiting())).toContainEqual(
      expect.stringMatching(/^- Waits: .*; the resend can be taken back with `reject`$/),
    );
    expect(lines(waiting(DESK))).toContainEqual(
      expect.stringMatching(/^- Waits: .* back \[on the desk\]\(https:\/\/desk\.example\/desk\/payments\/pay_3\)$/),
    );
  });

  it('keep that its transaction was once shown as SUCCESSFUL', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL', { amount: 1 });
    expect(lines(payment)).toContain('- Transaction: `T1` (once shown as SUCCESSFUL)');
  });

  it('lead to the desk, with what is to be done there first', () => {
    const link = '(https://desk.example/desk/payments/pay_3)';
    expect(lines(absent(payoutOrder, DESK))[2]).toBe(
      `- To do: [decide review 1 on the desk]${link}: resend, fail or match`,
    );
    expect(lines(taken(payoutOrder, DESK)).at(-1)).toBe(`- Can be done: [ask the provider now, on the desk]${link}`);
    expect(lines(paid(payoutOrder, DESK)).at(-1)).toBe(`- Can be done: [check the outcome again, on the desk]${link}`);
  });

  it('have the provider’s last word on each transaction', () => {
    const one = transactionOf(directOrder, { status: 'PENDING' });
    const payment = opened(directOrder).sent({ kind: 'ambiguous', reason: 'reset' });
    payment.listed(one, { ...one, transId: transId('T2'), status: 'SUCCESSFUL' });
    expect(lines(payment)).toContain(
      '- Other transactions: `T1` (PENDING when last heard of), `T2` (SUCCESSFUL when last heard of)',
    );
    expect(
      lines(
        taken(directOrder)
          .after(3 * MINUTE)
          .found('PENDING'),
      ),
    ).toContain('- Transaction: `T1` (PENDING when last heard of)');
  });

  it('of one that could not be sent say why, and when it is tried again', () => {
    const unsent = lines(opened(payoutOrder).sent(UNAUTHORIZED));
    expect(unsent[2]).toBe(
      '- Waits: the provider refuses our credentials: no; next try 2026-01-01 00:01:00 UTC; tried until 2026-01-02 00:00:00 UTC',
    );
    expect(unsent.at(-1)).toBe('- Can be done: withdraw it, with the cancel call');
    expect(lines(opened(directOrder).sent({ kind: 'notSent', reason: 'refused' })).slice(2)).toEqual([
      '- Waits: refused; next try 2026-01-01 00:00:01 UTC; tried until 2026-01-01 00:05:00 UTC',
      '- Amount: 5,000 XAF',
      '- Can be done: withdraw it, with the expire call',
    ]);
  });

  it('of one without an end of its own say when a person is asked', () => {
    const asked = '- A person is asked: if there is no outcome by 2026-01-02 00:00:00 UTC';
    expect(lines(taken(payoutOrder))).toContain(asked);
    expect(lines(taken(directOrder))).toContain(asked);
    expect(lines(taken(linkOrder)).join()).not.toContain('A person is asked');
    expect(lines(paid(payoutOrder)).join()).not.toContain('A person is asked');
  });

  it('end with as many empty lines as others may wrap', () => {
    const spare = (payment: PaymentState) => (describePayment(payment).match(/\n\n\u00a0/g) ?? []).length;
    const why = 'the payer has shown the message of his operator. '.repeat(10);
    const decided = backoff(payoutOrder).later(HOUR).match('T1').found('SUCCESSFUL');
    const resolved = decided.payment.resolved && { ...decided.payment.resolved, why };
    expect(spare({ ...decided.payment, resolved })).toBeGreaterThanOrEqual(spare(decided.payment) + 9);
  });

  it('render nothing of what somebody else has written', () => {
    const payment = backoff(payoutOrder).later(HOUR).match('T1').found('SUCCESSFUL');
    const written = { ...payment.payment.resolved, why: '**paid** [here](http://evil.example)' };
    const text = describePayment({
      ...payment.payment,
      resolved: written as typeof payment.payment.resolved,
    });
    expect(text).toContain('- Decided: match by ops: \\*\\*paid\\*\\* \\[here\\]\\(http\\[:\\]//evil.example\\)');
  });

  it.each([
    ['why it refuses our credentials', 'Waits', opened(payoutOrder).sent({ ...UNAUTHORIZED, message: EVIL })],
    ['why a payment failed', 'Reason', taken(payoutOrder).found('FAILED', { reason: EVIL })],
    ['why a payer has to try again', 'Reason', taken(linkOrder).found('FAILED', { reason: EVIL })],
    ['a request in doubt', 'Not known', opened(payoutOrder).sent({ kind: 'ambiguous', reason: EVIL })],
  ])('render nothing of what the provider says of %s', (_, row, payment) => {
    const line = lines(payment).find((one) => one.startsWith(`- ${row}: `));
    expect(line).toContain('\\[pay\\]\\(http\\[:\\]//evil.example\\)');
    // The Web UI would make links of these without any markup.
    expect(line).toContain('www\\[.\\]evil.example pay\\[@\\]evil.example\ufffd');
  });

  it("render nothing of a transaction's id", () => {
    const payment = opened(payoutOrder).sent({
      kind: 'accepted',
      transId: transId('T`[pay](x)`'),
      link: undefined,
    });
    expect(lines(payment)).toContain('- Transaction: `T\ufffd[pay](x)\ufffd`');
  });
});
