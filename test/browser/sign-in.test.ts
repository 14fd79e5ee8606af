import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type DeskUnderTest, startDesk } from '../support/desk-under-test.js';
import { startHttpProxy } from '../support/http-proxy.js';
import { OPERATOR, startStubApi } from '../support/stub-api.js';
import { launchBrowser } from './browser.js';
import { arrive, visit } from './visit.js';

describe('signing in at the desk with a browser', () => {
  let browser: Browser;
  let api: Awaited<ReturnType<typeof startStubApi>>;
  let desk: DeskUnderTest;
  beforeAll(async () => {
    browser = await launchBrowser(['--host-resolver-rules=MAP desk.example 127.0.0.1']);
    api = await startStubApi({ text: 'x' });
    desk = await startDesk(api.url);
  });
  afterAll(async () => {
    await browser?.close();
    await desk?.stop();
    await api?.stop();
  });

  it('works within one machine', async () => {
    const { page, complaints } = await visit(browser, `${desk.url}/desk/sign-in`);
    await page.getByLabel('Your API key').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await arrive(page, /in REVIEW/);
    expect(complaints).toEqual([]);
  });

  it('sends no key over plain http through a proxy that hides itself', async () => {
    const proxy = await startHttpProxy(desk.url, { host: new URL(desk.url).host });
    try {
      const { page } = await visit(browser, `http://desk.example:${proxy.port}/desk/sign-in`);
      const refusal = page.waitForEvent('console', (message) => message.text().includes('form-action'));
      await page.getByLabel('Your API key').fill(OPERATOR);
      await page.getByRole('button', { name: 'Sign in' }).click({ noWaitAfter: true });
      await refusal;
      expect(proxy.asked).toContain('GET /desk/sign-in');
      expect(proxy.asked.filter((one) => one.startsWith('POST'))).toEqual([]);
    } finally {
      await proxy.stop();
    }
  });
});
