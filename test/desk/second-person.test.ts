import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, merchantsWith, terms } from '../support/api-under-test.js';
import { type DeskUnderTest, type Loaded, startDesk, type Visitor } from '../support/desk-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, useStack } from '../support/payment-stack.js';

const stack = useStack();
const keys = [
  { name: 'shop', secret: 'secret-of-shop', scopes: ['payouts', 'read'] },
  { name: 'ann', secret: 'secret-of-ann', scopes: ['review'] },
  { name: 'bob', secret: 'secret-of-bob', scopes: ['review'] },
] as const;

/** Keys of a shop whose payouts another person has to approve, and of another merchant's approver. */
const approvers = [
  { name: 'shop', person: 'clerk', secret: 'secret-of-clerk', scopes: ['payouts', 'approve', 'read'] },
  { name: 'shop', person: 'boss', secret: 'secret-of-boss', scopes: ['approve'] },
  { name: 'shop', person: 'deputy', secret: 'secret-of-deputy', scopes: ['approve'] },
  { name: 'rival', secret: 'secret-of-rival', scopes: ['payouts', 'approve'] },
] as const;

/** On a busy machine, too, a decision has its answer before this one would say 202. */
let api: ApiUnderTest;
/** An API of which payouts go to REVIEW soon, and can be decided at once. */
let soon: ApiUnderTest;
/** The same, but for the time before which a decision needs force. */
let cautious: ApiUnderTest;
let desk: DeskUnderTest;
let ann: Visitor;
let bob: Visitor;

beforeAll(async () => {
  const grace = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  const common = { merchants: merchantsWith(keys, { secondPersonAbove: 699 }), answerWithinMs: HASTY_MS };
  soon = await stack.startMore({ ...common, terms: grace });
  cautious = await stack.startMore({ ...common, terms: { ...grace, resolveAfterMs: 3_600_000 } });
  api = await stack.startMore({ ...common, answerWithinMs: 20_000 });
  desk = await startDesk(api.url);
  [ann, bob] = [desk.visitor(), desk.visitor()];
  await ann.signIn('secret-of-ann');
  await bob.signIn('secret-of-bob');
});
afterAll(() => desk?.stop());

const read = async (id: string) => (await api.ask('GET', `/v1/payments/${id}`, { key: 'secret-of-ann' })).body;

/** A payout of 700 XAF of which nobody knows whether the provider took it. */
async function reviewed(by: ApiUnderTest = soon): Promise<string> {
  const id = await stack.doubtfulPayout(by, 'secret-of-shop');
  await eventually(
    () => read(id),
    ({ status }) => status === 'REVIEW',
  );
  return id;
}

/** A decision by the API or the command line, on the review as it is now. */
async function decideElsewhere(key: string, id: string, decision: object) {
  const { review } = await read(id);
  const body = { review: review.number, why: 'by the API', ...decision };
  return await api.ask('POST', `/v1/payments/${id}/resolve`, { key, body });
}

/** Types a decision on the review as it is now, with its reason, up to its confirmation. */
async function draft(visitor: Visitor, id: string, action: string, why = 'ticket 4711') {
  const { review } = await read(id);
  await visitor.get(`/desk/payments/${id}/decide/${action}?review=${review.number}`);
  return await visitor.submit(`/decide/${action}`, { why });
}

async function decide(visitor: Visitor, id: string, action: string, why?: string) {
  const { path } = await draft(visitor, id, action, why);
  return await confirm(visitor, path);
}

/** Confirms what the page shows. */
const confirm = (visitor: Visitor, path: string, fields = {}) =>
  visitor.submit(path.slice(path.indexOf('/confirm/')), fields);

describe('a large payout at the desk', () => {
  it('waits for a second person, who sees what the first has decided, and decides the same', async () => {
    const id = await reviewed();
    expect((await ann.get(`/desk/payments/${id}`)).text).toContain('<strong>takes two people</strong>');
    const { text } = await draft(ann, id, 'fail');
    expect(text).toContain('your decision is kept, and nothing is done before somebody else has made the same');
    const kept = await decide(ann, id, 'fail');
    expect(kept.text).toContain('Your decision is kept, and waits for a second person');
    expect(kept.text).toContain('Withdraw it');
    expect(kept.text).not.toContain('Decide the same');

    const queue = await eventually(
      () => bob.get('/desk'),
      (page) => page.text.includes(id),
    );
    expect(queue.text).toContain('Waits for a second person: <strong>ann</strong> has decided: Fail the payment');
    const page = await bob.get(`/desk/payments/${id}`);
    expect(page.text).toContain('Why: ticket 4711');
    expect(page.text).toContain(`/desk/payments/${id}/decide/fail?review=2`);
    expect(page.text).toContain('Reject it');
    const confirmation = await draft(bob, id, 'fail', 'none in the portal');
    expect(confirmation.text).toContain('First decided by');
    const done = await confirm(bob, confirmation.path);
    expect(done.text).toContain('It is recorded as decided by ann and bob.');
    expect((await read(id)).resolution).toMatchObject({
      by: 'ann',
      approval: { by: 'bob', why: 'none in the portal' },
    });
  });

  it('tells the same person that a second one is needed', async () => {
    const id = await reviewed();
    await decide(ann, id, 'fail');
    const again = await draft(ann, id, 'fail');
    expect(again.path).toBe(`/desk/payments/${id}`);
    expect(again.text).toContain('Refused: nothing was changed');
    expect(again.text).toContain('You (ann) have decided this already, and it waits for a second person');
  });

  it.each(['resend', 'fail'])('does what its confirmation has shown, and nothing else (%s)', async (action) => {
    const id = await reviewed();
    const { path, text } = await draft(bob, id, action);
    expect(text).toContain('nothing is done before somebody else has made the same one');
    expect((await decideElsewhere('secret-of-ann', id, { action })).status).toBe(202);
    const refused = await confirm(bob, path);
    expect(refused.text).toContain('Refused: nothing was changed');
    expect(refused.text).toContain('Decide the same');
    expect(await read(id)).toMatchObject({ status: 'REVIEW', review: { proposed: { by: 'ann' } } });
    expect(stack.transactionsOf(id)).toEqual([]);
  });

  it.each([
    ['zoe', 'secret-of-ann', 'you (as ann) have decided this already'],
    ['ÁNN', 'a-new-secret-of-ann', undefined],
  ])('is not carried out by the first person, as %s', async (person, secret, refusal) => {
    const id = await reviewed();
    await decide(ann, id, 'resend');
    try {
      const first = { name: 'ops', person, secret, scopes: ['review'] } as const;
      api.replaceMerchants(merchantsWith([first, keys[2]], { secondPersonAbove: 699 }));
      const renamed = desk.visitor();
      await renamed.signIn(secret);
      const { text } = await renamed.get(`/desk/payments/${id}`);
      expect(text.includes('Decide the same')).toBe(refusal !== undefined);
      if (refusal !== undefined) {
        await renamed.get(`/desk/payments/${id}/decide/resend?review=2`);
        const { path } = await renamed.submit('/decide/resend', { why: 'ticket 4711' });
        expect((await confirm(renamed, path)).text.toLowerCase()).toContain(refusal);
      }
      expect(stack.transactionsOf(id)).toEqual([]);
      const { body } = await api.ask('GET', `/v1/payments/${id}`, { key: 'secret-of-bob' });
      expect(body).toMatchObject({ status: 'REVIEW', review: { number: 2, proposed: { by: 'ann' } } });
    } finally {
      api.replaceMerchants(merchantsWith(keys, { secondPersonAbove: 699 }));
    }
  });

  it('is seconded or rejected as it was shown, and not as the first person has changed it since', async () => {
    const id = await reviewed();
    await decideElsewhere('secret-of-ann', id, { action: 'fail' });
    const forms = [];
    for (const action of ['fail', 'reject']) {
      const { path } = await draft(bob, id, action);
      forms.push(bob.form(path.slice(path.indexOf('/confirm/'))));
    }
    await decideElsewhere('secret-of-ann', id, { action: 'fail', force: true });
    for (const { action, hidden } of forms) {
      expect((await bob.post(action, hidden)).text).toContain('Refused: nothing was changed');
    }
    expect((await read(id)).review.proposed).toMatchObject({ by: 'ann', forced: true });
  });

  it.each([
    ['whatever comes up', true],
    ['too early, no answer', ['too_early', 'no_answer']],
  ])('that overrules %s, by the API, is seconded with the word force', async (words, force) => {
    const id = await reviewed(cautious);
    await decideElsewhere('secret-of-ann', id, { action: 'fail', force });
    expect((await bob.get(`/desk/payments/${id}`)).text).toContain(`(forced: ${words})`);
    const { path, text } = await draft(bob, id, 'fail');
    expect(text).toContain('Overrule: fail this payout');
    expect(text).toContain('First decided by');
    expect((await confirm(bob, path)).path).toBe(path);
    expect((await confirm(bob, path, { force: 'force' })).text).toContain('decided by ann and bob');
    expect((await read(id)).resolution).toMatchObject({ forced: true, approval: { by: 'bob' } });
  });

  it('that overrules whatever comes up is rejected at the desk, or replaced by another one', async () => {
    const [first, second] = [await reviewed(), await reviewed()];
    await decideElsewhere('secret-of-ann', first, { action: 'fail', force: true });
    expect((await decide(bob, first, 'reject')).text).toContain('The decision that waited is void.');
    await decideElsewhere('secret-of-ann', second, { action: 'fail', force: true });
    expect((await draft(bob, second, 'resend')).text).toContain('It takes the place of what ann has decided');
    expect((await decide(bob, second, 'resend')).text).toContain('Your decision is kept');
    expect((await read(second)).review.proposed).toMatchObject({ action: 'resend', by: 'bob' });
  });

  it('has a decision rejected by the second person, or withdrawn by the first, and says so', async () => {
    const id = await reviewed();
    await decide(ann, id, 'resend');
    const rejected = await decide(bob, id, 'reject', 'the portal shows it');
    expect(rejected.text).toContain('The decision that waited is void.');
    expect((await ann.get(`/desk/payments/${id}`)).text).toContain(
      'bob rejected the decision of ann (Send it once more)',
    );
    await decide(ann, id, 'fail');
    expect((await draft(ann, id, 'reject')).text).toContain('Withdraw the decision on this payout');
    expect((await decide(ann, id, 'reject')).text).toContain('A decision was withdrawn');
    expect(stack.transactionsOf(id)).toEqual([]);
  });

  it('has the second person overrule, too, what the first has overruled', async () => {
    const id = await reviewed(cautious);
    const overrule = async (visitor: Visitor, shown: Loaded) => {
      expect(shown.text).toContain('Type the word force');
      return await confirm(visitor, shown.path, { force: 'force' });
    };
    expect((await overrule(ann, await decide(ann, id, 'fail'))).text).toContain('Your decision is kept');
    expect((await bob.get(`/desk/payments/${id}`)).text).toContain('Fail the payment (forced: too early)');
    expect((await overrule(bob, await draft(bob, id, 'fail'))).text).toContain('decided by ann and bob');
    expect((await read(id)).resolution).toMatchObject({ forced: true, approval: { by: 'bob' } });
  });
});

describe('a payout that waits for an approval, at the desk', () => {
  const PATH = '/desk/approvals';
  let approving: ApiUnderTest;
  let theirs: DeskUnderTest;
  beforeAll(async () => {
    const merchants = merchantsWith(approvers, { approveAbove: 1_000 });
    approving = await stack.startMore({ merchants, answerWithinMs: 20_000 });
    theirs = await startDesk(approving.url);
  });
  afterAll(() => theirs?.stop());

  const payment = async (id: string) =>
    (await approving.ask('GET', `/v1/payments/${id}`, { key: 'secret-of-boss' })).body;

  async function ordered(more: object = {}): Promise<string> {
    const body = { amount: 45_000, phone: '677000000', name: 'Ngono Marie', ...more };
    const headers = { 'idempotency-key': randomUUID() };
    const { body: made } = await approving.ask('POST', '/v1/payouts', { key: 'secret-of-clerk', body, headers });
    await eventually(
      () => approving.ask('GET', '/v1/payments?held=approval', { key: 'secret-of-boss' }),
      (list) => list.body.data.some(({ id }: { id: string }) => id === made.id),
    );
    return made.id;
  }

  async function visitorOf(key: string): Promise<Visitor> {
    const visitor = theirs.visitor();
    await visitor.signIn(key);
    return visitor;
  }

  it('is approved once, by another person than the one who has ordered it', async () => {
    const id = await ordered();
    const clerk = await visitorOf('secret-of-clerk');
    expect(clerk.page).toContain('You have ordered it: another person has to approve it.');
    expect(clerk.page).not.toContain(`/${id}/approve`);
    const rival = await visitorOf('secret-of-rival');
    expect(rival.page).not.toContain(id);
    const boss = await visitorOf('secret-of-boss');
    const { hidden } = boss.form(`/${id}/approve`);

    // Whoever sends the form all the same is refused by the API.
    const { hidden: ofClerk } = clerk.form('/sign-out');
    const own = await clerk.post(`${PATH}/${id}/approve`, { ...hidden, ...ofClerk, amount: '45000' });
    expect(own.text).toContain('Clerk has ordered the payout: another person has to approve it.');
    const { hidden: ofRival } = rival.form('/sign-out');
    expect((await rival.post(`${PATH}/${id}/approve`, { ...hidden, ...ofRival, amount: '45000' })).status).toBe(404);

    const stale = await boss.post(`${PATH}/${id}/approve`, { ...hidden, digest: '0'.repeat(64), amount: '45000' });
    expect(stale.text).toContain('Read what the payout is by now before you approve it.');
    expect((await payment(id)).held.approvals).toEqual([]);
    await Promise.all([boss, boss].map((one) => one.post(`${PATH}/${id}/approve`, { ...hidden, amount: '45,000' })));
    await eventually(
      async () => stack.transactionsOf(id),
      ({ length }) => length === 1,
    );
    const deputy = await visitorOf('secret-of-deputy');
    const { hidden: ofDeputy } = deputy.form('/sign-out');
    const late = await deputy.post(`${PATH}/${id}/approve`, { ...hidden, ...ofDeputy, amount: '45000' });
    expect(late.text).toContain('The payout was released already');
    expect(stack.transactionsOf(id)).toHaveLength(1);
  });

  it.each([
    ['principal', 'secret-of-clerk', true],
    ['CLÈRK', 'a-new-secret-of-clerk', false],
  ])('is not approved by the clerk under the name of %s, either', async (person, secret, hasForm) => {
    const id = await ordered();
    try {
      const clerk = { name: 'shop', person, secret, scopes: ['payouts', 'approve'] } as const;
      approving.replaceMerchants(merchantsWith([clerk, ...approvers.slice(1)], { approveAbove: 1_000 }));
      const visitor = await visitorOf(secret);
      // Only the API knows that the key is the one that was the clerk's.
      expect(visitor.page.includes(`/${id}/approve`)).toBe(hasForm);
      const { hidden } = (await visitorOf('secret-of-boss')).form(`/${id}/approve`);
      const { hidden: own } = visitor.form('/sign-out');
      const { text } = await visitor.post(`${PATH}/${id}/approve`, { ...hidden, ...own, amount: '45000' });
      expect(text).toContain('another person has to approve it.');
      expect((await payment(id)).held.approvals).toEqual([]);
      expect(stack.transactionsOf(id)).toEqual([]);
    } finally {
      approving.replaceMerchants(merchantsWith(approvers, { approveAbove: 1_000 }));
    }
  });

  it('is sent on its date once it is approved, or rejected by then, and read so everywhere', async () => {
    const id = await ordered({ sendAt: new Date(Date.now() + 3_600_000).toISOString() });
    const boss = await visitorOf('secret-of-boss');
    expect(boss.page).toContain('on its date, <time');
    expect((await boss.submit(`/${id}/approve`, { amount: '45 000' })).text).toContain('It is sent on <time');
    expect((await payment(id)).held).toMatchObject({ for: ['date'], approvals: [{ by: 'boss' }] });
    expect((await boss.get(PATH)).text).not.toContain(id);

    const other = await ordered();
    await boss.get(PATH);
    const { text } = await boss.submit(`/${other}/reject`, { why: 'no such invoice' });
    expect(text).toContain('rejected. Nothing was sent.');
    expect(await payment(other)).toMatchObject({ status: 'FAILED', failureCode: 'not_approved' });
    expect([...stack.transactionsOf(id), ...stack.transactionsOf(other)]).toEqual([]);
  });
});
