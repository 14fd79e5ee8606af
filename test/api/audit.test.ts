import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { listAudited } from '../../src/book/audit.js';
import { sha256Of } from '../../src/settings/api-keys.js';
import { keyIdOf } from '../../src/settings/merchants.js';
import { type ApiUnderTest, merchantsWith, terms } from '../support/api-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, useStack } from '../support/payment-stack.js';

const stack = useStack();

const KEYS = [
  { name: 'shop', person: 'ann', secret: 'secret-of-ann', scopes: ['collections', 'payouts', 'refunds', 'read'] },
  { name: 'shop', person: 'bob', secret: 'secret-of-bob', scopes: ['approve', 'read'] },
  { name: 'ops', person: 'eve', secret: 'secret-of-eve', scopes: ['review'] },
  { name: 'ops', person: 'joe', secret: 'secret-of-joe', scopes: ['review'] },
] as const;
type Person = (typeof KEYS)[number]['person'];

const secretOf = (person: Person) => KEYS.find((key) => key.person === person)?.secret ?? '';

/** The address that each of them calls from, behind a proxy. */
const ADDRESSES: Readonly<Record<Person, string>> = {
  ann: '192.0.2.1',
  bob: '192.0.2.2',
  eve: '2001:db8::3',
  joe: '2001:db8::4',
};

let api: ApiUnderTest;
beforeAll(async () => {
  api = await stack.startMore({
    merchants: merchantsWith(KEYS, { secondPersonAbove: 600 }),
    trustedProxies: 1,
    terms: { ...terms, providerTimeoutMs: 4_000, ambiguousGraceMs: 300 },
  });
});

const call = (person: Person, method: string, path: string, body?: object) =>
  api.ask(method, path, {
    key: secretOf(person),
    ...(body && { body }),
    headers: { 'x-forwarded-for': ADDRESSES[person], 'idempotency-key': randomUUID() },
  });

async function ordered(body: object, path = '/v1/payouts'): Promise<string> {
  const answer = await call('ann', 'POST', path, body);
  if (![201, 202].includes(answer.status)) throw new Error(answer.text);
  return answer.body.id;
}

/** The rows about a payment, in their order: what was done, by whom, with whose key, and from whose address. */
async function written(target: string): Promise<string[]> {
  const rows = await stack.book.query('SELECT did, who, key_id, address FROM audit WHERE target = $1 ORDER BY id', [
    target,
  ]);
  const persons = KEYS.map(({ person }) => person);
  return rows.map(({ did, who, keyId, address }) => {
    const withKey = persons.find((one) => keyIdOf(sha256Of(secretOf(one))) === keyId);
    const from = persons.find((one) => ADDRESSES[one] === address);
    expect([withKey, from]).toEqual([who, who]);
    return `${did} ${who}`;
  });
}

const untilStatus = (id: string, status: string) =>
  eventually(
    () => call('ann', 'GET', `/v1/payments/${id}`),
    ({ body }) => body.status === status,
  );

describe('the audit has a row, with who, the key and the address, for each', () => {
  it('order, question and end of a collection', async () => {
    // The provider takes few questions about one in a minute: each of the two stays below.
    const [asked, ended] = [await ordered(link, '/v1/collections'), await ordered(link, '/v1/collections')];
    await call('ann', 'POST', `/v1/payments/${asked}/refresh`);
    await call('eve', 'POST', `/v1/payments/${asked}/refresh`);
    expect(await written(asked)).toEqual(['order ann', 'refresh ann', 'refresh eve']);
    await call('ann', 'POST', `/v1/collections/${ended}/expire`);
    await untilStatus(ended, 'EXPIRED');
    expect(await written(ended)).toEqual(['order ann', 'expire ann']);
  });

  it('refund, look and check of a collection, and notification that is sent again', async () => {
    const id = await ordered(link, '/v1/collections');
    const { body } = await call('ann', 'GET', `/v1/payments/${id}`);
    await stack.visit(body, 'pay');
    await stack.hint(body);
    await untilStatus(id, 'SUCCESSFUL');
    await call('eve', 'GET', `/v1/payments/${id}/provider`);
    await call('eve', 'POST', `/v1/payments/${id}/refresh`);
    await call('ann', 'POST', `/v1/payments/${id}/notifications/1/resend`);
    expect(await written(id)).toEqual(['order ann', 'look eve', 'recheck eve', 'resendNotification ann']);
    const refund = await ordered(
      { amount: 200, phone: '670000000', reason: 'One of two was returned' },
      `/v1/collections/${id}/refunds`,
    );
    expect(await written(refund)).toEqual(['order ann']);
  });

  it('approval of a payout, rejection and withdrawal', async () => {
    const [approved, rejected, withdrawn] = [
      await ordered({ ...payout, approval: true }),
      await ordered({ ...payout, approval: true }),
      await ordered({ ...payout, approval: true }),
    ];
    const { digest } = (await call('bob', 'GET', `/v1/payments/${approved}`)).body.held;
    await call('bob', 'POST', `/v1/payouts/${approved}/approve`, { digest });
    await call('bob', 'POST', `/v1/payouts/${rejected}/reject`, { why: 'paid in October' });
    await call('ann', 'POST', `/v1/payouts/${withdrawn}/cancel`);
    expect(await written(approved)).toEqual(['order ann', 'approve bob']);
    expect(await written(rejected)).toEqual(['order ann', 'rejectPayout bob']);
    expect(await written(withdrawn)).toEqual(['order ann', 'expire ann']);
  });

  it('decision on a review, and the one that makes it void', async () => {
    stack.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'payout' });
    const id = await ordered(payout);
    await untilStatus(id, 'REVIEW');
    const decide = async (person: Person, action: 'fail' | 'reject') => {
      const { number } = (await call(person, 'GET', `/v1/payments/${id}`)).body.review;
      return await call(person, 'POST', `/v1/payments/${id}/resolve`, { action, review: number, why: 'ticket 4711' });
    };
    expect((await decide('eve', 'fail')).status).toBe(202);
    expect((await decide('joe', 'reject')).status).toBe(200);
    expect(await written(id)).toEqual(['order ann', 'decide eve', 'reject joe']);
    const [decision] = await listAudited(stack.book, ['decide'], [id]);
    expect(decision?.detail).toMatchObject({ resolution: { decision: { action: 'fail' }, why: 'ticket 4711' } });
  });
});

describe('the audit has no row', () => {
  it('for what is refused before anything is done, nor a second one for a repeated order', async () => {
    const headers = { 'idempotency-key': randomUUID(), 'x-forwarded-for': ADDRESSES.ann };
    const order = (body: object) => api.ask('POST', '/v1/payouts', { key: secretOf('ann'), body, headers });
    const { id } = (await order({ ...payout, approval: true })).body;
    expect((await order({ ...payout, approval: true })).body.id).toBe(id);
    expect((await order({ ...payout, amount: 701 })).body.code).toBe('idempotency_key_reused');
    expect((await call('bob', 'POST', `/v1/payouts/${id}/approve`, { digest: '0'.repeat(64) })).status).toBe(409);
    expect((await call('eve', 'POST', `/v1/payouts/${id}/reject`, { why: 'no' })).status).toBe(403);
    expect(await written(id)).toEqual(['order ann']);
  });

  it('that says in plain text what was said', async () => {
    const rows = await stack.book.query('SELECT detail FROM audit WHERE detail IS NOT NULL');
    expect(rows.length).toBeGreaterThan(5);
    for (const { detail } of rows) expect(String(detail)).not.toMatch(/ticket|October|resolution/);
  });
});
