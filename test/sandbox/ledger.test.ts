import { describe, expect, it } from '@jest/globals';
import { manualClock } from '../../sandbox/clock.js';
import type { Entry } from '../../sandbox/entry.js';
import { keyedRandom } from '../../sandbox/keyed-random.js';
import { Ledger } from '../../sandbox/ledger.js';
import type { TestOutcome } from '../../sandbox/test-outcome.js';
import { LedgerFullError } from '../../sandbox/transaction-store.js';
import { DAY, HOUR, MINUTE, phones, SECOND, START } from '../support/running-sandbox.js';

const open = (options: { capacity?: number; settleDelayMs?: number } = {}) => {
  const clock = manualClock(START);
  const ledger = new Ledger({ clock, random: keyedRandom('ledger'), ...options });
  const draft = { amount: 1000, serviceName: 'Shop' };
  const link = (userId?: string) => ledger.openLink({ ...draft, service: 'collection', method: 'link', userId });
  const direct = (outcome: TestOutcome) =>
    ledger.openPending({ ...draft, service: 'collection', method: 'direct' }, outcome);
  const pay = (entry: Entry, phone: string) => ledger.attempt(entry.transId, { action: 'pay', phone });
  return { clock, ledger, link, direct, pay };
};
const statuses = ({ history }: Entry) => history.map(({ status }) => status);
const succeeds: TestOutcome = { kind: 'settles', status: 'SUCCESSFUL', after: 'atOnce' };
const stays: TestOutcome = { kind: 'stays' };

describe('a link in the ledger', () => {
  it('is CREATED, then PENDING during an attempt, then SUCCESSFUL', () => {
    const { link, pay } = open();
    const entry = link();
    expect(entry.status).toBe('CREATED');
    expect(pay(entry, phones.succeeds).kind).toBe('paid');
    expect(statuses(entry)).toEqual(['CREATED', 'PENDING', 'SUCCESSFUL']);
  });

  it('can be tried again after FAILED', () => {
    const { link, pay } = open();
    const entry = link();
    expect(pay(entry, phones.fails)).toMatchObject({ kind: 'declined', reason: expect.any(String) });
    expect(pay(entry, phones.succeeds).kind).toBe('paid');
    expect(statuses(entry)).toEqual(['CREATED', 'PENDING', 'FAILED', 'PENDING', 'SUCCESSFUL']);
    expect(entry.reason).toBeUndefined();
  });

  it('is FAILED by a payer who declines, without a number', () => {
    const { ledger, link } = open();
    const entry = link();
    expect(ledger.attempt(entry.transId, { action: 'decline' })).toMatchObject({
      kind: 'declined',
      reason: 'The payer declined',
    });
    expect(entry.status).toBe('FAILED');
  });

  it('is PENDING for as long as the number says, and takes no second attempt meanwhile', () => {
    const { clock, link, pay } = open();
    const entry = link();
    expect(pay(entry, phones.succeedsIn5s).kind).toBe('pending');
    expect(pay(entry, phones.fails).kind).toBe('pending');
    expect(entry.attempts).toHaveLength(1);
    clock.advanceTo(START + 5 * SECOND - 1);
    expect(entry.status).toBe('PENDING');
    clock.advanceTo(START + 5 * SECOND);
    expect(entry.history.at(-1)).toEqual({ status: 'SUCCESSFUL', at: START + 5 * SECOND });
  });

  it('is FAILED when the payer withdraws an attempt that is PENDING, and that attempt never succeeds', () => {
    const { clock, ledger, link, pay } = open();
    const entry = link();
    pay(entry, phones.succeedsIn5s);
    ledger.withdraw(entry.transId, 1);
    expect(entry).toMatchObject({ status: 'FAILED', reason: 'The payer withdrew the request' });
    clock.advanceTo(START + DAY - 1);
    expect(statuses(entry)).toEqual(['CREATED', 'PENDING', 'FAILED']);
    expect(entry.attempts).toMatchObject([{ action: 'pay', withdrawn: true }]);
  });

  it('is left as it is by a payer who withdraws another attempt, or one that has ended', () => {
    const { clock, ledger, link, pay } = open();
    const entry = link();
    pay(entry, phones.succeedsIn5s);
    ledger.withdraw(entry.transId, 2);
    ledger.withdraw('unknown', 1);
    expect(entry.status).toBe('PENDING');
    clock.advanceTo(START + 5 * SECOND);
    ledger.withdraw(entry.transId, 1);
    expect(statuses(entry)).toEqual(['CREATED', 'PENDING', 'SUCCESSFUL']);
    expect(entry.attempts[0]).not.toHaveProperty('withdrawn');
  });

  it('keeps the last three digits of the number that was asked, and no more of it', () => {
    const { link, pay } = open();
    const entry = link();
    pay(entry, phones.succeeds);
    expect(entry.attempts[0]?.phoneEnding).toBe(phones.succeeds.slice(-3));
    expect(JSON.stringify(entry)).not.toContain(phones.succeeds);
  });

  it('is paid in the last ms of its 24 hours, and not in the next one', () => {
    const { clock, link, pay } = open();
    const [early, late] = [link(), link()];
    clock.advanceTo(START + DAY - 1);
    expect(pay(early, phones.succeeds).kind).toBe('paid');
    clock.advanceTo(START + DAY);
    expect(pay(late, phones.succeeds).kind).toBe('tooLate');
    expect([early.status, late.status]).toEqual(['SUCCESSFUL', 'EXPIRED']);
  });

  it('expires after 24 hours by itself, after FAILED and while an attempt is PENDING too', () => {
    const { clock, link, pay } = open();
    const entries = [link(), link(), link()] as const;
    pay(entries[1], phones.fails);
    pay(entries[2], phones.stays);
    clock.advanceTo(START + DAY);
    expect(entries.map(({ history }) => history.at(-1))).toEqual(Array(3).fill({ status: 'EXPIRED', at: START + DAY }));
  });

  it('takes an attempt that would settle at the very end as expired', () => {
    const { clock, link, pay } = open();
    const entry = link();
    clock.advanceTo(START + DAY - 5 * SECOND);
    pay(entry, phones.succeedsIn5s);
    clock.advanceTo(START + 2 * DAY);
    expect(statuses(entry)).toEqual(['CREATED', 'PENDING', 'EXPIRED']);
  });

  it('changes no more once it is paid', () => {
    const { clock, ledger, link, pay } = open();
    const entry = link();
    pay(entry, phones.succeeds);
    expect(pay(entry, phones.fails).kind).toBe('alreadyPaid');
    expect(ledger.attempt(entry.transId, { action: 'decline' }).kind).toBe('alreadyPaid');
    expect(ledger.expire(entry.transId).kind).toBe('alreadyPaid');
    expect(ledger.settle(entry, 'FAILED')).toBe(false);
    clock.advanceTo(START + 2 * DAY);
    expect(entry.status).toBe('SUCCESSFUL');
  });

  it('changes no more once it is expired', () => {
    const { ledger, link, pay } = open();
    const entry = link();
    expect(ledger.expire(entry.transId).kind).toBe('expired');
    expect(ledger.expire(entry.transId).kind).toBe('alreadyExpired');
    expect(pay(entry, phones.succeeds).kind).toBe('tooLate');
    expect(statuses(entry)).toEqual(['CREATED', 'EXPIRED']);
  });

  it('forgets the outcome of an attempt that is PENDING when it is expired', () => {
    const { clock, ledger, link, pay } = open();
    const entry = link();
    pay(entry, phones.succeedsIn5s);
    ledger.expire(entry.transId);
    clock.advanceTo(START + MINUTE);
    expect(entry.status).toBe('EXPIRED');
  });

  it.each([
    ['a number that is none', { phone: '12' }, 'phone'],
    ['no number', {}, 'phone'],
    ['an e-mail that is none', { phone: phones.succeeds, email: 'nobody' }, 'email'],
  ] as const)('changes nothing for %s', (_what, payer, field) => {
    const { ledger, link } = open();
    const entry = link();
    expect(ledger.attempt(entry.transId, { action: 'pay', ...payer })).toMatchObject({
      kind: 'invalid',
      field,
    });
    expect(statuses(entry)).toEqual(['CREATED']);
  });

  it('keeps the medium and the e-mail of the payer, and no number', () => {
    const { ledger, link } = open();
    const entry = link();
    ledger.attempt(entry.transId, { action: 'pay', phone: '+237 699 00 00 00', email: 'payer@example.com' });
    expect(entry).toMatchObject({ medium: 'orange money', email: 'payer@example.com' });
    expect(JSON.stringify(entry)).not.toContain('699000000');
  });

  it('is found by its token, which is not its transId', () => {
    const { ledger, link } = open();
    const entry = link();
    expect(ledger.findByLinkToken(entry.linkToken ?? '')).toBe(entry);
    expect(ledger.findByLinkToken(entry.transId)).toBeUndefined();
  });
});

describe('a direct payment or payout in the ledger', () => {
  it('is PENDING at once, and settles after the settle delay', () => {
    const { clock, direct } = open({ settleDelayMs: 3000 });
    const entry = direct(succeeds);
    expect(statuses(entry)).toEqual(['PENDING']);
    clock.advanceTo(START + 3000);
    expect(entry.history).toEqual([
      { status: 'PENDING', at: START },
      { status: 'SUCCESSFUL', at: START + 3000 },
    ]);
  });

  it('never expires', () => {
    const { clock, ledger, direct } = open();
    const entry = direct(stays);
    clock.advanceTo(START + 400 * DAY);
    expect(entry.status).toBe('PENDING');
    expect(ledger.expire(entry.transId).kind).toBe('notALink');
  });

  it('can be settled by hand while it is PENDING, once', () => {
    const { ledger, direct } = open();
    const entry = direct(stays);
    expect(ledger.settle(entry, 'FAILED', 'No funds')).toBe(true);
    expect(ledger.settle(entry, 'SUCCESSFUL')).toBe(false);
    expect(entry).toMatchObject({ status: 'FAILED', reason: 'No funds' });
  });

  it('can not be paid at the checkout', () => {
    const { direct, pay } = open();
    expect(pay(direct(stays), phones.succeeds).kind).toBe('unknown');
  });
});

describe('the ledger', () => {
  it('makes what fell due come true at its own time, even when its timers run late', () => {
    const late = { now: START, waiting: 0 };
    const clock = { now: () => late.now, at: () => () => {}, realMs: (ms: number) => ms };
    const ledger = new Ledger({ clock, random: keyedRandom('late') });
    const draft = { amount: 1000, serviceName: 'Shop', service: 'collection', method: 'link' } as const;
    const [paid, expired] = [ledger.openLink(draft), ledger.openLink(draft)];
    ledger.attempt(paid.transId, { action: 'pay', phone: '677000623' });
    late.now = START + 30 * HOUR;
    expect(ledger.find(paid.transId)?.history.at(-1)).toEqual({
      status: 'SUCCESSFUL',
      at: START + 23 * HOUR,
    });
    expect(ledger.find(expired.transId)?.history.at(-1)).toEqual({ status: 'EXPIRED', at: START + DAY });
  });

  it('lets those that ended first leave when it is full', () => {
    const { ledger, link } = open({ capacity: 2 });
    const [first, second] = [link('user'), link('user')];
    ledger.expire(second.transId);
    const third = link('user');
    expect(ledger.all()).toEqual([first, third]);
    expect(ledger.ofUser('user')).toEqual([first, third]);
    expect(ledger.findByLinkToken(second.linkToken ?? '')).toBeUndefined();
    expect(ledger.created).toBe(3);
  });

  it('never lets a live one leave, a FAILED link included', () => {
    const { ledger, link, pay } = open({ capacity: 1 });
    const entry = link();
    pay(entry, phones.fails);
    expect(() => link()).toThrow(LedgerFullError);
    expect(ledger.all()).toEqual([entry]);
  });

  it('tells of each status change in order', () => {
    const { ledger, link, pay } = open();
    const notified: string[] = [];
    ledger.onChange((_entry, { status }) => notified.push(status));
    pay(link(), phones.fails);
    expect(notified).toEqual(['PENDING', 'FAILED']);
  });

  it('leaves no timer behind for what has ended, nor when it is closed', () => {
    const { clock, ledger, link, pay } = open();
    pay(link(), phones.succeeds);
    expect(clock.nextDue()).toBeUndefined();
    link();
    ledger.close();
    expect(clock.nextDue()).toBeUndefined();
  });
});
