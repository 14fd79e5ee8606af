/*
 * Makes the pictures of the README and of Temporal's Web UI from the running thing: `npm start` in another terminal,
 * then `node scripts/pictures.js`.
 */
import './supported-node.js';

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const { launchBrowser } = await import('../test/browser/browser.ts');
const { recommendedViews, saveView } = await import('../test/browser/saved-views.ts');

const ours = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const [state = ours('.sanaga')] = process.argv.slice(2);
const { ports } = JSON.parse(await readFile(`${state}/running.json`, 'utf8'));
const { apiKey: key, collectionApiKey } = JSON.parse(await readFile(`${state}/secrets.json`, 'utf8'));
const [api, sandbox] = [ports.api, ports.sandbox].map((port) => `http://127.0.0.1:${port}`);
const ui = process.env.TEMPORAL_UI_URL ?? 'http://127.0.0.1:8233';
const picture = (name) => ours(`docs/images/${name}.png`);

const browser = await launchBrowser();
try {
  const payment = await collect({
    amount: 12_500,
    externalId: 'order-4711',
    userId: 'client-42',
    message: 'Shoes, size 43',
  });
  const checkout = await browser.newPage({ viewport: { width: 390, height: 780 }, deviceScaleFactor: 2 });
  await checkout.goto(payment.link);
  await checkout.screenshot({ path: picture('checkout') });
  await checkout.getByLabel('Mobile number').fill('677 000 000');
  await checkout.getByRole('button', { name: /^Pay/ }).click();

  const waiting = await collect({ amount: 5_000, externalId: 'order-4712', userId: 'client-7' });
  // Nobody begins with a link before it is opened, asked about or polled.
  await post(`${api}/v1/payments/${waiting.id}/refresh`, {}, { authorization: `Bearer ${key}` });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const operator = await browser.newPage({ viewport: { width: 1280, height: 960 } });
  await show(operator, payment.id, 'web-ui');
  await show(operator, waiting.id, 'web-ui-details', 'user-metadata');
  await operator.setViewportSize({ width: 1280, height: 760 });

  // A payment that is paid, and of which somebody then makes a second transaction.
  await show(operator, payment.id, 'web-ui-paid', 'user-metadata');
  await post(
    `${sandbox}/direct-pay`,
    { amount: 12_500, phone: '677000000', externalId: payment.id, userId: payment.id },
    { apiuser: 'sandbox-collections', apikey: collectionApiKey },
  );
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  await show(operator, payment.id, 'web-ui-review', 'user-metadata');

  const views = await recommendedViews();
  for (const view of views) await saveView(operator, ui, view);
  await operator.getByRole('button', { name: views[0].name }).click();
  await operator.waitForTimeout(3_000);
  await operator.mouse.move(900, 500);
  await operator.mouse.wheel(0, -2_000);
  await operator.waitForTimeout(1_000);
  await operator.screenshot({ path: picture('web-ui-views') });

  // Without the codec server nobody reads anything of it.
  const stranger = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  await stranger.route(`http://127.0.0.1:${ports.codec}/**`, (route) => route.abort());
  await show(stranger, payment.id, 'web-ui-encrypted');
} finally {
  await browser.close();
}

/** A payment's workflow in Temporal's Web UI, at the tab whose address ends so. */
async function show(page, id, name, tab = 'history') {
  await page.goto(`${ui}/namespaces/default/workflows/${id}`);
  await page.locator(`a[href$="${tab}"]`).first().click();
  await page.waitForTimeout(4_000);
  await page.screenshot({ path: picture(name) });
}

function collect(order) {
  return post(`${api}/v1/collections`, { method: 'link', ...order }, { authorization: `Bearer ${key}` });
}

async function post(address, body, headers) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${address} answered ${response.status}: ${await response.text()}`);
  return await response.json();
}
