import { describe, expect, it } from '@jest/globals';
import { claimedPaid } from '../../../src/payments/machine/paid-claims.js';
import type { Refusal } from '../../../src/payments/machine/replies.js';
import {
  DAY,
  directOrder,
  HOUR,
  linkOrder,
  MINUTE,
  payoutOrder,
  START,
  transactionOf,
  transId,
} from '../../support/orders.js';
import { absent, ambiguous, type Scenario, SILENT, taken, UNKNOWN } from '../../support/scenario.js';

const NOT_CONFIRMED = "a notification says that T1 has been paid, and the provider hasn't confirmed that yet";
const L1 = transactionOf(linkOrder, { status: 'PENDING' });
const created = { ...L1, status: 'CREATED' } as const;
const P1 = transactionOf(payoutOrder, { status: 'FAILED' });

const refused = (type: Refusal['type'], words: string) => ({
  kind: 'refused',
  type,
  words: expect.stringContaining(words),
});

/**
 * The minutes of the questions from now on, each of which gets the same answer, until the payment has nothing left to
 * do.
 */
function minutesUntilEnd(payment: Scenario, status: 'FAILED' | 'EXPIRED'): number[] {
  const from = payment.now;
  const asked: number[] = [];
  while (payment.todo.kind !== 'end') {
    payment.asks('askStatus');
    asked.push(Math.round((payment.now - from) / MINUTE));
    payment.found(status);
  }
  return asked;
}

describe('a link that a notification calls paid', () => {
  /** The notification comes a minute before the link's end, and the provider's records are behind it. */
  const reportedPaid = () =>
    taken(linkOrder)
      .after(DAY - MINUTE)
      .hint('T1')
      .found('PENDING');

  it('is not expired at its end before the provider had the time to confirm it', () => {
    const payment = reportedPaid();
    while (payment.now < START + DAY + 10 * MINUTE) {
      payment.asks('askStatus');
      payment.found('PENDING');
    }
    expect(payment.found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('is still called so when the provider shows it paid, and not for which payment', () => {
    const payment = taken(linkOrder).hint('T2');
    payment.found('SUCCESSFUL', { externalId: undefined, userId: undefined });
    expect(claimedPaid(payment.payment, payment.now)).toEqual(['T2']);
  });

  it('is expired when nothing has confirmed that for 36 minutes, however often it was said', () => {
    const payment = reportedPaid();
    while (payment.todo.kind !== 'expire') {
      payment.hint('T1').asks('askStatus');
      payment.found('PENDING');
    }
    expect(payment.now).toBeGreaterThanOrEqual(START + DAY + 35 * MINUTE);
    expect(payment.now).toBeLessThan(START + DAY + 38 * MINUTE);
  });

  it('is expired after three such times, no matter who forges notifications', () => {
    const payment = taken(linkOrder).after(DAY - MINUTE);
    while (payment.todo.kind !== 'expire') {
      payment.hint('T1').asks('askStatus');
      payment.hint('T1').found('PENDING');
    }
    expect(payment.now).toBeGreaterThan(START + DAY + HOUR);
    expect(payment.now).toBeLessThan(START + DAY + 2 * HOUR);
  });

  it('is protected by a true notification after a forged one, too', () => {
    const payment = taken(linkOrder).hint('T1');
    while (payment.now < START + DAY - HOUR) payment.found('PENDING');
    payment.at(START + DAY - MINUTE).hint('T1');
    while (payment.now < START + DAY) payment.found('PENDING');
    expect(payment.found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('is asked about in a held review, however many others notifications name', () => {
    const payment = taken(linkOrder).found('PENDING', { amount: 1 }).hint('T1');
    for (const forged of ['X0', 'X1', 'X2', 'X3', 'X4']) payment.hint(forged);
    const asked: string[] = [];
    while (payment.now < START + HOUR / 2) {
      asked.push(payment.asks('askStatus').transId);
      payment.answered(UNKNOWN);
    }
    expect(asked).toContain('T1');
  });

  it('is an operator’s to decide again when the provider never answers about it', () => {
    const payment = taken(linkOrder).found('PENDING', { amount: 1 }).hint('T1');
    while (payment.payment.claims.open.length > 0) payment.answered(SILENT);
    payment.fail().found('PENDING').listed(L1);
    expect(payment.todo).toMatchObject({ kind: 'expire', transId: 'T1' });
  });

  it('is not pushed out by what forged notifications name', () => {
    const L2 = transactionOf(linkOrder, { transId: transId('T2'), status: 'PENDING' });
    const payment = taken(linkOrder).hint('T2').found('PENDING');
    for (const forged of ['X0', 'X1', 'X2', 'X3', 'X4', 'X5']) payment.hint(forged);
    payment.fail({ force: true }).found('CREATED').listed(created, L2);
    expect(payment.reply).toMatchObject(refused('ResolutionRefused', 'a notification says that T2 has been paid'));
  });

  it('is not kept out by what was forged before', () => {
    const L2 = transactionOf(linkOrder, { transId: transId('T2'), status: 'PENDING' });
    const payment = taken(linkOrder).found('PENDING', { amount: 1 });
    for (let forged = 0; forged < 25; forged++) payment.hint(`X${forged}`);
    payment.hint('T2').fail({ force: true }).found('CREATED').listed(created, L2);
    expect(payment.reply).toMatchObject(refused('ResolutionRefused', 'a notification says that T2 has been paid'));
    expect(payment.payment.claims.paid).toHaveLength(20);
  });

  it('is asked about in a held review, whatever notifications have named before', () => {
    const payment = taken(linkOrder).found('PENDING', { amount: 1 });
    for (const forged of ['X0', 'X1', 'X2', 'X3', 'X4']) payment.hint(forged);
    expect(payment.hint('T1').payment.claims.open).toContainEqual(expect.objectContaining({ transId: 'T1' }));
  });

  it('is not put off for ever by a flood of notifications just before it is expired', () => {
    const payment = taken(linkOrder).request('expire').found('CREATED');
    for (let times = 0; times < 5; times++) {
      payment.hint('T1');
      while (payment.todo.kind !== 'expire') payment.found('CREATED');
    }
    expect(payment.now).toBeLessThan(START + 2 * HOUR);
    expect(payment.hint('T1').todo).toMatchObject({ kind: 'expire' });
  });

  it('while a fail is looked into is not expired when that is refused', () => {
    const payment = taken(linkOrder);
    while (payment.status !== 'REVIEW') {
      if (payment.todo.kind === 'expire') payment.expired(SILENT);
      else payment.found('PENDING');
    }
    while (payment.todo.kind !== 'expire') payment.found('PENDING');
    payment.fail({ force: true }).found('PENDING').listed(L1);
    expect(payment.todo).toMatchObject({ kind: 'expire' });
    payment.hint('T1').found('PENDING');
    expect(payment.reply?.kind).toBe('refused');
    expect(payment.todo.kind).not.toBe('expire');
  });

  it('just before it is expired is looked at again', () => {
    const payment = taken(linkOrder).request('expire').found('CREATED');
    expect(payment.todo).toMatchObject({ kind: 'expire' });
    expect(payment.hint('T1').asks('askStatus').transId).toBe('T1');
    expect(payment.found('SUCCESSFUL').status).toBe('SUCCESSFUL');
  });

  it('is not the merchant’s to expire until then, who is told why', () => {
    const payment = reportedPaid().request('expire');
    expect(payment.reply).toMatchObject(refused('NotExpirable', NOT_CONFIRMED));
    expect(
      payment
        .later(40 * MINUTE)
        .request('expire')
        .asks('askStatus').transId,
    ).toBe('T1');
  });

  it('is not expired for an operator’s fail, not even by force', () => {
    const payment = taken(linkOrder).found('PENDING', { amount: 1 }).hint('T1');
    expect(payment.fail().reply).toMatchObject(refused('ResolutionRefused', NOT_CONFIRMED));
    payment.fail({ force: true }).found('PENDING').listed(L1);
    expect(payment.reply).toMatchObject(refused('ResolutionRefused', NOT_CONFIRMED));
    while (payment.payment.claims.open.length > 0) payment.found('PENDING');
    payment.fail().found('PENDING').listed(L1);
    expect(payment.todo).toMatchObject({ kind: 'expire', transId: 'T1' });
  });

  it('while an operator’s fail waits to expire it is left, and the operator told', () => {
    const payment = taken(linkOrder).found('PENDING', { amount: 1 }).later(HOUR);
    payment.fail({ force: true }).found('PENDING').listed(L1).hint('T1').found('PENDING');
    expect(payment.reply).toMatchObject(
      refused('ResolutionRefused', 'a notification has named T1 for this payment since this was decided'),
    );
  });

  it('is neither expired nor replaced while nobody was given its address', () => {
    const payment = ambiguous(linkOrder).hint('T1').listed(created).found('CREATED').listed();
    expect(payment.phase('searching').clearing).toBeUndefined();
    expect(payment.payment.sends.count).toBe(1);
    while (payment.todo.kind !== 'expire') {
      const { todo } = payment;
      if (todo.kind === 'wait') payment.at(todo.until ?? payment.now);
      else if (todo.kind === 'askStatus') payment.found('CREATED');
      else payment.listed();
    }
    expect(payment.now).toBeGreaterThanOrEqual(START + 36 * MINUTE);
  });
});

describe('a notification that calls a transaction paid, just before the provider says that it is over', () => {
  it('has the list read, and the provider asked again after 1, 5 and 30 minutes', () => {
    const payout = taken(payoutOrder).hint('T1').found('FAILED');
    expect(payout.payment.phase.kind).toBe('verifying');
    expect(minutesUntilEnd(payout.listed(P1), 'FAILED')).toEqual([0, 5, 35]);
    expect(payout.status).toBe('FAILED');
    const link = taken(linkOrder).hint('T1').found('EXPIRED');
    expect(minutesUntilEnd(link.listed({ ...L1, status: 'EXPIRED' }), 'EXPIRED')).toHaveLength(3);
    expect(link.status).toBe('EXPIRED');
  });

  it('brings the payment before a person when it was true', () => {
    const payment = taken(payoutOrder).hint('T1').found('FAILED').listed(P1);
    expect(payment.found('SUCCESSFUL').phase('review').why).toContain('the provider now says that T1 is SUCCESSFUL');
  });
});

describe('a transaction that a payment has left, and that a notification calls paid', () => {
  it('is asked about until the provider says so, too', () => {
    const payment = taken(directOrder)
      .found('PENDING', { amount: 1 })
      .hint('T1')
      .later(HOUR / 2);
    payment.found('PENDING', { amount: 1 }).match('T2', { force: true }).found('SUCCESSFUL');
    expect(payment.status).toBe('SUCCESSFUL');
    expect(payment.payment.claims.open).toMatchObject([{ transId: 'T1' }]);
  });

  it('is not dropped on the first answer that doesn’t confirm it', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL').hint('T2').found('FAILED');
    expect(payment.payment.claims.open).toMatchObject([{ transId: 'T2', unknown: 1 }]);
    expect(payment.asks('askStatus')).toMatchObject({ transId: 'T2', isClaim: true });
    expect(payment.found('SUCCESSFUL').status).toBe('REVIEW');
  });
});

describe('a transaction that is being asked about', () => {
  it('is asked about anew when a notification calls it paid', () => {
    const payment = taken(payoutOrder).found('SUCCESSFUL').hint('T2', 'PENDING');
    for (let times = 0; times < 3; times++) payment.answered(UNKNOWN);
    payment.later(MINUTE).hint('T2').answered(UNKNOWN);
    expect(payment.todo).toMatchObject({ kind: 'wait' });
    expect(payment.found('SUCCESSFUL').status).toBe('REVIEW');
  });
});

describe('a decision that is insisted on', () => {
  it('is refused for what a notification names after it was made', () => {
    const payment = absent(payoutOrder).hint('T8').answered(SILENT).resend({ force: true }).hint('T9').listed();
    expect(payment.reply).toMatchObject(
      refused('ResolutionRefused', 'a notification has named T9 for this payment since this was decided'),
    );
    expect(payment.resend({ force: true }).listed().todo).toEqual({ kind: 'send', cause: 'operator' });
  });

  it('is carried out as a match, for nothing is lost by that', () => {
    const payment = taken(directOrder).found('PENDING', { amount: 1 });
    payment.match('T2', { force: true }).hint('T9').found('SUCCESSFUL');
    expect(payment.reply?.kind).toBe('done');
  });

  it('does not have the provider asked for longer about a transaction that is followed', () => {
    const payment = ambiguous(directOrder).listed(transactionOf(directOrder));
    while (payment.status !== 'REVIEW') payment.found('PENDING');
    payment.hint('T1').found('PENDING').later(MINUTE).fail({ force: true }).found('PENDING');
    expect(payment.payment.claims.open).toEqual([]);
  });
});
