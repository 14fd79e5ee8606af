import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../../src/settings/merchants.js';
import { type ApiUnderTest, merchantsWith } from '../support/api-under-test.js';
import { machine, runToEnd } from '../support/built.js';
import { type DeskUnderTest, startDesk, type Visitor } from '../support/desk-under-test.js';
import { eventually } from '../support/eventually.js';
import { link, payout, recordingMerchant, useStack } from '../support/payment-stack.js';

const stack = useStack({ merchant: recordingMerchant().merchant });

/** A merchant; an operator who may end what others have ordered; and a merchant with one key for everything. */
const SHOP = 'secret-of-the-shop';
const ADA = 'secret-of-the-operator-ada';
const HOUSE = 'secret-of-the-house';
const merchants = merchantsWith([
  { name: 'shop', secret: SHOP, scopes: ['collections', 'payouts', 'read'] },
  { name: 'ada', secret: ADA, scopes: SCOPES },
  { name: 'house', secret: HOUSE, scopes: SCOPES },
]);

let api: ApiUnderTest;
let desk: DeskUnderTest;
beforeAll(async () => {
  api = await stack.startMore({ merchants, answerWithinMs: 20_000 });
  desk = await startDesk(api.url);
});
afterAll(() => desk?.stop());

const post = (path: string, key: string, body?: unknown) => api.ask('POST', path, { key, body });

/** A link that the provider has made, and one that was paid and has ended. */
async function begun(key: string) {
  const { status, body } = await post('/v1/collections', key, link);
  expect(status).toBe(201);
  return body;
}
async function paid(key: string) {
  const payment = await begun(key);
  await stack.visit(payment, 'pay');
  await stack.hint(payment);
  await api.ask('GET', `/v1/payments/${payment.id}?wait=60`, { key });
  return payment;
}

/** A payout that can't be sent at the moment. */
async function unsent(key: string): Promise<string> {
  stack.sandbox.faults.add({ fault: 'wrongCredentials', endpoint: 'payout' });
  const { body } = await post('/v1/payouts', key, payout);
  return body.id;
}

interface Entry {
  readonly type: string;
  readonly source: string;
  readonly by?: string;
  readonly summary: string;
}

async function told(id: string, key: string): Promise<readonly Entry[]> {
  const { body } = await api.ask('GET', `/v1/payments/${id}/events`, { key });
  return body.data;
}

const ASKED = ['expiring', 'refresh_requested', 'recheck_requested', 'notification_requested'];

/** Lists the actors of a payment's requests, as the holder of a key sees them. */
async function askers(id: string, key: string) {
  const entries = (await told(id, key)).filter(({ type }) => ASKED.includes(type));
  return entries.map(({ type, source, by }) => [type, source, by].filter(Boolean).join(' '));
}

async function signedIn(key: string): Promise<Visitor> {
  const visitor = desk.visitor();
  await visitor.signIn(key);
  return visitor;
}

const command = (key: string, ...args: readonly string[]) =>
  runToEnd('build/cli/main.js', args, { ...machine(), SANAGA_URL: api.url, SANAGA_API_KEY: key, TZ: 'UTC' });

describe('who has asked for something', () => {
  it('is the merchant, with its own key', async () => {
    const open = await begun(SHOP);
    await post(`/v1/payments/${open.id}/refresh`, SHOP);
    await post(`/v1/collections/${open.id}/expire`, SHOP);
    const ended = await paid(SHOP);
    await post(`/v1/payments/${ended.id}/notifications/1/resend`, SHOP);
    expect([...(await askers(open.id, ADA)), ...(await askers(ended.id, ADA))]).toEqual([
      'refresh_requested merchant shop',
      'expiring merchant shop',
      'notification_requested merchant shop',
    ]);
  });

  it('is an operator with another key, whom only operators read the name of', async () => {
    const open = await begun(SHOP);
    await post(`/v1/payments/${open.id}/refresh`, ADA);
    await post(`/v1/collections/${open.id}/expire`, ADA);
    const ended = await paid(SHOP);
    await post(`/v1/payments/${ended.id}/notifications/1/resend`, ADA);
    await post(`/v1/payments/${ended.id}/refresh`, ADA);
    expect([...(await askers(open.id, ADA)), ...(await askers(ended.id, ADA))]).toEqual([
      'refresh_requested operator ada',
      'expiring operator ada',
      'notification_requested operator ada',
      'recheck_requested operator ada',
    ]);
    expect([...(await askers(open.id, SHOP)), ...(await askers(ended.id, SHOP))]).toEqual([
      'refresh_requested operator',
      'expiring operator',
      'notification_requested operator',
      'recheck_requested operator',
    ]);
    expect(JSON.stringify([await told(open.id, SHOP), await told(ended.id, SHOP)])).not.toContain('ada');
  });

  it.each([
    ['the merchant', SHOP, { source: 'merchant', by: 'shop' }, 'The merchant withdrew it.'],
    ['an operator', ADA, { source: 'operator', by: 'ada' }, 'ada withdrew it.'],
  ])('is %s of a payout that is withdrawn', async (_, key, asker, words) => {
    const id = await unsent(SHOP);
    await eventually(
      () => post(`/v1/payouts/${id}/cancel`, key),
      ({ status }) => status === 200,
    );
    expect((await told(id, ADA)).find(({ type }) => type === 'status_changed')).toMatchObject({
      ...asker,
      summary: expect.stringContaining(words),
    });
    expect(JSON.stringify(await told(id, SHOP))).not.toContain('ada');
  });

  it('is an operator at the desk, even with the key of the payment’s own merchant', async () => {
    for (const [key, name] of [
      [ADA, 'ada'],
      [HOUSE, 'house'],
    ] as const) {
      const visitor = await signedIn(key);
      const open = await begun(HOUSE);
      await visitor.get(`/desk/payments/${open.id}`);
      await visitor.submit('/refresh');
      const ended = await paid(HOUSE);
      await visitor.get(`/desk/payments/${ended.id}`);
      await visitor.submit('/notifications/1');
      await visitor.get(`/desk/payments/${ended.id}`);
      const { text } = await visitor.submit('/refresh');
      expect([...(await askers(open.id, key)), ...(await askers(ended.id, key))]).toEqual([
        `refresh_requested operator ${name}`,
        `notification_requested operator ${name}`,
        `recheck_requested operator ${name}`,
      ]);
      expect(text).toContain(`${name} had notification 1 sent again.`);
      expect(text).toContain(`${name} had the outcome compared with the provider&#39;s records.`);
    }
  });

  it('is told on the command line, where the operator’s key is an operator’s', async () => {
    const ended = await paid(SHOP);
    await command(ADA, 'notifications', 'resend', ended.id, '1');
    await command(SHOP, 'notifications', 'resend', ended.id, '1');
    const open = await begun(SHOP);
    await command(ADA, 'expire', open.id);
    const { stdout } = await command(ADA, 'events', ended.id);
    expect(stdout).toMatch(/operator +ada had notification 1 sent again\./);
    expect(stdout).toMatch(/merchant +The merchant had notification 1 sent again\./);
    expect((await command(ADA, 'events', open.id)).stdout).toMatch(/operator +ada had the link ended\./);
    const seen = await command(SHOP, 'events', open.id);
    expect(seen.stdout).toMatch(/operator +An operator had the link ended\./);
  });

  it('is each of two who ask at once', async () => {
    const { id } = await begun(SHOP);
    stack.sandbox.faults.add({ fault: 'slow', endpoint: 'payment-status', delayMs: 1_000 });
    await Promise.all([SHOP, SHOP, ADA].map((key) => post(`/v1/payments/${id}/refresh`, key)));
    expect((await askers(id, ADA)).sort()).toEqual([
      'refresh_requested merchant shop',
      'refresh_requested operator ada',
    ]);
  });
});
