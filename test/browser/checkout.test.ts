import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type CheckoutServer, HOUR, listen, startCheckout, statusesOf } from '../support/checkout-server.js';
import { launchBrowser } from './browser.js';
import { arrive, declineButton, PHONE, payButton, phoneField, visit } from './visit.js';

const PAYS = '677 000 000';

let browser: Browser;
let checkout: CheckoutServer;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  checkout = await startCheckout();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await checkout.close();
});

/** A merchant's site, which writes down who came. */
const openShop = async (answer: { readonly redirectTo?: string } = {}) => {
  const visits: URL[] = [];
  const { origin, close } = await listen((request, response) => {
    const url = new URL(request.url ?? '/', 'http://shop');
    if (url.pathname === '/thanks') visits.push(url);
    if (answer.redirectTo) response.writeHead(302, { location: answer.redirectTo + url.search }).end();
    else response.setHeader('content-type', 'text/html').end('<title>Shop</title><h1>Thank you</h1>');
  });
  return { visits, close, address: `${origin}/thanks` };
};

describe('the checkout page in a browser, without scripts', () => {
  it('takes a payment and shows the receipt, now and later', async () => {
    const { address, entry } = checkout.openLink({ message: 'Order 1042' });
    const { page, complaints } = await visit(browser, address);
    expect(await page.title()).toBe('Pay 5,000\u00a0XAF to Boutique Sanaga');
    await phoneField(page).fill(PAYS);
    await page.getByLabel('Orange Money').check();
    await page.getByLabel('E-mail').fill('payer@example.com');
    await payButton(page).click();
    await arrive(page, 'Payment received');
    expect(await page.title()).toMatch(/^Paid: /);
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'SUCCESSFUL']);
    expect(entry).toMatchObject({ medium: 'orange money', email: 'payer@example.com' });

    await page.goto(address);
    await arrive(page, 'Payment received');
    expect(await page.getByText('Order 1042').isVisible()).toBe(true);
    expect(await payButton(page).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('is laid out by its style sheet, which its policy lets in', async () => {
    const { page, complaints } = await visit(browser, checkout.openLink().address, {
      viewport: { width: 1280, height: 800 },
    });
    const [summary, form] = await Promise.all([
      page.getByRole('region', { name: 'What you pay' }).boundingBox(),
      page.getByRole('region', { name: 'How you pay' }).boundingBox(),
    ]);
    expect(summary && form && summary.x + summary.width).toBeLessThan(form?.x ?? 0);
    expect(complaints).toEqual([]);
  });

  it('lets a payer decline, says that nothing was charged, and takes a payment after it', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await declineButton(page).click();
    const notice = page.getByRole('alert').filter({ hasText: 'You declined the payment.' });
    await notice.getByText('Nothing was charged.').waitFor();
    expect(await page.title()).toMatch(/^Declined/);
    expect(entry.status).toBe('FAILED');

    await phoneField(page).fill(PAYS);
    await payButton(page).click();
    await arrive(page, 'Payment received');
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'FAILED', 'PENDING', 'SUCCESSFUL']);
  });

  it('puts an error beside its field, reads it out with it, and keeps what was typed', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await phoneField(page).fill('12 34');
    await page.getByLabel('Orange Money').check();
    await payButton(page).click();
    await page.getByText('not a Cameroonian mobile number').waitFor();
    expect(await page.title()).toMatch(/^Error: /);
    const field = page.getByRole('textbox', {
      name: 'Mobile number',
      description: /not a Cameroonian mobile number/,
    });
    expect(await field.inputValue()).toBe('12 34');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Orange Money').isChecked()).toBe(true);
    expect(entry.status).toBe('CREATED');
  });

  it('pays once when Pay is pressed twice', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await phoneField(page).fill(PAYS);
    await payButton(page).dblclick();
    await arrive(page, /Payment received|Already paid/);
    expect(entry.attempts).toHaveLength(1);
    expect(entry.status).toBe('SUCCESSFUL');
  });

  it('shows the receipt to a payer who goes back to the form', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await phoneField(page).fill(PAYS);
    await payButton(page).click();
    await page.goto(address);
    await page.goBack();
    await arrive(page, 'Payment received');
    expect(entry.attempts).toHaveLength(1);
  });

  it('goes back from a declined payment and an error to the form, never to a form to be sent again', async () => {
    const { address, entry } = checkout.openLink();
    const { page, complaints } = await visit(browser, address);
    await phoneField(page).fill('12 34');
    await page.getByLabel('Orange Money').check();
    await payButton(page).click();
    await page.getByText('not a Cameroonian mobile number').waitFor();
    await phoneField(page).fill('677 000 100');
    await payButton(page).click();
    await page.getByText('The payment was declined.').waitFor();
    expect(await phoneField(page).inputValue()).toBe('677 000 100');
    expect(await page.getByLabel('Orange Money').isChecked()).toBe(true);
    expect(page.url()).not.toMatch(/677\D*000\D*100/);

    await page.goBack();
    await page.getByText('not a Cameroonian mobile number').waitFor();
    // The browser itself puts back what was typed into that page.
    expect(await phoneField(page).inputValue()).toBe('677 000 100');
    await page.goBack();
    expect(page.url()).toBe(address);
    await payButton(page).waitFor();
    await page.goForward();
    await page.reload();
    await page.getByText('not a Cameroonian mobile number').waitFor();
    expect(entry.attempts).toHaveLength(1);

    await phoneField(page).fill(PAYS);
    await payButton(page).click();
    await arrive(page, 'Payment received');
    await page.goBack();
    await arrive(page, 'Payment received');
    expect(entry.attempts).toHaveLength(2);
    expect(complaints).toEqual([]);
  });

  it('says in a second tab that the link is paid already, and goes back from there', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    const second = await page.context().newPage();
    await second.goto(address);
    for (const tab of [page, second]) await phoneField(tab).fill(PAYS);
    await payButton(page).click();
    await arrive(page, 'Payment received');
    await payButton(second).click();
    await arrive(second, 'Already paid');
    await second.goBack();
    await arrive(second, 'Payment received');
    expect(entry.attempts).toHaveLength(1);
  });

  it('speaks French to a browser that prefers it', async () => {
    const { address, entry } = checkout.openLink();
    const { page, complaints } = await visit(browser, address, { ...PHONE, locale: 'fr-FR' });
    expect(await page.locator('html').getAttribute('lang')).toBe('fr');
    expect(await page.title()).toBe('Payer 5\u202f000\u00a0FCFA à Boutique Sanaga');
    const number = page.getByLabel('Numéro mobile à débiter');
    const pay = page.getByRole('button', { name: /^Payer / });
    await number.fill('12');
    await pay.tap();
    await page.getByText("Ce n'est pas un numéro mobile camerounais").waitFor();
    expect(await page.title()).toMatch(/^Erreur/);
    await number.fill(PAYS);
    await pay.tap();
    await arrive(page, 'Paiement reçu');
    expect(entry.status).toBe('SUCCESSFUL');
    expect(complaints).toEqual([]);
  });

  it('takes nothing once the time is over, not even from a form that was open', async () => {
    const { address, entry } = checkout.openLink({ redirectUrl: 'https://shop.example/' });
    const { page } = await visit(browser, address);
    await phoneField(page).fill(PAYS);
    checkout.pass(24 * HOUR);
    await payButton(page).click();
    await arrive(page, 'This link can no longer be used');
    expect(new URL(page.url()).origin).toBe(checkout.origin);
    expect(statusesOf(entry)).toEqual(['CREATED', 'EXPIRED']);
    await page.goto(address);
    await arrive(page, 'This link can no longer be used');
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('waits for the phone, and finds the payment by its link', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await phoneField(page).fill('677000205');
    await payButton(page).click();
    await arrive(page, 'Confirm on your phone');
    expect(entry.status).toBe('PENDING');
    checkout.pass(5000);
    await page.getByRole('link', { name: 'Check now' }).click();
    await arrive(page, 'Payment received');
    expect(entry.status).toBe('SUCCESSFUL');
  });

  it('waits for the phone, names it, and lets go of a wrong one', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await phoneField(page).fill('677000800');
    await payButton(page).click();
    await page.getByText('The request went to ••••\u00a0800.').waitFor();
    await page.getByRole('button', { name: 'Use another number' }).click();
    await page.getByRole('alert').filter({ hasText: 'The request was withdrawn.' }).waitFor();
    expect(await phoneField(page).inputValue()).toBe('677000800');
    await phoneField(page).fill(PAYS);
    await payButton(page).click();
    await arrive(page, 'Payment received');
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'FAILED', 'PENDING', 'SUCCESSFUL']);
  });

  it('waits for the phone, and finds the payment by itself', async () => {
    const { address } = checkout.openLink();
    const { page } = await visit(browser, address);
    await phoneField(page).fill('677000205');
    await payButton(page).click();
    await arrive(page, 'Confirm on your phone');
    checkout.pass(5000);
    await arrive(page, 'Payment received');
  });
});

describe('the way back to the merchant', () => {
  it.each([
    ['straight', false],
    ['over a redirect of the merchant’s own to another site', true],
  ])('is taken after paying, %s', async (_, further) => {
    const end = await openShop();
    const shop = further ? await openShop({ redirectTo: end.address }) : end;
    try {
      const { address, entry } = checkout.openLink({ redirectUrl: `${shop.address}?order=7` });
      const { page, complaints } = await visit(browser, address);
      await phoneField(page).fill(PAYS);
      await payButton(page).click();
      await arrive(page, 'Thank you');
      expect(page.url()).toBe(`${end.address}?order=7&transId=${entry.transId}&status=SUCCESSFUL`);
      expect(shop.visits).toHaveLength(1);
      expect(entry.status).toBe('SUCCESSFUL');
      expect(complaints).toEqual([]);
    } finally {
      await end.close();
      if (further) await shop.close();
    }
  });

  it('is taken once a payment is confirmed on the phone, and offered on the receipt', async () => {
    const shop = await openShop();
    try {
      const { address } = checkout.openLink({ redirectUrl: shop.address });
      const { page } = await visit(browser, address);
      await phoneField(page).fill('677000205');
      await payButton(page).click();
      checkout.pass(5000);
      await page.getByRole('link', { name: 'Check now' }).click();
      await arrive(page, 'Thank you');

      await page.goto(address);
      await arrive(page, 'Payment received');
      await page.getByRole('link', { name: 'Return to Boutique Sanaga' }).click();
      await arrive(page, 'Thank you');
      expect(shop.visits).toHaveLength(2);
    } finally {
      await shop.close();
    }
  });

  it('is not taken by a payer who declines', async () => {
    const shop = await openShop();
    try {
      const { page } = await visit(browser, checkout.openLink({ redirectUrl: shop.address }).address);
      await declineButton(page).click();
      await page.getByRole('alert').waitFor();
      expect(shop.visits).toEqual([]);
    } finally {
      await shop.close();
    }
  });
});
