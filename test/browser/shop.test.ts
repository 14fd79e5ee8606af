import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { readLedger } from '../../stack/demo/ledger.js';
import { isPortFree } from '../../stack/processes/ports.js';
import { freePorts, machine, runToEnd, START_PORTS, startToRun } from '../support/built.js';
import { launchBrowser } from './browser.js';
import { arrive, declineButton, PHONE, payButton, phoneField, visit } from './visit.js';

const SETTINGS = [...START_PORTS, 'SHOP_PORT'] as const;

let browser: Browser;
let folder: string;
let env: NodeJS.ProcessEnv;
let child: ChildProcess;
let shopUrl: string;
let printed: string;

/** Runs the one command, and resolves with what it prints once everything is up. */
async function start(): Promise<string> {
  const started = startToRun('build/cli/main.js', ['shop'], env, folder);
  child = started.child;
  return await started.printed;
}

async function stop(): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  child.kill('SIGINT');
  await once(child, 'exit');
  return child.exitCode;
}

beforeAll(async () => {
  browser = await launchBrowser();
  folder = await mkdtemp(join(tmpdir(), 'sanaga-shop-'));
  env = { ...machine(), ...(await freePorts(SETTINGS)), SANDBOX_SETTLE_DELAY: '300ms' };
  shopUrl = `http://127.0.0.1:${env.SHOP_PORT}`;
  printed = await start();
});

afterAll(async () => {
  await browser?.close();
  if (child !== undefined) await stop();
  await rm(folder, { recursive: true, force: true });
});

const order = async (page: Page, item: string, phone = '677 000 000') => {
  await page.getByLabel(item).check();
  await page.getByLabel('Your mobile number').fill(phone);
  await page.getByRole('button', { name: 'Order' }).click();
  await arrive(page, /^Order \d+$/);
};

/** The owner, with the password that the command has printed. */
const owner = async () => {
  const [, password = ''] = /password: (\S+)\)/.exec(printed) ?? [];
  return visit(browser, `${shopUrl}/admin`, { httpCredentials: { username: 'owner', password } });
};

const payLink = (page: Page) => page.getByRole('link', { name: /^Pay / });
/** The order's page reloads itself until there is news. */
const shows = (page: Page, text: string | RegExp) => page.getByText(text).waitFor();

describe('npm run shop', () => {
  it('prints where the shop is, and refuses a second one and a start in the folder', async () => {
    expect(printed).toContain(`The shop         ${shopUrl} `);
    expect(printed).toContain(`Its orders       ${shopUrl}/admin `);
    const second = await runToEnd('build/cli/main.js', ['shop'], env, folder);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain(`already running in this folder (process ${child.pid})`);
    expect(second.stderr).toContain(shopUrl);
    const alone = await runToEnd('build/cli/main.js', ['start'], env, folder);
    expect(alone.stderr).toMatch(/another process runs on .*\.sanaga/);
  });

  it('sells something, and pays it back', async () => {
    const { page, complaints } = await visit(browser, shopUrl, PHONE);
    await order(page, 'Coffee from the highlands');
    await payLink(page).click();
    await arrive(page, /Pay/);
    expect(new URL(page.url()).origin).toBe(`http://127.0.0.1:${env.SANDBOX_PORT}`);
    await phoneField(page).fill('677000000');
    await payButton(page).tap();

    // Back in the shop, whose page has the order's outcome and nothing of what the address said.
    await shows(page, 'Paid. Thank you!');
    expect(page.url()).toMatch(/\/orders\/[0-9a-f-]+$/);

    const { page: desk, complaints: deskComplaints } = await owner();
    const row = desk.getByRole('row', { name: /Coffee from the highlands/ });
    expect(await row.textContent()).toMatch(/6,000\sXAF.*\spaid/s);
    await row.getByRole('link').click();
    await shows(desk, 'payment.succeeded');
    await desk.getByLabel('Refund in XAF').fill('2500');
    await desk.getByRole('button', { name: 'Refund' }).click();
    await shows(desk, /The refund of 2,500\sXAF has arrived/);
    expect(await desk.getByRole('button', { name: 'Refund' }).count()).toBe(0);

    await page.reload();
    await shows(page, /The refund of 2,500\sXAF has arrived/);
    const ledger = await readLedger(`http://127.0.0.1:${env.SANDBOX_PORT}`);
    expect(ledger.map(({ transaction: { amount, status } }) => ({ amount, status }))).toEqual(
      expect.arrayContaining([
        { amount: 6_000, status: 'SUCCESSFUL' },
        { amount: 2_500, status: 'SUCCESSFUL' },
      ]),
    );
    expect(ledger).toHaveLength(2);
    expect([complaints, deskComplaints]).toEqual([[], []]);
  });

  it('says that nothing is paid to a customer who declined, and takes the payment then', async () => {
    const { page } = await visit(browser, shopUrl);
    await order(page, 'White Penja pepper');
    const address = page.url();
    await payLink(page).click();
    await declineButton(page).click();
    await page.goto(`${address}/return?status=SUCCESSFUL`);
    expect(page.url()).toBe(address);
    await shows(page, "This order isn't paid yet");
    expect(await page.getByText('Paid. Thank you!').count()).toBe(0);
    await payLink(page).click();
    await phoneField(page).fill('677000000');
    await payButton(page).click();
    await shows(page, 'Paid. Thank you!');
  });

  it('has nothing beyond the edge of a phone', async () => {
    const { page } = await visit(browser, shopUrl, PHONE);
    const { page: desk } = await owner();
    await desk.setViewportSize(PHONE.viewport);
    const beyond = (on: Page) => on.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth);
    expect(await beyond(page)).toBe(0);
    await order(page, 'Oku white honey');
    expect(await beyond(page)).toBe(0);
    await desk.reload();
    expect(await beyond(desk)).toBe(0);
    await desk
      .getByRole('row', { name: /Coffee/ })
      .getByRole('link')
      .click();
    await arrive(desk, /^Order/);
    expect(await beyond(desk)).toBe(0);
  });

  it('shows its orders to nobody without the password', async () => {
    const { page } = await visit(browser, `${shopUrl}/admin`);
    expect(await page.getByText('Coffee').count()).toBe(0);
    expect((await fetch(`${shopUrl}/admin`)).status).toBe(401);
  });

  it('stops everything on Ctrl-C, and has its orders after a restart', async () => {
    expect(await stop()).toBe(0);
    const free = await Promise.all(SETTINGS.map((name) => isPortFree(Number(env[name]))));
    expect(free).toEqual(SETTINGS.map(() => true));

    printed = await start();
    const { page } = await owner();
    expect(await page.getByRole('row', { name: /Coffee/ }).textContent()).toContain('has arrived');
    const log = await readFile(join(folder, '.sanaga/logs/shop.log'), 'utf8');
    expect(log.trim()).toMatch(/^shop: http:\S+, for its owner \S+$/);
  });
});
