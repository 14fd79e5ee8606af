/*
 * Makes the pictures of the desk in docs/operators.md from the running thing. With
 * `AMBIGUOUS_GRACE=18s PROVIDER_TIMEOUT=3s npm start` in another terminal: `node scripts/desk-pictures.js`.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../test/browser/browser.ts';

const ours = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const [state = ours('.sanaga'), pictures = ours('docs/images')] = process.argv.slice(2);
const { ports } = JSON.parse(await readFile(`${state}/running.json`, 'utf8'));
const { apiKey: key, payoutApiKey } = JSON.parse(await readFile(`${state}/secrets.json`, 'utf8'));
const [api, desk, sandbox] = [ports.api, ports.desk, ports.sandbox].map((port) => `http://127.0.0.1:${port}`);

// A payout that the provider never took, and one for which somebody made a transaction by hand, of another amount.
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
await post(
  `${sandbox}/payout`,
  { amount: 15_800, phone: '699000000', externalId: wrong.id, userId: wrong.id },
  { apiuser: 'sandbox-payouts', apikey: payoutApiKey },
);
await untilReview(missing.id);
await untilReview(wrong.id);

const browser = await launchBrowser();
try {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${desk}/desk`);
  await page.getByLabel('Your API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await take(page, 'desk-queue', 1_100, 620);
  await page.goto(`${desk}/desk/payments/${wrong.id}`);
  await take(page, 'desk-payment', 1_100, 1_000);
  await page
    .getByRole('link', { name: /^Match \w{10,}/ })
    .first()
    .click();
  await page.getByLabel('Why').fill('Ticket 4711: made by hand in the portal, the rest follows');
  await page.getByRole('button', { name: 'Go on' }).click();
  await take(page, 'desk-confirm', 640, 900);
  await page.getByRole('button', { name: 'Match it' }).click();
  await take(page, 'desk-overrule', 640, 1_250);

  const phone = await browser.newContext({
    colorScheme: 'dark',
    javaScriptEnabled: false,
    storageState: await context.storageState(),
  });
  const small = await phone.newPage();
  await small.goto(`${desk}/desk/payments/${missing.id}`);
  await take(small, 'desk-phone', 390, 844);
} finally {
  await browser.close();
}

async function take(page, name, width, height) {
  await page.setViewportSize({ width, height });
  await page.screenshot({ path: `${pictures}/${name}.png` });
}

/** A payout whose request never reaches the provider, without anybody being told. */
async function payOut(order) {
  await post(`${sandbox}/_sandbox/faults`, { fault: 'resetBeforeCommit', endpoint: 'payout' });
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': `${order.externalId}-${Date.now()}` };
  return await post(`${api}/v1/payouts`, order, headers);
}

async function untilReview(id) {
  for (let tries = 0; tries < 120; tries++) {
    const response = await fetch(`${api}/v1/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });
    if ((await response.json()).status === 'REVIEW') return;
    await pause(1_000);
  }
  throw new Error(`${id} didn't go to REVIEW: is AMBIGUOUS_GRACE short enough?`);
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
