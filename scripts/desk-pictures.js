/*
 * Makes the pictures of the desk in docs/operators.md from the running thing, which it starts in a folder of its own
 * and stops: `npm run build && node scripts/desk-pictures.js`. The ports of `npm start` must be free.
 *
 * With `--statement` it makes that of a statement, too, for which the day has to end in Douala (at 23:00 UTC), and then
 * to settle for a quarter of an hour: start it before, in the same hour.
 */
import './supported-node.js';

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { dayOf } = await import('../build/src/payments/words/time.js');
const { launchBrowser } = await import('../test/browser/browser.ts');

const ours = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { values, positionals } = parseArgs({
  options: { statement: { type: 'boolean' } },
  allowPositionals: true,
});
const [pictures = ours('docs/images')] = positionals;

const [shop, ruth, paul] = Array.from({ length: 3 }, () => randomBytes(24).toString('base64url'));
const folder = await mkdtemp(join(tmpdir(), 'desk-pictures-'));
const started = spawn(process.execPath, [ours('build/cli/main.js'), 'start'], {
  cwd: folder,
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    ...process.env,
    API_KEYS: `shop:${shop}:collections+payouts+read,ruth:${ruth}:read+review,paul:${paul}:read+review`,
    SECOND_PERSON_ABOVE: '100000',
    AMBIGUOUS_GRACE: '18s',
    PROVIDER_TIMEOUT: '3s',
  },
});
try {
  await takePictures(await running());
} finally {
  if (started.exitCode === null) {
    started.kill('SIGINT');
    await once(started, 'exit');
  }
  await rm(folder, { recursive: true });
}

/** The ports of the running parts, when all of them are up. */
async function running() {
  while (started.exitCode === null) {
    const text = await readFile(join(folder, '.sanaga/running.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text).ports;
    await pause(500);
  }
  throw new Error(`start ended with ${started.exitCode}`);
}

async function takePictures(ports) {
  const { payoutApiKey } = JSON.parse(await readFile(join(folder, '.sanaga/secrets.json'), 'utf8'));
  const [api, desk, sandbox] = [ports.api, ports.desk, ports.sandbox].map((port) => `http://127.0.0.1:${port}`);

  // A payout that the provider never took, and two for which somebody made a transaction by hand, of another amount.
  const missing = await payOut({
    amount: 43_000,
    phone: '677000000',
    userId: 'ann-4',
    externalId: 'salary-117',
  });
  const wrong = await payOut({
    amount: 18_500,
    phone: '699000000',
    userId: 'joe-9',
    externalId: 'refund-2041',
  });
  await makeByHand(wrong.id, { amount: 15_800, phone: '699000000' });
  const large = await payOut({
    amount: 240_000,
    phone: '677000000',
    userId: 'eve-2',
    externalId: 'supplier-88',
  });
  await makeByHand(large.id, { amount: 200_000, phone: '677000000' });
  for (const { id } of [missing, wrong, large]) await untilReview(id);

  const browser = await launchBrowser();
  try {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await signedIn(context, ruth);
    await take(page, 'desk-queue', 1_100, 760);
    await chooseMatch(page, wrong, 'desk-payment');
    await take(page, 'desk-confirm', 640, 900);
    await page.getByRole('button', { name: 'Match it' }).click();
    await take(page, 'desk-overrule', 640, 1_250);
    await page.goto(`${desk}/desk/deliveries`);
    await take(page, 'desk-deliveries', 1_100, 760);

    await chooseMatch(page, large);
    await page.getByRole('button', { name: 'Match it' }).click();
    const second = await signedIn(await browser.newContext({ javaScriptEnabled: false }), paul);
    await second.goto(`${desk}/desk/payments/${large.id}`);
    await take(second, 'desk-two-people', 1_100, 620);

    const phone = await browser.newContext({
      colorScheme: 'dark',
      javaScriptEnabled: false,
      storageState: await context.storageState(),
    });
    const small = await phone.newPage();
    await small.goto(`${desk}/desk/payments/${missing.id}`);
    await take(small, 'desk-phone', 390, 844);
    if (values.statement) await takeStatement();
  } finally {
    await browser.close();
  }

  /** A payout whose request never reaches the provider, without anybody being told. */
  async function payOut(order) {
    await post(`${sandbox}/_sandbox/faults`, { fault: 'resetBeforeCommit', endpoint: 'payout' });
    const headers = { authorization: `Bearer ${shop}`, 'idempotency-key': order.externalId };
    return await post(`${api}/v1/payouts`, order, headers);
  }

  /** Makes a transfer by hand in the provider's portal, for a payout. */
  async function makeByHand(id, transfer) {
    const credentials = { apiuser: 'sandbox-payouts', apikey: payoutApiKey };
    await post(`${sandbox}/payout`, { ...transfer, externalId: id, userId: id }, credentials);
  }

  /** The statement of today, as soon as there can be one. */
  async function takeStatement() {
    const today = dayOf(Date.now());
    for (const [amount, externalId] of [
      [12_000, 'order-1041'],
      [7_500, 'order-1042'],
    ]) {
      const order = { method: 'direct', amount, phone: '677000000', userId: 'ann-4', externalId };
      await post(`${api}/v1/collections`, order, { authorization: `Bearer ${shop}` });
    }
    // What nobody here knows of.
    await makeByHand('refund-by-hand', { amount: 9_900, phone: '699000000' });
    while (dayOf(Date.now()) === today) await pause(5_000);
    const page = await signedIn(await browser.newContext({ javaScriptEnabled: false }), ruth);
    await page.goto(`${desk}/desk/statements/${today}`);
    await page.getByRole('button', { name: 'Make it now' }).click();
    const isThere = page.getByText('The files have every payment.');
    while ((await isThere.count()) === 0) {
      await pause(10_000);
      await page.getByRole('link', { name: 'Look again' }).click();
    }
    await take(page, 'desk-statement', 1_100, 1_500);
  }

  async function untilReview(id) {
    const headers = { authorization: `Bearer ${shop}` };
    for (let tries = 0; tries < 120; tries++) {
      const response = await fetch(`${api}/v1/payments/${id}`, { headers });
      if ((await response.json()).status === 'REVIEW') return;
      await pause(1_000);
    }
    throw new Error(`${id} didn't go to REVIEW within two minutes`);
  }

  async function signedIn(context, key) {
    const page = await context.newPage();
    await page.goto(`${desk}/desk`);
    await page.getByLabel('Your API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    return page;
  }

  /** Chooses to match a payment with a transfer made for it, up to the confirmation. */
  async function chooseMatch(page, { id }, picture) {
    await page.goto(`${desk}/desk/payments/${id}`);
    if (picture !== undefined) await take(page, picture, 1_100, 1_000);
    await page
      .getByRole('link', { name: /^Match \w{10,}/ })
      .first()
      .click();
    await page.getByLabel('Why').fill('Ticket 4711: made by hand in the portal, the rest follows');
    await page.getByRole('button', { name: 'Go on' }).click();
  }
}

async function take(page, name, width, height) {
  await page.setViewportSize({ width, height });
  await page.screenshot({ path: `${pictures}/${name}.png` });
}

async function post(address, body, headers = {}) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${address} answered ${response.status}: ${await response.text()}`);
  return await response.json();
}
