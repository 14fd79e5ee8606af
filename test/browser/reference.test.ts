import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { useApi } from '../support/api-under-test.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { launchBrowser } from './browser.js';
import { PHONE } from './visit.js';

/** On a phone, the menu is there, but hidden. */
const visible = (page: Page, text: string) => page.getByText(text).locator('visible=true').first();

async function isInView(locator: Locator): Promise<boolean> {
  const box = await locator.boundingBox();
  const height = locator.page().viewportSize()?.height ?? 0;
  return box !== null && box.y + box.height > 0 && box.y < height;
}

/** Waits until something is on the screen, or is not. */
const expectInView = (locator: Locator, expected: boolean) =>
  expect(
    eventually(
      () => isInView(locator),
      (is) => is === expected,
    ),
  ).resolves.toBe(expected);

describe("the API's reference at /docs", () => {
  const api = useApi();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  /** Opens the page, and records what the browser complains of and which hosts it calls. */
  async function open(options: object = {}) {
    const context = await browser.newContext(options);
    const page: Page = await context.newPage();
    const complaints: string[] = [];
    const hosts = new Set<string>();
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(request.url()));
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol !== 'data:') hosts.add(host);
    });
    const response = await page.goto(`${api.url}/docs`);
    await visible(page, 'Send money to a recipient').waitFor({ timeout: PATIENCE_MS });
    return { page, complaints, hosts, response };
  }

  it.each([
    ['on a wide screen', {}],
    ['on a phone', PHONE],
  ])('shows every call %s, calls no other host and breaks no policy', async (_, options) => {
    const { page, complaints, hosts } = await open(options);
    await visible(page, 'The payment is FAILED and final').waitFor();
    expect([...hosts]).toEqual([new URL(api.url).host]);
    expect(complaints).toEqual([]);
    const width = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(width).toBeLessThanOrEqual(0);
  });

  it("shows the document's own examples", async () => {
    const { page } = await open();
    const shown = await page.getByText('col_2775d55233b9d4be2a8db3491967ed92').locator('visible=true').count();
    expect(shown).toBeGreaterThan(5);
    for (const made of ['-9007199254740991', '"1970-01-01T00:00:00.000Z"']) {
      expect(await page.getByText(made, { exact: true }).locator('visible=true').count()).toBe(0);
    }
  });

  it('cuts nothing off at the left of a phone', async () => {
    const { page } = await open(PHONE);
    const box = await page
      .getByText(/License:/)
      .locator('visible=true')
      .first()
      .boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
  });

  it('leads from a menu to each call, and back, on a phone', async () => {
    const { page } = await open(PHONE);
    await page.locator('nav summary', { hasText: 'Payouts' }).tap();
    await page.locator('nav a', { hasText: 'Send money to a recipient' }).tap();
    const call = page.getByRole('heading', { name: 'Send money to a recipient' }).locator('visible=true').first();
    await expectInView(call, true);
    await page.locator('.to-menu').tap();
    await expectInView(page.locator('nav summary').first(), true);
    await expectInView(call, false);
  });

  it('has the menu of its own, and not a second one, on a wide screen', async () => {
    const { page } = await open({ viewport: { width: 1280, height: 900 } });
    expect(await page.locator('nav#menu').isVisible()).toBe(false);
    expect(await page.locator('.to-menu').isVisible()).toBe(false);
  });

  it('allows no script but its own, and no inline one', async () => {
    const { response } = await open();
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(;|$)/);
  });
});
