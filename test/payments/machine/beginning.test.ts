import { describe, expect, it } from '@jest/globals';
import { beginPayment, type LinkRequest } from '../../../src/payments/machine/beginning.js';
import { toPayment } from '../../../src/payments/views/to-payment.js';
import { openPayment } from '../../../src/payments/words/payment-state.js';
import { linkOrder, terms, transId } from '../../support/orders.js';

const SECOND = 1_000;
const SENT_AT = Date.parse('2026-11-21T10:00:00Z');
const ANSWERED_AT = SENT_AT + 200;

function begun(startedAt: number, outcome: LinkRequest['outcome']) {
  return beginPayment(linkOrder, terms, startedAt, { outcome, sentAt: SENT_AT, answeredAt: ANSWERED_AT });
}

const ACCEPTED = { kind: 'accepted', transId: transId('T1'), link: 'https://pay.example/T1' } as const;

describe('a payment whose workflow begins', () => {
  it('was just opened when nothing was sent for it', () => {
    expect(beginPayment(linkOrder, terms, SENT_AT)).toEqual({
      payment: openPayment(linkOrder, terms, SENT_AT),
      timeline: { entries: [] },
    });
  });

  it('has the link that it was started with, and the times of its request', () => {
    const { payment, timeline } = begun(ANSWERED_AT + 5, ACCEPTED);
    expect(toPayment(payment)).toMatchObject({
      status: 'CREATED',
      link: ACCEPTED.link,
      transId: 'T1',
      createdAt: '2026-11-21T10:00:00.000Z',
      updatedAt: '2026-11-21T10:00:00.200Z',
    });
    expect(timeline.entries).toMatchObject([
      { type: 'sending', at: SENT_AT },
      { type: 'accepted', transId: 'T1', at: ANSWERED_AT },
    ]);
  });

  it.each([
    ['is FAILED when the provider rejected its request', { kind: 'rejected', message: 'no', statusCode: 400 }],
    ['looks for what nobody knows of', { kind: 'ambiguous', reason: 'reset' }],
    ['waits to send what was not sent', { kind: 'notSent', reason: 'refused' }],
    ['waits while the credentials are refused', { kind: 'unauthorized', message: 'no', statusCode: 401 }],
  ] as const)('%s', (_fact, outcome) => {
    const phases = { rejected: 'ended', ambiguous: 'searching', notSent: 'waiting', unauthorized: 'waiting' };
    expect(begun(ANSWERED_AT, outcome).payment.phase.kind).toBe(phases[outcome.kind]);
  });

  it.each([9, -9])('goes by the clock of the sender when it is %i s before Temporal’s', (seconds) => {
    expect(begun(ANSWERED_AT + seconds * SECOND, ACCEPTED).payment.createdAt).toBe(SENT_AT);
  });

  it.each([11, -11, 86_400])('goes by Temporal’s clock when the sender’s is %i s before it', (seconds) => {
    const { payment, timeline } = begun(ANSWERED_AT + seconds * SECOND, ACCEPTED);
    expect(payment.createdAt).toBe(SENT_AT + seconds * SECOND);
    expect(timeline.entries.map(({ at }) => at)).toEqual([SENT_AT + seconds * SECOND, ANSWERED_AT + seconds * SECOND]);
  });
});
