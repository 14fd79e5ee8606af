import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryOutcome } from '../../src/payments/words/delivery.js';
import { type ApiUnderTest, KEYS, terms } from '../support/api-under-test.js';
import { type DeskUnderTest, startDesk, type Visitor } from '../support/desk-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, link, recordingMerchant, useStack } from '../support/payment-stack.js';

let delivery: DeliveryOutcome = { kind: 'delivered' };
const { merchant } = recordingMerchant(() => delivery);
const stack = useStack({ merchant });
let desk: DeskUnderTest;
/** An API of which payouts go to REVIEW soon, and can be decided at once. */
let soon: ApiUnderTest;
/** The same, but for the time before which a resend needs force. */
let cautious: ApiUnderTest;
let operator: Visitor;

beforeAll(async () => {
  const grace = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  soon = await stack.startMore({ terms: grace, answerWithinMs: HASTY_MS });
  cautious = await stack.startMore({
    terms: { ...grace, resolveAfterMs: 3_600_000 },
    answerWithinMs: HASTY_MS,
  });
  // On a busy machine, too, a decision has its answer before the API would say 202.
  const patient = await stack.startMore({ answerWithinMs: 20_000 });
  desk = await startDesk(patient.url);
  operator = desk.visitor();
  await operator.signIn(KEYS.operator);
});
afterAll(() => desk?.stop());

const why = 'ticket 4711: the support has looked';

/** A payout of 700 XAF of which nobody knows whether the provider took it. */
async function reviewed(api: ApiUnderTest = soon): Promise<string> {
  const id = await stack.doubtfulPayout(api);
  await eventually(
    () => stack.read(id),
    (answer) => answer.body.status === 'REVIEW',
  );
  return id;
}

/** A transaction that somebody has made for the payment. */
async function transactionFor(id: string, amount = 700): Promise<string> {
  const order = { amount, phone: '677000000', externalId: id, userId: id };
  const outcome = await stack.providers.payout.payout(order);
  if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
  return outcome.transId;
}

/** Types a decision on the review that the payment is under now. */
async function draft(id: string, action: string, fields: Readonly<Record<string, string>> = {}) {
  const { review } = (await stack.read(id, '', KEYS.operator)).body;
  await operator.get(`/desk/payments/${id}/decide/${action}?review=${review.number}`);
  return await operator.submit(`/decide/${action}`, { why, ...fields });
}

/** Confirms what the page shows. */
const confirm = (path: string, fields = {}) => operator.submit(path.slice(path.indexOf('/confirm/')), fields);

describe('the queue of an operator', () => {
  it('has each payment in REVIEW with its reason, whose it is and how long it waits, the oldest first', async () => {
    const [first, second] = [await reviewed(), await reviewed()];
    const { text } = await eventually(
      () => operator.get('/desk'),
      (page) => page.text.includes(first) && page.text.includes(second),
    );
    expect(text.indexOf(first)).toBeLessThan(text.indexOf(second));
    expect(text).toContain('Payout of 700\u00a0XAF');
    expect(text).toContain('Merchant <strong>shop</strong>');
    expect(text).toContain('It isn&#39;t known whether the provider accepted the payment');
    expect(text).toMatch(/In REVIEW for <strong>(less than a minute|\d+ min)<\/strong>/);
    expect((await operator.get('/desk?merchant=rival')).text).toContain('Nothing is in REVIEW');
  });
});

describe('the page of a payment', () => {
  it('has what was sent, and what the provider shows at this moment, with how it differs', async () => {
    const id = await reviewed();
    expect((await operator.get(`/desk/payments/${id}`)).text).toContain('<strong>no transaction</strong>');
    const transId = await transactionFor(id, 900);
    const { text } = await eventually(
      () => operator.get(`/desk/payments/${id}`),
      (page) => page.text.includes('the order is of 700\u00a0XAF'),
    );
    expect(text).toContain(transId);
    expect(text).toContain('Sanaga sends the request to the provider.');
    expect(text).toContain(`/decide/match?review=`);
  });

  it('has a button that asks the provider, and says what came of it', async () => {
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    await operator.get(`/desk/payments/${payment.id}`);
    const { text } = await operator.submit('/refresh');
    expect(text).toContain('The provider was asked: the payment is SUCCESSFUL, and final.');
    expect(text).toContain('SUCCESSFUL, final');
  });
});

describe('a decision at the desk', () => {
  it('is confirmed with the amount and the recipient, carried out, and kept under the name of the key', async () => {
    const id = await reviewed();
    const { path, text } = await draft(id, 'fail');
    expect(text).toContain('Fail this payout of 700\u00a0XAF?');
    expect(text).toContain('•••• 000');
    expect((await stack.read(id)).body.status).toBe('REVIEW');
    const done = await confirm(path);
    expect(done.text).toContain('It is recorded as decided by operator.');
    const { body } = await stack.read(id);
    expect(body).toMatchObject({ status: 'FAILED', resolution: { action: 'fail', by: 'operator', why } });
  });

  it('to send again is carried out once, however often the form is sent', async () => {
    const id = await reviewed();
    const { path } = await draft(id, 'resend');
    const { action, hidden } = operator.form(path.slice(path.indexOf('/confirm/')));
    await Promise.all([operator.post(action, hidden), operator.post(action, hidden)]);
    await operator.post(action, hidden);
    await eventually(
      async () => stack.transactionsOf(id),
      (transactions) => transactions.length > 0,
    );
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it('to send again is taken back by the one who made it, as long as it waits', async () => {
    const id = await reviewed();
    const { path } = await draft(id, 'resend');
    stack.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout' });
    await confirm(path);
    const { text } = await eventually(
      () => operator.get(`/desk/payments/${id}`),
      (page) => page.text.includes('credentials'),
    );
    expect(text).toContain('To be sent once more');
    expect(text).toContain(`/desk/payments/${id}/decide/reject?review=1`);
    await operator.get(`/desk/payments/${id}/decide/reject?review=1`);
    const asked = await operator.submit('/decide/reject', { why: 'it is in the portal' });
    expect(asked.text).toMatch(/Withdraw the decision on this payout of 700\sXAF\?/);
    const done = await confirm(asked.path);
    expect(done.text).toContain('The decision that waited is void.');
    expect(done.text).toContain('operator withdrew the decision (Send it once more)');
    expect(done.text).toContain('Decide on review 2');
    expect(done.text).not.toContain('To be sent once more');
    expect(stack.transactionsOf(id)).toHaveLength(0);
  });

  it('on what the operator saw before is refused when there is new evidence, which is shown', async () => {
    const id = await reviewed();
    const { path } = await draft(id, 'resend');
    const transId = await transactionFor(id, 900);
    await stack.hint({ id, transId });
    await eventually(
      () => stack.read(id, '', KEYS.operator),
      ({ body }) => body.review?.number > 1,
    );
    const refused = await confirm(path);
    expect(refused.path).toBe(`/desk/payments/${id}`);
    expect(refused.text).toContain('Refused: nothing was changed');
    expect(refused.text).toMatch(/Decide on review [2-9]/);
    expect(refused.text).toContain(transId);
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it('that another operator was faster with changes nothing', async () => {
    const id = await reviewed();
    const { path } = await draft(id, 'resend');
    await stack.decide(id, { action: 'fail', why });
    const { text } = await confirm(path);
    expect(text).toContain('Refused: nothing was changed');
    expect(stack.transactionsOf(id)).toHaveLength(0);
  });

  it('before its time needs the word that overrules, which is asked for only then', async () => {
    const id = await reviewed(cautious);
    expect((await operator.get(`/desk/payments/${id}`)).text).toContain('Too early until');
    const { path, text } = await draft(id, 'fail');
    expect(text).not.toContain('Type the word');
    const refused = await confirm(path);
    expect(refused.path).toBe(path);
    expect(refused.text).toContain('The provider may list a transaction late');
    expect(refused.text).toContain('Type the word force');
    expect((await stack.read(id)).body.status).toBe('REVIEW');
    expect((await confirm(path, { force: 'force' })).text).toContain('Done');
    expect((await stack.read(id)).body.resolution).toMatchObject({ action: 'fail', forced: true });
  });
});

describe('a match with a transaction of another amount', () => {
  it('is confirmed with the amount that moves, and the payment is called by it afterwards', async () => {
    const id = await reviewed();
    const transId = await transactionFor(id, 900);
    // What the provider shows of it begins another review.
    await stack.decide(id, { action: 'match', transId, why });
    const { path, text } = await draft(id, 'match', { transId });
    expect(text).not.toContain('Match it: 700');
    const refused = await confirm(path);
    expect(refused.text).toContain(`Overrule: match ${transId} of 900\u00a0XAF to this payout of 700\u00a0XAF?`);
    expect(refused.text).toContain('Overrule, and match it: 900\u00a0XAF');
    await confirm(path, { force: 'force' });
    const { text: page } = await eventually(
      () => operator.get(`/desk/payments/${id}`),
      (answer) => answer.text.includes('SUCCESSFUL, final'),
    );
    expect(page).toContain('Payout of 900\u00a0XAF (ordered: 700\u00a0XAF)');
  });
});

describe('the deliveries that are due', () => {
  it('are listed with why they failed, and can be sent again', async () => {
    delivery = { kind: 'failed', reason: 'answered 500' };
    const payment = await stack.begun('/v1/collections', link);
    await stack.visit(payment, 'pay');
    await stack.hint(payment);
    const { text } = await eventually(
      () => operator.get('/desk/deliveries'),
      (page) => page.text.includes(payment.id) && page.text.includes('answered 500'),
    );
    expect(text).toContain('payment.succeeded');
    delivery = { kind: 'delivered' };
    expect((await operator.submit(`${payment.id}/notifications/1`)).text).toContain('is being sent again');
    await eventually(
      () => operator.get('/desk/deliveries'),
      (page) => !page.text.includes(`${payment.id}/notifications`),
    );
  });
});

describe('a search', () => {
  it('finds a payment by its id, externalId, userId or transaction', async () => {
    const order = { ...link, externalId: 'order-desk-1', userId: 'ann-desk' };
    const { id, transId } = await stack.begun('/v1/collections', order);
    expect((await operator.get(`/desk/search?q=${id}`)).path).toBe(`/desk/payments/${id}`);
    for (const [wanted, by] of [
      ['order-desk-1', 'By externalId<'],
      ['order-de', 'By the beginning of its externalId<'],
      ['ann-desk', 'By userId<'],
      [transId, 'By transaction<'],
    ]) {
      const { text } = await eventually(
        () => operator.get(`/desk/search?q=${wanted}`),
        (page) => page.text.includes('1 payment found'),
      );
      expect(text).toContain(`/desk/payments/${id}`);
      expect(text).toContain(by);
    }
    expect((await operator.get('/desk/search?q=nobody-has-this')).text).toContain('Nothing was found');
  });

  it('finds a notification that matches no payment', async () => {
    // As the provider does, which repeats what wasn't taken.
    await eventually(
      () => stack.notify({ transId: 'Elsewhere1', status: 'SUCCESSFUL', externalId: 'another-system' }),
      ({ status }) => status === 200,
    );
    for (const path of ['/desk/unmatched', '/desk/search?q=Elsewhere1', '/desk/search?q=another-system']) {
      const { text } = await eventually(
        () => operator.get(path),
        (page) => page.text.includes('Elsewhere1</code>'),
      );
      expect(text).toContain('another-system');
    }
  });
});
