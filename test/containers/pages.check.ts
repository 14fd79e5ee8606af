import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../browser/browser.js';
import { create, ends, OPERATOR_KEY } from './merchant.js';

const DESK = 'http://127.0.0.1:3001/desk';
const CODEC = 'http://127.0.0.1:8234';
const WEB_UI = 'http://127.0.0.1:8080';
const PHONE = '677123801';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** All that a page shows, in its frames as well. */
async function textOf(page: Page): Promise<string> {
  const texts = page.frames().map((frame) => frame.evaluate('document.body.innerText').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

async function untilShown(page: Page, expected: RegExp): Promise<void> {
  const end = Date.now() + 120_000;
  while (!expected.test(await textOf(page))) {
    if (Date.now() > end) throw new Error(`the page never shows ${expected}:\n${await textOf(page)}`);
    await page.waitForTimeout(500);
  }
}

describe('in a browser', () => {
  it('an operator signs in at the desk, and finds a payment', async () => {
    const { id } = await ends(await create('/v1/collections', { method: 'direct', amount: 500, phone: '677000000' }));
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(DESK);
    await page.getByLabel('Your API key').fill(OPERATOR_KEY);
    await page.getByLabel('Your API key').press('Enter');
    // What the page shows instead is in the error.
    await untilShown(page, /Payments in REVIEW/);
    await page.goto(`${DESK}/payments/${id}`);
    await untilShown(page, /SUCCESSFUL/);
    await page.close();
  });

  it('the Web UI shows a payer to an operator who has signed in to the codec server, and to nobody else', async () => {
    const created = await create('/v1/collections', { method: 'direct', amount: 500, phone: PHONE });
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const open = async () => {
      await page.goto(`${WEB_UI}/namespaces/default/workflows/${created.id}`);
      await page.locator('a[href$="history"]').first().click();
    };
    await open();
    await untilShown(page, /binary\/encrypted|YmluYXJ5L2VuY3J5cHRlZA/);
    expect(await textOf(page)).not.toContain(PHONE);

    const signIn = await context.newPage();
    await signIn.goto(CODEC);
    await signIn.getByLabel('API key').fill(OPERATOR_KEY);
    await signIn.getByRole('button', { name: 'Sign in' }).click();
    await signIn.getByText('You are signed in').waitFor();
    await open();
    await untilShown(page, new RegExp(PHONE));
    await context.close();
  });
});
