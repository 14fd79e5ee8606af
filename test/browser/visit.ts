import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A width that phones in use still have, in CSS pixels. */
export const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true } as const;

export interface Visit {
  readonly page: Page;
  /** The browser's complaints, for example about something that the page's policy forbids. */
  readonly complaints: readonly string[];
}

/** Opens an address in a browser of the payer's own, with scripts off: nothing may need them. */
export const visit = async (browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Visit> => {
  const context = await browser.newContext({ javaScriptEnabled: false, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Every answer of 4xx is reported as well, and is no fault of the page's.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
  });
  await page.goto(address);
  return { page, complaints };
};

/** Waits until the page with this heading is there. @throws when it doesn't come */
export const arrive = (page: Page, heading: string | RegExp) =>
  page.getByRole('heading', { level: 1, name: heading }).waitFor();

export const phoneField = (page: Page) => page.getByLabel('Mobile number');
export const payButton = (page: Page) => page.getByRole('button', { name: /^Pay / });
export const declineButton = (page: Page) => page.getByRole('button', { name: 'Decline' });
