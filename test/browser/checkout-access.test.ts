import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type CheckoutServer, HOUR, startCheckout, statusesOf } from '../support/checkout-server.js';
import { launchBrowser } from './browser.js';
import { arrive, declineButton, PHONE, payButton, phoneField, visit } from './visit.js';

const PAYS = '677000000';
/** A merchant's worst: long, and with nowhere to break a line. */
const LONG = { amount: 123_456_789, message: 'W'.repeat(200) };

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

/** Opens a link on a phone, and does there what a payer does. */
const onPhone = async (act: (page: Page) => Promise<void>): Promise<Page> => {
  const { page } = await visit(browser, checkout.openLink(LONG).address, PHONE);
  await act(page);
  return page;
};

const payWith = async (page: Page, number: string) => {
  await phoneField(page).fill(number);
  await payButton(page).tap();
};

/** Each state of the page on a phone, and the words by which it is there. */
const states: readonly [state: string, words: string, reach: () => Promise<Page>][] = [
  ['open', 'Mobile number to charge', () => onPhone(async () => {})],
  ['declined', 'You declined', () => onPhone((page) => declineButton(page).tap())],
  ['wrong', 'Enter the mobile number', () => onPhone((page) => payButton(page).tap())],
  ['to be confirmed', 'Confirm on your phone', () => onPhone((page) => payWith(page, '677000800'))],
  ['paid', 'Payment received', () => onPhone((page) => payWith(page, PAYS))],
  [
    'too late',
    'can no longer be used',
    () =>
      onPhone(async (page) => {
        checkout.pass(24 * HOUR);
        await page.reload();
      }),
  ],
];

describe('the checkout page on a phone', () => {
  it.each(states)('has nothing beyond its edge: %s', async (_, words, reach) => {
    const page = await reach();
    await page.getByText(words).waitFor();
    const width = await page.locator('html').evaluate((root) => root.scrollWidth);
    const rights = await page
      .locator('body *')
      .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().right));
    expect(Math.max(width, ...rights)).toBeLessThanOrEqual(PHONE.viewport.width);
  });

  it.each(states)('has only targets of 44 pixels and more for a thumb: %s', async (_, words, reach) => {
    const page = await reach();
    await page.getByText(words).waitFor();
    const targets = await page.locator('a, button, summary, label:has(input), input:not([type=radio])').all();
    const boxes = await Promise.all(targets.map((target) => target.boundingBox()));
    const small = boxes.filter((box) => box === null || Math.min(box.width, box.height) < 44);
    expect(small).toEqual([]);
  });

  it('has nothing beyond its edge in French, where words are longer', async () => {
    const { address } = checkout.openLink(LONG);
    const { page } = await visit(browser, address, { ...PHONE, locale: 'fr-FR' });
    const beyond = () => page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth);
    await page.getByText('Numéros de test').tap();
    expect(await beyond()).toBe(0);
    await page.getByLabel('Numéro mobile').fill('677000800');
    await page.getByRole('button', { name: /^Payer / }).tap();
    await arrive(page, 'Confirmez sur votre téléphone');
    expect(await beyond()).toBe(0);
  });

  it('brings up the keys of a telephone, and takes a payment', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address, PHONE);
    expect(await phoneField(page).getAttribute('inputmode')).toBe('tel');
    expect(await phoneField(page).getAttribute('autocomplete')).toBe('tel');
    await phoneField(page).fill('677000000');
    await page.getByText('Mobile Money', { exact: true }).tap();
    await payButton(page).tap();
    await arrive(page, 'Payment received');
    expect(entry).toMatchObject({ status: 'SUCCESSFUL', medium: 'mobile money' });
  });
});

describe('the checkout page by keyboard alone', () => {
  it('goes through every field and button in the order of reading, the focus always in sight', async () => {
    const { page } = await visit(browser, checkout.openLink().address);
    const stops = [
      phoneField(page),
      page.getByLabel('Detect from my number'),
      page.getByLabel('E-mail'),
      payButton(page),
      declineButton(page),
      page.getByText('Test numbers'),
    ];
    for (const stop of stops) {
      await page.keyboard.press('Tab');
      expect(await stop.and(page.locator(':focus')).count()).toBe(1);
      // A radio button shows the focus around its whole row.
      const outline = await stop.evaluate((element) => {
        const shown = element.closest('label') ?? element;
        return shown.ownerDocument.defaultView?.getComputedStyle(shown).outlineStyle;
      });
      expect(outline).toBe('solid');
    }
  });

  it('takes a payment', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PAYS);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await arrive(page, 'Payment received');
    expect(entry).toMatchObject({ status: 'SUCCESSFUL', medium: 'orange money' });
  });

  it('pays, and does not decline, when Enter is pressed in a field', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PAYS);
    await page.keyboard.press('Enter');
    await arrive(page, 'Payment received');
    expect(statusesOf(entry)).toEqual(['CREATED', 'PENDING', 'SUCCESSFUL']);
  });

  it('puts the focus on what is wrong, to be typed again at once', async () => {
    const { address, entry } = checkout.openLink();
    const { page } = await visit(browser, address);
    await page.keyboard.press('Tab');
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await page.getByText('not a Cameroonian mobile number').waitFor();
    expect(await phoneField(page).and(page.locator(':focus')).inputValue()).toBe('12');
    await page.keyboard.press('Control+A');
    await page.keyboard.type(PAYS);
    await page.keyboard.press('Enter');
    await arrive(page, 'Payment received');
    expect(entry.attempts).toHaveLength(1);
  });

  it('declines with the space bar, and then pays', async () => {
    const { address, entry } = checkout.openLink({ email: 'payer@example.com' });
    const { page } = await visit(browser, address);
    for (let stop = 0; stop < 4; stop++) await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByRole('alert').waitFor();
    expect(entry.status).toBe('FAILED');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PAYS);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await arrive(page, 'Payment received');
    expect(entry.status).toBe('SUCCESSFUL');
  });
});
