import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import got from 'got';
import { returnAddress } from '../../../sandbox/checkout/checkout.js';
import { type CheckoutServer, HOUR, startCheckout, statusesOf } from './checkout-server.js';

const PAYS = '677000000';
const FAILS = '677000100';

let checkout: CheckoutServer;
beforeEach(async () => {
  checkout = await startCheckout();
});
afterEach(() => checkout.close());

const plain = { throwHttpErrors: false, followRedirect: false, retry: { limit: 0 } } as const;
const look = (address: string) => got(address, plain);
const send = (address: string, form: Record<string, string>) => got.post(address, { ...plain, form });
const pay = (address: string, phone = PAYS) => send(address, { phone, medium: '', action: 'pay' });

describe('the page of an open link', () => {
  it('shows the amount, the merchant, the reason and until when it can be paid', async () => {
    const { address } = checkout.openLink({ message: 'Order 1042' });
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(200);
    for (const text of [
      '5,000\u00a0XAF',
      'Boutique Sanaga',
      'Order 1042',
      'Sat 22 Nov, 12:05',
      '24 h left',
    ]) {
      expect(body).toContain(text);
    }
  });

  it('changes nothing by being looked at', async () => {
    const { address, entry } = checkout.openLink();
    await look(address);
    expect(statusesOf(entry)).toEqual(['CREATED']);
  });

  it('escapes the words of a merchant', async () => {
    const { address } = checkout.openLink({ message: '</dd><script>alert(1)</script>' });
    const { body } = await look(address);
    expect(body).not.toContain('<script');
    expect(body).toContain('&lt;/dd&gt;&lt;script&gt;');
  });

  it('asks for an e-mail address only where the link has none', async () => {
    const asked = await look(checkout.openLink().address);
    const known = await look(checkout.openLink({ email: 'a@example.com' }).address);
    expect(asked.body).toContain('name="email"');
    expect(known.body).not.toContain('name="email"');
    expect(known.body).not.toContain('a@example.com');
  });
});

describe('every answer', () => {
  it('runs nothing, loads nothing, is not stored and tells no other site', async () => {
    const { headers, body } = await look(checkout.openLink().address);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none';style-src 'sha256-[^']+';form-action 'self';base-uri 'none';frame-ancestors 'none'$/,
    );
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-type': 'text/html; charset=utf-8',
    });
    expect(body).not.toMatch(/<script|<link|<img|style="|\son[a-z]+=/);
  });

  it('lets a form lead on to the merchant only where the link has an address to return to', async () => {
    const { headers } = await look(checkout.openLink({ redirectUrl: 'https://shop.example/' }).address);
    expect(headers['content-security-policy']).toContain("form-action 'self' https:;");
    const odd = await look(checkout.openLink({ redirectUrl: 'javascript:alert(1)' }).address);
    expect(odd.headers['content-security-policy']).toContain("form-action 'self';");
  });

  it('is 404 for a token that no link has', async () => {
    const { statusCode, body } = await look(`${checkout.origin}/pay/none`);
    expect(statusCode).toBe(404);
    expect(body).toContain('No such payment link');
    expect((await pay(`${checkout.origin}/pay/none`)).statusCode).toBe(404);
  });
});

describe('paying', () => {
  it('sends the payer on to the merchant', async () => {
    const { address, entry } = checkout.openLink({ redirectUrl: 'https://shop.example/thanks?order=7' });
    const { statusCode, headers } = await pay(address);
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(
      `https://shop.example/thanks?order=7&transId=${entry.transId}&status=SUCCESSFUL`,
    );
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'SUCCESSFUL']);
    expect(entry.medium).toBe('mobile money');
  });

  it.each([undefined, 'javascript:alert(1)'])(
    'shows the receipt where the address is %s',
    async (redirectUrl) => {
      const { address } = checkout.openLink({ redirectUrl });
      const { statusCode, headers } = await pay(address);
      expect(statusCode).toBe(303);
      expect(headers.location).toBe(new URL(address).pathname);
      const receipt = await look(address);
      expect(receipt.statusCode).toBe(200);
      expect(receipt.body).toContain('Payment received');
      expect(receipt.body).not.toContain('Return to');
    },
  );

  it('shows a way back to the merchant on the receipt', async () => {
    const { address } = checkout.openLink({ redirectUrl: 'https://shop.example/thanks' });
    await pay(address);
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(200);
    expect(body).toContain('href="https://shop.example/thanks?transId=');
  });

  it('goes by the medium that the payer chose, and keeps the e-mail address', async () => {
    const { address, entry } = checkout.openLink();
    await send(address, { phone: PAYS, medium: 'orange money', email: 'a@example.com', action: 'pay' });
    expect(entry).toMatchObject({ status: 'SUCCESSFUL', medium: 'orange money', email: 'a@example.com' });
  });

  it('happens once, however often it is asked for', async () => {
    const { address, entry } = checkout.openLink({ redirectUrl: 'https://shop.example/' });
    const answers = await Promise.all([pay(address), pay(address), pay(address)]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 409, 409]);
    expect(entry.attempts).toHaveLength(1);
    expect((await pay(address)).body).toContain('You were not charged again');
  });
});

describe('an entry that will not do', () => {
  it.each([
    ['no number', { phone: '' }, 'id="phone-error">Enter the mobile number'],
    ['a bad number', { phone: '12 34' }, 'id="phone-error">This is not a Cameroonian mobile number'],
    [
      'a number of no known operator',
      { phone: '620000000' },
      'id="medium-error">The operator of this number is unknown',
    ],
    ['a medium that there is not', { medium: 'gold' }, 'id="medium-error">Choose one of these'],
    ['a bad e-mail address', { email: 'me@' }, 'id="email-error">Enter an address'],
    ['no decision', { action: '' }, 'role="alert"'],
  ])('is answered 422, beside its field: %s', async (_, entry, words) => {
    const link = checkout.openLink();
    const { statusCode, body } = await send(link.address, {
      phone: PAYS,
      medium: '',
      action: 'pay',
      ...entry,
    });
    expect(statusCode).toBe(422);
    expect(body).toContain(words);
    expect(body).toContain('<title>Error: Pay 5,000\u00a0XAF');
    expect(link.entry.attempts).toEqual([]);
  });

  it('is kept as typed, and escaped', async () => {
    const { address } = checkout.openLink();
    const form = { phone: '"><b>12', medium: 'orange money', email: 'a@example.com', action: 'pay' };
    const { body } = await send(address, form);
    expect(body).toContain('value="&quot;&gt;&lt;b&gt;12"');
    expect(body).toMatch(/value="orange money" checked/);
    expect(body).toContain('value="a@example.com"');
  });

  it('is refused when it is no form, or too long for one', async () => {
    const { address, entry } = checkout.openLink();
    const json = await got.post(address, { ...plain, json: { action: 'pay', phone: PAYS } });
    expect(json.statusCode).toBe(422);
    const long = await send(address, { phone: PAYS, action: 'pay', message: 'x'.repeat(10_000) });
    expect(long.statusCode).toBe(413);
    expect(long.headers['content-security-policy']).toContain("default-src 'none'");
    expect(entry.attempts).toEqual([]);
  });
});

describe('declining', () => {
  it('is said on the page, and the link can be paid again', async () => {
    const { address, entry } = checkout.openLink();
    const { statusCode, headers } = await send(address, { action: 'decline' });
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(new URL(address).pathname);
    expect(entry.status).toBe('FAILED');
    const { body } = await look(address);
    expect(body).toContain('You declined the payment.');
    expect(body).toContain('Nothing was charged');
    expect((await pay(address)).statusCode).toBe(303);
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'FAILED', 'PENDING', 'SUCCESSFUL']);
  });

  it('by the operator is not put on the payer', async () => {
    const { address } = checkout.openLink({ redirectUrl: 'https://shop.example/' });
    const { statusCode, headers } = await pay(address, FAILS);
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(new URL(address).pathname);
    expect((await look(address)).body).toContain('The payment was declined.');
  });
});

describe('a payment to be confirmed on the phone', () => {
  it('waits, and then sends the payer on', async () => {
    const { address } = checkout.openLink({ redirectUrl: 'https://shop.example/' });
    const { statusCode, headers } = await pay(address, '677000205');
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(`${new URL(address).pathname}?waiting=1`);

    const waiting = await look(`${address}?waiting=1`);
    expect(waiting.statusCode).toBe(200);
    expect(waiting.body).toContain('Confirm on your phone');
    expect(waiting.body).toContain('<meta http-equiv="refresh" content="3; url=?waiting=1">');
    expect(waiting.body).toContain('href="?waiting=1"');

    checkout.pass(5000);
    const paid = await look(`${address}?waiting=1`);
    expect(paid.statusCode).toBe(303);
    expect(paid.headers.location).toMatch(/^https:\/\/shop\.example\/\?transId=.+&status=SUCCESSFUL$/);
  });

  it('is not begun a second time', async () => {
    const { address, entry } = checkout.openLink();
    await pay(address, '677000800');
    const { statusCode, headers } = await pay(address);
    expect(statusCode).toBe(303);
    expect(headers.location).toContain('?waiting=1');
    expect(entry.attempts).toHaveLength(1);
  });

  it('goes back to the form when it fails', async () => {
    const { address } = checkout.openLink();
    await pay(address, '677000305');
    checkout.pass(5000);
    const { statusCode, body } = await look(`${address}?waiting=1`);
    expect(statusCode).toBe(200);
    expect(body).toContain('The payment was declined.');
    expect(body).toContain('name="action" value="pay"');
  });
});

describe('a link whose time is over', () => {
  it('can be paid until its last ms, and not after it', async () => {
    const inTime = checkout.openLink();
    const late = checkout.openLink();
    checkout.pass(24 * HOUR - 1);
    expect((await pay(inTime.address)).statusCode).toBe(303);
    checkout.pass(1);
    const { statusCode, body } = await pay(late.address);
    expect(statusCode).toBe(410);
    expect(body).toContain('This link can no longer be used');
    expect(inTime.entry.status).toBe('SUCCESSFUL');
    expect(late.entry.status).toBe('EXPIRED');
    expect(late.entry.attempts).toEqual([]);
  });

  it('says so to whoever looks, or sends what is no decision', async () => {
    const { address } = checkout.openLink();
    checkout.pass(24 * HOUR);
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(410);
    expect(body).toContain('It expired on');
    expect(body).not.toContain('<form');
    const sent = await send(address, { action: '' });
    expect(sent.statusCode).toBe(303);
    expect(sent.headers.location).toBe(new URL(address).pathname);
  });

  it('says that it was closed when the merchant expired it', async () => {
    const { address, entry } = checkout.openLink();
    checkout.ledger.expire(entry.transId);
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(410);
    expect(body).toContain('The merchant closed it');
  });
});

const transaction = { transId: 'T1', status: 'SUCCESSFUL' };

describe('the address that a payer returns to', () => {
  it('tells the merchant the transaction and its status', () => {
    expect(returnAddress('https://shop.example/thanks', transaction)).toBe(
      'https://shop.example/thanks?transId=T1&status=SUCCESSFUL',
    );
  });

  it('keeps the parameters and the fragment that it has', () => {
    expect(returnAddress('https://shop.example/?order=7#end', transaction)).toBe(
      'https://shop.example/?order=7&transId=T1&status=SUCCESSFUL#end',
    );
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'shop:thanks', 'not an address'])(
    'is none for %s',
    (redirectUrl) => {
      expect(returnAddress(redirectUrl, transaction)).toBeUndefined();
    },
  );

  it('is none where the merchant gave none', () => {
    expect(returnAddress(undefined, transaction)).toBeUndefined();
  });
});
