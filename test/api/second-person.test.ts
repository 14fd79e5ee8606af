import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiUnderTest, merchantsWith, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { HASTY_MS, useStack } from '../support/payment-stack.js';

const stack = useStack();
const SECRETS = { shop: 'secret-of-shop', ann: 'secret-of-ann', bob: 'secret-of-bob' } as const;

/** The merchants of an API where decisions on payouts above a limit take two people. */
function merchants(secondPersonAbove: number | undefined) {
  const keys = [
    { name: 'shop', secret: SECRETS.shop, scopes: ['collections', 'payouts', 'read'] },
    { name: 'ann', secret: SECRETS.ann, scopes: ['review'] },
    { name: 'ann', secret: 'another-secret-of-ann', scopes: ['review'] },
    { name: 'bob', secret: SECRETS.bob, scopes: ['review'] },
  ] as const;
  return merchantsWith(keys, { secondPersonAbove });
}

/** It answers an order before the provider has. */
let hasty: ApiUnderTest;
/** On a busy machine, too, a decision has its answer before this one would say 202. */
let api: ApiUnderTest;
beforeAll(async () => {
  const soon = { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 };
  hasty = await stack.startMore({ terms: soon, merchants: merchants(699), answerWithinMs: HASTY_MS });
  api = await stack.startMore({ merchants: merchants(undefined), answerWithinMs: 20_000 });
});

const why = 'ticket 4711';
const read = (id: string, key: string, rest = '') => api.ask('GET', `/v1/payments/${id}${rest}`, { key });
/** Decides on the review as it is now, unless the decision says on which. */
async function decide(id: string, key: string, decision: object) {
  const { review } = (await read(id, SECRETS.bob)).body;
  const body = { review: review.number, why, ...decision };
  return await api.ask('POST', `/v1/payments/${id}/resolve`, { key, body });
}

/** A payout of 700 XAF of which nobody knows whether the provider took it. */
async function reviewed(): Promise<string> {
  const id = await stack.doubtfulPayout(hasty, SECRETS.shop);
  await eventually(
    () => read(id, SECRETS.shop),
    (answer) => answer.body.status === 'REVIEW',
  );
  return id;
}

describe('a decision on a payout above the limit', () => {
  it('is carried out when a second person makes the same, and by nobody alone', async () => {
    const id = await reviewed();
    const first = await decide(id, SECRETS.ann, { action: 'fail' });
    expect(first.status).toBe(202);
    expect(first.body).toMatchObject({
      status: 'REVIEW',
      review: { number: 2, secondPerson: true, proposed: { action: 'fail', by: 'ann', why } },
    });

    // Not with another key of the same name, either.
    for (const key of [SECRETS.ann, 'another-secret-of-ann']) {
      const again = await decide(id, key, { action: 'fail' });
      expect([again.status, again.body.code]).toEqual([409, 'resolution_refused']);
      expect(again.body.detail).toContain('you (ann) have decided this already, and it waits for a second person');
      expect(again.body.payment.review.proposed).toMatchObject({ by: 'ann' });
    }

    const second = await decide(id, SECRETS.bob, { action: 'fail', why: 'I see none, either' });
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({
      status: 'FAILED',
      reason: 'decided by ann and bob: no money has moved',
      resolution: { action: 'fail', by: 'ann', why, approval: { by: 'bob', why: 'I see none, either' } },
    });
    expect(stack.transactionsOf(id)).toEqual([]);
  });

  it.each([
    ['renamed', 'zoe', SECRETS.ann],
    ['respelt', 'ANN', 'a-new-secret-of-ann'],
    ['respelt with an accent', 'ánn', 'a-new-secret-of-ann'],
    ['respelt in full width', 'ａｎｎ', 'a-new-secret-of-ann'],
    ['respelt with spaces', ' ann ', 'a-new-secret-of-ann'],
    ['respelt with what has no width', 'an\u200bn', 'a-new-secret-of-ann'],
    ['given another name for her second key', 'zoe', 'another-secret-of-ann'],
  ])('is not carried out by who is %s in the file meanwhile', async (_, name, secret) => {
    const id = await reviewed();
    expect((await decide(id, SECRETS.ann, { action: 'resend' })).status).toBe(202);
    try {
      const bob = { name: 'bob', secret: SECRETS.bob, scopes: ['review'] } as const;
      api.replaceMerchants(merchantsWith([{ name: 'ops', person: name, secret, scopes: ['review'] }, bob]));
      const { number: review } = (await read(id, SECRETS.bob)).body.review;
      const again = await decide(id, secret, { action: 'resend', review });
      expect([again.status, again.body.code]).toEqual([409, 'resolution_refused']);
      expect(again.body.detail).toContain('you (as ann) have decided this already');
      expect(again.text).not.toContain('keys');
      expect(stack.transactionsOf(id)).toEqual([]);
      expect((await decide(id, SECRETS.bob, { action: 'fail', review })).body.review.proposed.by).toBe('bob');
      const second = { action: 'fail', review: review + 1 };
      expect((await decide(id, secret, second)).status).toBe(200);
    } finally {
      api.replaceMerchants(merchants(undefined));
    }
  });

  it('is not carried out by somebody who has decided the same without having seen it', async () => {
    const id = await reviewed();
    const resend = { action: 'resend', review: 1 };
    const answers = await Promise.all([SECRETS.ann, SECRETS.bob].map((key) => decide(id, key, resend)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(answers.map(({ body }) => body.detail).join()).toContain('waits for a second person');
    expect((await read(id, SECRETS.ann)).body.review.number).toBe(2);
    expect(stack.transactionsOf(id)).toEqual([]);
  });

  it('is shown to operators, and not to the merchant', async () => {
    const id = await reviewed();
    await decide(id, SECRETS.ann, { action: 'fail' });
    expect((await read(id, SECRETS.bob)).body.review.proposed.by).toBe('ann');
    expect((await read(id, SECRETS.shop)).body.review).toEqual({
      number: 2,
      since: expect.any(String),
      decideFrom: expect.any(String),
      secondPerson: true,
    });
    const typesOf = async (key: string) =>
      (await read(id, key, '/events')).body.data.map(({ type }: { type: string }) => type);
    expect(await typesOf(SECRETS.bob)).toContain('decision_proposed');
    expect(await typesOf(SECRETS.shop)).not.toContain('decision_proposed');
  });

  it('can be rejected by the second person, with a reason', async () => {
    const id = await reviewed();
    const none = await decide(id, SECRETS.bob, { action: 'reject' });
    expect([none.status, none.body.code]).toEqual([409, 'resolution_refused']);
    expect(none.body.detail).toContain('no decision waits');
    await decide(id, SECRETS.ann, { action: 'resend' });
    const { status, body } = await decide(id, SECRETS.bob, { action: 'reject', why: 'the portal shows it' });
    expect(status).toBe(200);
    expect(body.review).toMatchObject({
      rejected: { action: 'resend', proposedBy: 'ann', by: 'bob', why: 'the portal shows it' },
    });
    expect(body.review).not.toHaveProperty('proposed');
    expect((await decide(id, SECRETS.bob, { action: 'resend' })).status).toBe(202);
    const { data } = (await read(id, SECRETS.ann, '/events')).body;
    expect(data.map(({ summary }: { summary: string }) => summary)).toEqual(
      expect.arrayContaining([
        'ann decided to send it once more (review 1), which waits for a second person.',
        'bob decided to send it once more (review 3), which waits for a second person.',
        'bob rejected the decision of ann (resend, review 1) before it was carried out.',
      ]),
    );
  });

  it('is another one for another action: it waits in the place of the first', async () => {
    const id = await reviewed();
    await decide(id, SECRETS.ann, { action: 'fail' });
    const other = await decide(id, SECRETS.bob, { action: 'resend' });
    expect([other.status, other.body.review.proposed.by]).toEqual([202, 'bob']);
    expect(stack.transactionsOf(id)).toEqual([]);
    expect((await decide(id, SECRETS.ann, { action: 'resend' })).status).toBe(200);
    await eventually(
      async () => stack.transactionsOf(id),
      (transactions) => transactions.length === 1,
    );
  });

  it('goes by the limit that the payout was created with', async () => {
    const id = await reviewed();
    hasty.replaceMerchants(merchants(undefined));
    const [first, later] = [await decide(id, SECRETS.ann, { action: 'fail' }), await reviewed()];
    expect(first.status).toBe(202);
    expect((await decide(later, SECRETS.ann, { action: 'fail' })).status).toBe(200);
    hasty.replaceMerchants(merchants(699));
  });
});
