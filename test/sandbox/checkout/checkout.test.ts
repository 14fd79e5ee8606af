import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import got from 'got';
import { returnAddress } from '../../../sandbox/checkout/checkout.js';
import { type CheckoutServer, HOUR, startCheckout, statusesOf } from '../../support/checkout-server.js';

const PAYS = '677000000';
const FAILS = '677000100';

let checkout: CheckoutServer;
beforeEach(async () => {
  checkout = await startCheckout();
});
afterEach(() => checkout.close());

const plain = { throwHttpErrors: false, followRedirect: false, retry: { limit: 0 } } as const;
const look = (address: string, language?: string) =>
  got(address, { ...plain, ...(language !== undefined && { headers: { 'accept-language': language } }) });
const send = (address: string, form: Record<string, string>) => got.post(address, { ...plain, form });
const pay = (address: string, phone = PAYS) => send(address, { phone, medium: '', action: 'pay' });

type Sent = Awaited<ReturnType<typeof send>>;
/** The address that a form's answer redirects to. @throws when it redirects nowhere */
const destination = ({ statusCode, headers, url }: Sent): string => {
  if (statusCode !== 303 || headers.location === undefined) throw new Error(`No redirect, but ${statusCode}`);
  return new URL(headers.location, url).href;
};
/** The page that a payer sees after sending a form. */
const pageAfter = async (sent: Promise<Sent>, language?: string) => look(destination(await sent), language);

describe('the page of an open link', () => {
  it('shows the amount, the merchant, the reason and until when it can be paid', async () => {
    const { address } = checkout.openLink({ message: 'Order 1042' });
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(200);
    for (const text of ['5,000\u00a0XAF', 'Boutique Sanaga', 'Order 1042', 'Sat 22 Nov, 12:05 (Douala time)']) {
      expect(body).toContain(text);
    }
  });

  it('does not promise that it stays open until then, since its merchant may end it at any time', async () => {
    const { body } = await look(checkout.openLink().address);
    expect(body).toContain('The merchant may close the link sooner.');
    expect(body).not.toMatch(/\d+ (h|min)\b.* left/);
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
    expect((await pageAfter(pay(`${checkout.origin}/pay/none`))).statusCode).toBe(404);
  });
});

describe('paying', () => {
  it('sends the payer on to the merchant', async () => {
    const { address, entry } = checkout.openLink({ redirectUrl: 'https://shop.example/thanks?order=7' });
    const { statusCode, headers } = await pay(address);
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(`https://shop.example/thanks?order=7&transId=${entry.transId}&status=SUCCESSFUL`);
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'SUCCESSFUL']);
    expect(entry.medium).toBe('mobile money');
  });

  it.each([undefined, 'javascript:alert(1)'])('shows the receipt where the address is %s', async (redirectUrl) => {
    const { address } = checkout.openLink({ redirectUrl });
    const { statusCode, headers } = await pay(address);
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(new URL(address).pathname);
    const receipt = await look(address);
    expect(receipt.statusCode).toBe(200);
    expect(receipt.body).toContain('Payment received');
    expect(receipt.body).not.toContain('Return to');
  });

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
    const again = `${address}?again=1`;
    expect(answers.map(destination).filter((to) => to === again)).toHaveLength(2);
    expect(entry.attempts).toHaveLength(1);
    const { statusCode, body } = await pageAfter(pay(address));
    expect(statusCode).toBe(409);
    expect(body).toContain('You were not charged again');
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
  ])('leads to a page that is 422, beside its field: %s', async (_, entry, words) => {
    const link = checkout.openLink();
    const { statusCode, body } = await pageAfter(
      send(link.address, { phone: PAYS, medium: '', action: 'pay', ...entry }),
    );
    expect(statusCode).toBe(422);
    expect(body).toContain(words);
    expect(body).toContain('<title>Error: Pay 5,000\u00a0XAF');
    expect(link.entry.attempts).toEqual([]);
  });

  it('is kept as typed, and escaped', async () => {
    const { address } = checkout.openLink();
    const form = { phone: '"><b>12', medium: 'orange money', email: 'a@example.com', action: 'pay' };
    const { body } = await pageAfter(send(address, form));
    expect(body).toContain('value="&quot;&gt;&lt;b&gt;12"');
    expect(body).toMatch(/value="orange money" checked/);
    expect(body).toContain('value="a@example.com"');
  });

  it('is refused when it is no form, or too long for one', async () => {
    const { address, entry } = checkout.openLink();
    const json = got.post(address, { ...plain, json: { action: 'pay', phone: PAYS } });
    expect((await pageAfter(json)).statusCode).toBe(422);
    const long = await send(address, { phone: PAYS, action: 'pay', message: 'x'.repeat(10_000) });
    expect(long.headers['content-security-policy']).toContain("default-src 'none'");
    const { statusCode, body } = await look(destination(long));
    expect(statusCode).toBe(422);
    expect(body).toContain('role="alert"><strong>The form could not be read. Nothing was charged.');
    expect(entry.attempts).toEqual([]);
  });

  it('is found only by its address, which has no number in it, and only with its own link', async () => {
    const { address } = checkout.openLink();
    const form = { phone: '12 34 56', medium: '', email: 'me@', action: 'pay' };
    const to = destination(await send(address, form));
    expect(to).toMatch(/\?form=[\w-]{22}$/);
    expect((await look(to)).body).toContain('12 34 56');
    expect((await look(address)).body).not.toContain('12 34 56');
    const other = await look(checkout.openLink().address + new URL(to).search);
    expect(other.statusCode).toBe(200);
    expect(other.body).not.toContain('12 34 56');
  });

  it('gets an address that nobody can choose', async () => {
    const { address } = checkout.openLink();
    const first = destination(await send(address, { phone: '12', action: 'pay' }));
    const second = destination(await send(first, { phone: '34', action: 'pay' }));
    expect(second).not.toBe(first);
    expect((await look(first)).body).not.toContain('value="34"');
  });

  it('does not hide that the link was paid meanwhile', async () => {
    const { address } = checkout.openLink();
    const wrong = destination(await send(address, { phone: '12', action: 'pay' }));
    await pay(address);
    const { statusCode, body } = await look(wrong);
    expect(statusCode).toBe(200);
    expect(body).toContain('Payment received');
    expect(body).not.toContain('value="12"');
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
    expect(headers.location).toMatch(/^\/pay\/\w+\?form=[\w-]{22}$/);
    expect((await look(address)).body).toContain('The payment was declined.');
  });

  it.each([
    ['by the payer', { action: 'decline', phone: '677 00 00 00', medium: 'orange money' }],
    ['by the operator', { action: 'pay', phone: '677 00 01 00', medium: 'orange money' }],
  ])('keeps what was typed, %s', async (_, form) => {
    const { statusCode, body } = await pageAfter(send(checkout.openLink().address, form));
    expect(statusCode).toBe(200);
    expect(body).toContain('declined');
    expect(body).toContain(`value="${form.phone}"`);
    expect(body).toMatch(/value="orange money" checked/);
  });
});

describe('a payment to be confirmed on the phone', () => {
  it('waits, and then sends the payer on', async () => {
    const { address } = checkout.openLink({ redirectUrl: 'https://shop.example/' });
    const to = new URL(destination(await pay(address, '677000205')));
    expect(to.pathname).toBe(new URL(address).pathname);
    expect(to.search).toMatch(/^\?waiting=1&form=[\w-]{22}$/);

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
    const { body } = await look(new URL(headers.location ?? '', address).href);
    expect(body).toContain('••••\u00a0800');
  });

  it('says which number was asked, by its last digits, to anybody who has the link', async () => {
    const { address } = checkout.openLink();
    await pay(address, '+237 677 000 205');
    for (const { body } of [await look(address), await look(`${address}?waiting=1`)]) {
      expect(body).toContain('The request went to ••••\u00a0205.');
      expect(body).not.toMatch(/677\D*000/);
    }
  });

  it('can be withdrawn, to be paid from another number', async () => {
    const { address, entry } = checkout.openLink({ redirectUrl: 'https://shop.example/' });
    const waiting = destination(await pay(address, '677 000 205'));
    expect((await look(waiting)).body).toContain('name="withdraw" value="1"');
    const back = destination(await send(waiting, { withdraw: '1' }));
    const { statusCode, body } = await look(back);
    expect(statusCode).toBe(200);
    expect(body).toContain('The request was withdrawn.');
    expect(body).toContain('value="677 000 205"');

    checkout.pass(HOUR);
    expect(entry.status).toBe('FAILED');
    expect(destination(await pay(back, '677000000'))).toContain('https://shop.example/');
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'FAILED', 'PENDING', 'SUCCESSFUL']);
  });

  it('is not withdrawn by a page that shows an earlier one', async () => {
    const { address, entry } = checkout.openLink();
    await pay(address, '677000800');
    await send(address, { withdraw: '1' });
    await pay(address, '677000801');
    await send(address, { withdraw: '1' });
    await send(address, { withdraw: 'x' });
    expect(entry.status).toBe('PENDING');
  });

  it('stays paid when it is withdrawn too late', async () => {
    const { address, entry } = checkout.openLink({ redirectUrl: 'https://shop.example/' });
    const waiting = destination(await pay(address, '677000205'));
    checkout.pass(5000);
    const back = destination(await send(waiting, { withdraw: '1' }));
    expect(entry.status).toBe('SUCCESSFUL');
    expect(destination(await look(back))).toMatch(/^https:\/\/shop\.example\/.+status=SUCCESSFUL$/);
  });

  it('goes back to the form when it fails', async () => {
    const { address } = checkout.openLink();
    const waiting = destination(await pay(address, '677000305'));
    checkout.pass(5000);
    const { statusCode, body } = await look(waiting);
    expect(statusCode).toBe(200);
    expect(body).toContain('The payment was declined.');
    expect(body).toContain('value="677000305"');
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
    const { statusCode, body } = await pageAfter(pay(late.address));
    expect(statusCode).toBe(410);
    expect(body).toContain('This link can no longer be used');
    expect(inTime.entry.status).toBe('SUCCESSFUL');
    expect(late.entry.status).toBe('EXPIRED');
    expect(late.entry.attempts).toEqual([]);
  });

  it('says so to anybody who looks, or sends what is no decision', async () => {
    const { address } = checkout.openLink();
    checkout.pass(24 * HOUR);
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(410);
    expect(body).toContain('It could be paid until Sat 22 Nov, 12:05 (Douala time).');
    expect(body).not.toContain('<form');
    const sent = await send(address, { action: '' });
    expect(sent.statusCode).toBe(303);
    expect(sent.headers.location).toBe(new URL(address).pathname);
  });

  it('does not say whether the merchant closed it or let its time run out, which nobody told it', async () => {
    const { address, entry } = checkout.openLink();
    checkout.ledger.expire(entry.transId);
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(410);
    expect(body).toContain('Its time ran out, or the merchant closed it.');
  });
});

describe('the language of the page', () => {
  it.each([
    ['fr-CM', 'fr'],
    ['fr', 'fr'],
    ['fr-FR,fr;q=0.9,en;q=0.8', 'fr'],
    ['de, fr;q=0.5, en;q=0.1', 'fr'],
    ['en-CM,fr;q=0.9', 'en'],
    ['en;q=0.4, fr;q=0.6', 'fr'],
    ['fr;q=0, de', 'en'],
    ['de', 'en'],
    ['*', 'en'],
    ['', 'en'],
    [undefined, 'en'],
  ])('for Accept-Language %j is %s', async (accepted, language) => {
    const { headers, body } = await look(checkout.openLink().address, accepted);
    expect(headers['content-language']).toBe(language);
    expect(headers.vary).toBe('Accept-Language');
    expect(body).toContain(`<html lang="${language}">`);
  });

  it('is French on every page for those who read it', async () => {
    const { address, entry } = checkout.openLink({ redirectUrl: 'https://shop.example/thanks' });
    const french = async (to: string, ...texts: string[]) => {
      const { headers, body } = await look(to, 'fr-CM');
      expect(headers['content-language']).toBe('fr');
      for (const text of texts) expect(body).toContain(text);
    };
    await french(address, 'Payer à Boutique Sanaga', '5\u202f000\u00a0FCFA', 'sam. 22 nov., 12:05 (heure de Douala)');
    await french(`${checkout.origin}/pay/none`, 'Lien de paiement introuvable');
    await french(destination(await pay(address, '12')), '<title>Erreur\u00a0: Payer', 'neuf chiffres');
    await french(destination(await pay(address, FAILS)), 'Le paiement a été refusé.');
    const waiting = destination(await pay(address, '677000205'));
    await french(waiting, 'La demande a été envoyée au ••••\u00a0205.');
    await send(waiting, { withdraw: String(entry.attempts.length) });
    await french(waiting, 'La demande a été annulée.');
    await pay(address);
    await french(address, 'Paiement reçu', 'Retourner chez Boutique Sanaga', 'ven. 21 nov., 12:05 (heure');
    await french(destination(await pay(address)), 'Déjà payé');

    const closed = checkout.openLink();
    checkout.ledger.expire(closed.entry.transId);
    await french(closed.address, 'Son délai est écoulé, ou le commerçant l&#39;a fermé.');
    const late = checkout.openLink();
    checkout.pass(24 * HOUR);
    await french(late.address, 'Il pouvait être payé jusqu&#39;au sam. 22 nov.');
  });
});

const transaction = { transId: 'T1', status: 'SUCCESSFUL' };

describe('the way back to the shop', () => {
  const redirectUrl = 'https://shop.example/thanks?order=7';

  it('is there after a decline, and not before', async () => {
    const { address } = checkout.openLink({ redirectUrl });
    expect((await look(address)).body).not.toContain('shop.example');
    const { body } = await pageAfter(send(address, { action: 'decline' }));
    expect(body).toContain('href="https://shop.example/thanks?order=7&amp;transId=');
    expect(body).toContain('status=FAILED');
  });

  it('is there when the payment was refused', async () => {
    const { address } = checkout.openLink({ redirectUrl });
    expect((await pageAfter(pay(address, FAILS))).body).toContain('href="https://shop.example/thanks');
  });

  it('is there on an expired link', async () => {
    const { address } = checkout.openLink({ redirectUrl });
    checkout.pass(24 * HOUR);
    const { statusCode, body } = await look(address);
    expect(statusCode).toBe(410);
    expect(body).toContain('status=EXPIRED');
  });

  it('is nowhere without an address', async () => {
    const { address } = checkout.openLink();
    expect((await pageAfter(send(address, { action: 'decline' }))).body).not.toContain('Return to');
  });
});

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

  it("leaves the merchant's own parameters as they are", () => {
    const own = 'https://shop.example/?status=basket&transId=mine';
    expect(returnAddress(own, transaction)).toBe(own);
    expect(returnAddress('https://shop.example/?status=basket', transaction)).toBe(
      'https://shop.example/?status=basket&transId=T1',
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
