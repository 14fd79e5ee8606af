import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import { machine } from '../support/built.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';
import { launchBrowser } from './browser.js';
import { recommendedViews, saveView } from './saved-views.js';

const payer = { phone: '677123801', name: 'Eloise Mballa', email: 'eloise@example.cm' };

let browser: Browser;
let running: RunningStack;
let codecUrl: string;
let uiUrl: string;
let id: string;

/** The summary of the payment's workflow, and the beginning of its input: both are encrypted. */
const TITLE = 'Collection from a phone of 4,700 XAF';
const DECRYPTED = /"v":\s*1,\s*"id":/;

/** Address of the desk, which doesn't run. */
const DESK_URL = 'http://desk.example';

beforeAll(async () => {
  browser = await launchBrowser();
  running = await bringUp({ DESK_URL }, { withCodec: true });
  codecUrl = String(running.stack.codecUrl);
  uiUrl = String(running.stack.temporal.uiUrl);
  id = await collect({ externalId: 'order-4700', userId: 'eloise-0', ...payer });
});

afterAll(async () => {
  await browser.close();
  await running.stop();
});

const paymentSchema = z.object({ id: z.string(), status: z.string() });

async function collect(more: Record<string, string>): Promise<string> {
  const body = { method: 'direct', amount: 4_700, ...more };
  const response = await running.call('POST', '/v1/collections', body);
  return paymentSchema.parse(await response.json()).id;
}

/** The tab of a payment's page in the Web UI whose address ends so. */
async function open(page: Page, tab: string, paymentId = id): Promise<void> {
  await page.goto(`${uiUrl}/namespaces/default/workflows/${paymentId}`);
  await page.locator(`a[href$="${tab}"]`).first().click();
}

/** Returns the page's text. Markdown is in frames of its own. */
async function textOf(page: Page): Promise<string> {
  const texts = page.frames().map((frame) => frame.evaluate('document.body.innerText').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

async function untilStatus(paymentId: string, expected: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const response = await running.call('GET', `/v1/payments/${paymentId}`);
    const { status } = paymentSchema.parse(await response.json());
    if (status === expected) return;
    if (Date.now() > end) throw new Error(`${paymentId} is ${status}, and never ${expected}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function makeTransaction(paymentId: string): Promise<void> {
  const response = await fetch(`${running.stack.sandboxUrl}/direct-pay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      apiuser: 'sandbox-collections',
      apikey: running.secrets.collectionApiKey,
    },
    body: JSON.stringify({ amount: 4_700, phone: '670000000', externalId: paymentId, userId: paymentId }),
  });
  expect(response.status).toBe(200);
}

async function untilShown(page: Page, expected: RegExp): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!expected.test(await textOf(page))) {
    if (Date.now() > end) throw new Error(`the page never shows ${expected}:\n${await textOf(page)}`);
    await page.waitForTimeout(200);
  }
}

/** Counts the px of a frame's last point that its height cuts off; none for a frame without points. */
const CUT_OFF = `[...document.querySelectorAll('li')].slice(-1)
  .map((point) => Math.max(0, Math.ceil(point.getBoundingClientRect().bottom - innerHeight)))`;

/**
 * Until no list of the page's Markdown is cut off at its end, in two readings: a frame gets its height some moments
 * after its text.
 */
async function untilWhole(page: Page): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  const measure = async () => {
    const frames = page.frames().slice(1);
    const cut = await Promise.all(frames.map((frame) => frame.evaluate<number[]>(CUT_OFF).catch(() => [])));
    return cut.flat();
  };
  for (let whole = 0; whole < 2; ) {
    const cut = await measure();
    whole = cut.length > 0 && cut.every((px) => px === 0) ? whole + 1 : 0;
    if (whole === 0 && Date.now() > end) throw new Error(`cut off, in px of each list: ${cut.join(', ')}`);
    await page.waitForTimeout(500);
  }
}

describe("Temporal's Web UI", () => {
  it('of a stack shows an operator the payment, by the codec server', async () => {
    const page = await browser.newPage();
    await open(page, 'history');
    await untilShown(page, DECRYPTED);
    await untilShown(page, /Send the payment/);
    await open(page, 'user-metadata');
    await untilShown(page, new RegExp(TITLE));
    await untilShown(page, /Next question to the provider/);
    await untilWhole(page);
    await page.context().close();
  });

  it('tells of a link that waits to be paid, and more once a worker has begun with it', async () => {
    const page = await browser.newPage();
    const [externalId, userId] = [`order-4701-${'0'.repeat(80)}`, `eloise-${'1'.repeat(80)}`];
    const order = { method: 'link', amount: 4_700, externalId, userId };
    const response = await running.call('POST', '/v1/collections', order);
    const waiting = paymentSchema.parse(await response.json()).id;
    await open(page, 'user-metadata', waiting);
    for (const line of [
      /Collection by link of 4,700 XAF/,
      /Merchant: merchant/,
      /externalId: order-4701-0+/,
      /userId: eloise-1+/,
    ])
      await untilShown(page, line);
    await untilWhole(page);

    await running.call('POST', `/v1/payments/${waiting}/refresh`);
    // The page doesn't load them anew by itself.
    await eventually(
      async () => {
        await open(page, 'user-metadata', waiting);
        return await textOf(page);
      },
      (text) => text.includes('Link ends'),
    );
    for (const line of [
      /Link ends: .*Z/,
      /Next question to the provider/,
      /Can be done: ask the provider now, on the desk/,
    ])
      await untilShown(page, line);
    await untilWhole(page);
    await page.context().close();
  });

  it('shows what came of a paid payment, and what is to be done about one in REVIEW', async () => {
    const page = await browser.newPage();
    const paid = await collect({ phone: '670000000' });
    await untilStatus(paid, 'SUCCESSFUL');
    await open(page, 'user-metadata', paid);
    await untilShown(page, /SUCCESSFUL, final/);
    await untilWhole(page);

    // Somebody makes a second transaction of it.
    await makeTransaction(paid);
    await untilStatus(paid, 'REVIEW');
    await open(page, 'user-metadata', paid);
    await untilShown(page, /To do: decide review 1 on the desk: resend, fail or match/);
    await untilShown(page, /Reason: the provider has another transaction for this payment/);
    await untilWhole(page);
    const links = page.frames().map((frame) => frame.locator(`a[href="${DESK_URL}/desk/payments/${paid}"]`));
    expect(await Promise.all(links.map((link) => link.count()))).toContain(1);
    await page.context().close();
  });

  it("keeps each of the guide's queries as a view, which finds what it says", async () => {
    const page = await browser.newPage();
    const views = await recommendedViews();
    expect(views).toHaveLength(5);
    for (const view of views) await saveView(page, uiUrl, view);
    await page.goto(`${uiUrl}/namespaces/default/workflows`);
    for (const { name, query } of views) {
      const answered = page.waitForResponse((response) => {
        const { pathname, searchParams } = new URL(response.url());
        return pathname.endsWith('/workflows') && searchParams.get('query') === query;
      });
      await page.getByRole('button', { name }).click();
      expect((await answered).status()).toBe(200);
    }
    // The payment that the test above has left.
    const { data } = z
      .object({ data: z.array(paymentSchema) })
      .parse(await (await running.call('GET', '/v1/payments?status=REVIEW')).json());
    expect(data).toHaveLength(1);
    await page.getByRole('button', { name: 'to be decided' }).click();
    await untilShown(page, new RegExp(String(data[0]?.id)));
    expect(await textOf(page)).not.toContain(id);
    await page.context().close();
  });

  it('adds the columns of payments to its list of workflows, and keeps them', async () => {
    const page = await browser.newPage();
    await page.goto(`${uiUrl}/namespaces/default/workflows`);
    await page.getByTestId('workflows-summary-table-configuration-button').click();
    await page.getByText('Custom Search Attributes (not in view)').waitFor();
    const columns = ['PaymentStatus', 'PaymentKind', 'Merchant'];
    for (const name of columns) await page.getByRole('button', { name: `Add ${name} column` }).click();
    await page.goto(`${uiUrl}/namespaces/default/workflows`);
    await untilShown(page, new RegExp(id));
    const headings = await page.locator('th').allInnerTexts();
    expect(headings.map((text) => text.trim())).toEqual(expect.arrayContaining(columns));
    const cells = await page.getByRole('row').filter({ hasText: id }).locator('td').allInnerTexts();
    expect(cells.map((text) => text.trim())).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(CREATED|PENDING)$/), 'collection', 'merchant']),
    );
    await page.context().close();
  });

  it('names the purpose of a local activity when it is clicked', async () => {
    const page = await browser.newPage();
    const paid = await collect({ phone: '670000000' });
    await untilStatus(paid, 'SUCCESSFUL');
    await open(page, 'history', paid);
    // Drawn into the timeline, where a line may lie over it.
    await page.getByText('takeTurn', { exact: true }).first().click({ force: true });
    await page.getByText('Marker Name').first().waitFor();
    await untilShown(page, /Summary\s+Take the turn, and ask the provider what it asks/);
    await page.context().close();
  });

  it('shows nobody else anything of the payment', async () => {
    const context = await browser.newContext();
    // A codec server that isn't there, in place of the one whose address the stack has told it.
    await context.route(`${codecUrl}/**`, (route) => route.abort());
    const page = await context.newPage();
    await open(page, 'history');
    await untilShown(page, /binary\/encrypted|YmluYXJ5L2VuY3J5cHRlZA/);
    const text = await textOf(page);
    for (const value of [TITLE, ...Object.values(payer)]) expect(text).not.toContain(value);
    expect(text).not.toMatch(DECRYPTED);
    await context.close();
  });

  it('that sends credentials shows it to operators who have signed in, in their browser alone', async () => {
    const context = await browser.newContext();
    // What the Web UI keeps of "Configure Remote Codec Server".
    const settings = { endpoint: codecUrl, includeCredentials: true, overrideRemoteCodecConfiguration: true };
    const lines = Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)] as const);
    await context.addInitScript({
      content: lines.map((line) => `localStorage.setItem(${line.map((text) => JSON.stringify(text))});`).join(''),
    });
    const page = await context.newPage();
    await open(page, 'history');
    await untilShown(page, /binary\/encrypted|YmluYXJ5L2VuY3J5cHRlZA/);

    const signIn = await context.newPage();
    await signIn.goto(codecUrl);
    await signIn.getByLabel('API key').fill('not-the-key');
    await signIn.getByRole('button', { name: 'Sign in' }).click();
    await signIn.getByRole('alert').filter({ hasText: 'The API key is unknown.' }).waitFor();
    await signIn.getByLabel('API key').fill(running.secrets.apiKey);
    await signIn.keyboard.press('Enter');
    await signIn.getByText('You are signed in').waitFor();

    await open(page, 'history');
    await untilShown(page, DECRYPTED);

    await signIn.getByRole('button', { name: 'Sign out' }).click();
    await signIn.getByLabel('API key').waitFor();
    await context.close();
  });
});

describe("Temporal's command line", () => {
  const show = async (...more: readonly string[]): Promise<string> => {
    const { path } = await findTemporal({ report: () => undefined });
    const { address } = running.stack.temporal.target;
    const args = ['workflow', 'show', '--address', address, '--workflow-id', id, '--output', 'json', ...more];
    const { stdout } = await promisify(execFile)(path, args, { env: machine() });
    return stdout;
  };

  /** The data of the payloads in a history as JSON. */
  const payloadsIn = (json: string): string =>
    [...json.matchAll(/"data": *"([^"]+)"/g)].map(([, data = '']) => Buffer.from(data, 'base64').toString()).join('\n');

  it('reads the payment with an API key of the scope review', async () => {
    const auth = ['--codec-auth', `Bearer ${running.secrets.apiKey}`];
    const readable = payloadsIn(await show('--codec-endpoint', codecUrl, ...auth));
    expect(readable).toContain(TITLE);
    // Nothing of the payer is in Temporal.
    for (const value of Object.values(payer)) expect(readable).not.toContain(value);
  });

  it('reads nothing without one', async () => {
    const encrypted = await show();
    expect(encrypted).toContain(id);
    for (const value of [TITLE, ...Object.values(payer)]) {
      expect(encrypted).not.toContain(value);
      expect(payloadsIn(encrypted)).not.toContain(value);
    }
    await expect(show('--codec-endpoint', codecUrl)).rejects.toThrow();
  });
});
