import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { Sanaga } from '../../client/index.js';
import { ringer } from '../../src/engine/ring.js';
import { dayOf, startOf } from '../../src/payments/words/time.js';
import { createStatementSteps } from '../../src/statements/steps.js';
import { type ApiUnderTest, merchantsWith, terms } from '../support/api-under-test.js';
import { type DeskUnderTest, startDesk } from '../support/desk-under-test.js';
import { eventually } from '../support/eventually.js';
import { recordingMerchant, useStack } from '../support/payment-stack.js';
import { launchBrowser } from './browser.js';
import { arrive, visit } from './visit.js';

/** A company with a clerk, an accountant, an owner, and a till whose key is stolen. */
const PEOPLE = [
  {
    name: 'company',
    person: 'clerk',
    secret: 'secret-of-the-clerk',
    scopes: ['collections', 'payouts', 'refunds', 'read'],
  },
  { name: 'company', person: 'till', secret: 'secret-of-the-till', scopes: ['payouts'] },
  { name: 'company', person: 'accountant', secret: 'secret-of-the-accountant', scopes: ['approve'] },
  { name: 'company', person: 'owner', secret: 'secret-of-the-owner', scopes: ['approve', 'read'] },
] as const;

/** The time until Friday, in ms: real time, which Temporal's timers keep, so that it is long enough to approve by. */
const UNTIL_FRIDAY_MS = 90_000;

const recorded = recordingMerchant();
let browser: Browser;
let desk: DeskUnderTest;
let api: ApiUnderTest;

// Before the stack's own: what runs on it is stopped first.
afterAll(async () => {
  await browser?.close();
  await desk?.stop();
});
const stack = useStack({ merchant: recorded.merchant });
beforeAll(async () => {
  const merchants = merchantsWith(PEOPLE, { approveAbove: 100_000 });
  api = await stack.startMore({ merchants, terms: { ...terms, providerTimeoutMs: 4_000 } });
  desk = await startDesk(api.url);
  browser = await launchBrowser();
});

/** Returns the part of the page that is about one payout. */
const about = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title });

/** The provider tells Sanaga of all its transactions of a payment. */
async function notifyOf(id: string): Promise<void> {
  const [transaction] = await eventually(
    async () => stack.transactionsOf(id),
    ([first]) => first !== undefined && first.status !== 'PENDING' && first.status !== 'CREATED',
  );
  await stack.hint({ id, transId: transaction?.transId ?? '' }, transaction?.status);
}

const told = (id: string) => recorded.notified.filter(({ payment }) => payment.id === id).map(({ type }) => type);

/** Makes the statement of a day that isn't over, of which nothing more is to come. */
async function makeStatement(day: string): Promise<void> {
  const logger = pino({ level: 'silent' });
  const { book, providers } = stack;
  const ring = ringer(api.client, 'payments', book);
  const steps = createStatementSteps({ book, providers, ring, logger, pauseMs: 0 });
  const run = { runId: randomUUID(), day };
  const activity = new MockActivityEnvironment();
  await activity.run(() => steps.readPayments(run));
  for (const service of ['collection', 'payout'] as const) await activity.run(() => steps.searchDay(run, service));
  for (const step of ['lookUpPayments', 'comparePayments', 'followUp', 'publish'] as const)
    await activity.run(() => steps[step](run));
}

describe('a day at a small company', () => {
  it('pays wages and a refund that were ordered, approved and due, and nothing else', async () => {
    const clerk = new Sanaga({ apiKey: 'secret-of-the-clerk', baseUrl: api.url });
    const thief = new Sanaga({ apiKey: 'secret-of-the-till', baseUrl: api.url });

    // A customer pays, and returns a part of what was bought.
    const sale = await clerk.collections.create({ method: 'link', amount: 25_000, refundTo: '677000001' });
    await stack.visit({ link: sale.link ?? '' }, 'pay');
    await notifyOf(sale.id);
    await clerk.payments.waitForOutcome(sale.id);
    const refund = await clerk.collections.refund(sale.id, { amount: 10_000, reason: 'one of two returned' });
    expect(refund).toMatchObject({ kind: 'payout', refundOf: sale.id, amount: 10_000 });
    await expect(clerk.collections.refund(sale.id, { amount: 16_000, reason: 'returned again' })).rejects.toMatchObject(
      {
        code: 'more_than_refundable',
      },
    );

    // The clerk orders wages for Friday; two of them are above the limit.
    const friday = Date.now() + UNTIL_FRIDAY_MS;
    const wages = (amount: number, name: string, phone: string) =>
      clerk.payouts.create({ amount, phone, name, message: 'Wages', sendAt: new Date(friday).toISOString() });
    const small = await wages(60_000, 'Paul', '677000002');
    const large = await wages(150_000, 'Jane', '677000003');
    const wrong = await wages(200_000, 'Jane again', '677000003');
    const twice = await wages(60_500, 'Paul again', '677000002');
    expect([small.held?.for, large.held?.for]).toEqual([['date'], ['approval', 'date']]);

    // Somebody who has stolen the till's key wants two millions at once.
    const stolen = await thief.payouts.create({ amount: 2_000_000, phone: '677000666' });
    expect(stolen.held?.for).toEqual(['approval']);
    expect(stack.transactionsOf(stolen.id)).toEqual([]);
    await expect(thief.payouts.approve(stolen.id, { digest: stolen.held?.digest ?? '' })).rejects.toMatchObject({
      code: 'forbidden',
    });

    // The accountant, at the desk, sees the payouts that wait, and nothing else.
    const { page, complaints } = await visit(browser, `${desk.url}/desk`);
    await page.getByLabel('Your API key').fill('secret-of-the-accountant');
    await page.getByLabel('Your API key').press('Enter');
    await arrive(page, 'Payouts to approve');
    await eventually(
      async () => {
        await page.reload();
        return await page.getByRole('button', { name: 'Approve' }).count();
      },
      (count) => count === 3,
    );
    const sections = page.getByRole('navigation', { name: 'Desk' });
    expect(await sections.getByRole('link').allTextContents()).toEqual(['Approvals']);
    const found = about(page, '2,000,000 XAF');
    expect(await found.textContent()).toContain('till');

    await about(page, '150,000 XAF').getByLabel('Repeat the amount').fill('150000');
    await about(page, '150,000 XAF').getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('status').getByText('approved').waitFor();
    await about(page, '200,000 XAF').getByText('Reject it').click();
    await about(page, '200,000 XAF').getByLabel('Why').fill('Jane is on the list twice');
    await about(page, '200,000 XAF').getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('status').getByText('rejected').waitFor();

    // Among what leaves on Friday without more approvals is one that is on the list twice, too.
    await page.getByRole('link', { name: 'With a date' }).click();
    await arrive(page, 'Payouts with a date');
    await eventually(
      async () => {
        await page.reload();
        return await about(page, '150,000 XAF').textContent();
      },
      (text) => text?.includes('by accountant') === true,
    );
    expect(await about(page, '60,000 XAF').textContent()).toContain('it needs no approval');
    await about(page, '60,500 XAF').getByText('Reject it').click();
    await about(page, '60,500 XAF').getByLabel('Why').fill('Paul is on the list twice');
    await about(page, '60,500 XAF').getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('status').getByText('rejected').waitFor();
    await arrive(page, 'Payouts with a date');
    expect(complaints).toEqual([]);
    expect(Date.now()).toBeLessThan(friday);
    for (const { id } of [small, large, wrong, twice, stolen]) expect(stack.transactionsOf(id)).toEqual([]);

    // Friday comes.
    for (const { id } of [small, large, refund]) await notifyOf(id);
    for (const { id } of [small, large, refund]) {
      expect(await clerk.payments.waitForOutcome(id)).toMatchObject({ status: 'SUCCESSFUL' });
    }
    for (const { id } of [small, large]) {
      expect(stack.transactionsOf(id)).toHaveLength(1);
      expect(stack.transactionsOf(id)[0]?.createdAt).toBeGreaterThanOrEqual(friday);
    }
    for (const { id } of [wrong, twice]) {
      expect(await clerk.payments.retrieve(id)).toMatchObject({ status: 'FAILED', failureCode: 'not_approved' });
    }
    expect(await clerk.payments.retrieve(sale.id)).toMatchObject({ refunded: 10_000, refundable: 15_000 });
    for (const { id } of [wrong, twice, stolen]) expect(stack.transactionsOf(id)).toEqual([]);
    await eventually(
      async () => [large, wrong, stolen, refund].map(({ id }) => told(id)),
      (types) => types.flat().length >= 6,
    );
    expect(told(large.id)).toEqual(['payment.held', 'payment.succeeded']);
    expect(told(wrong.id)).toEqual(['payment.held', 'payment.failed']);
    expect(told(stolen.id)).toEqual(['payment.held']);
    expect(told(refund.id)).toEqual(['payment.refunded']);

    // The owner has the thief's payout rejected before its time runs out, and reads the statement the next morning.
    const owner = new Sanaga({ apiKey: 'secret-of-the-owner', baseUrl: api.url });
    expect(await owner.payouts.reject(stolen.id, { why: 'the key was stolen' })).toMatchObject({ status: 'FAILED' });
    const today = dayOf(Date.now());
    const nextMorning = startOf(today) + 30 * 60 * 60_000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(nextMorning);
    const statement = await makeStatement(today)
      .then(() => owner.statements.retrieve(today))
      .finally(() => clock.mockRestore());
    expect(statement.differences).toEqual([]);
    const lines = new Map(statement.payments.map((line) => [line.id, line]));
    expect(lines.get(refund.id)).toMatchObject({ status: 'SUCCESSFUL', amount: 10_000, refundOf: sale.id });
    for (const { id } of [sale, small, large])
      expect(lines.get(id)).toMatchObject({ status: 'SUCCESSFUL', compared: true });
    for (const { id } of [wrong, twice, stolen]) expect(lines.get(id)).toMatchObject({ status: 'FAILED' });
  });
});
