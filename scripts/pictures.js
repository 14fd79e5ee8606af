/* Makes the README's pictures from the running thing: `npm start` in another terminal, then `node scripts/pictures.js API_KEY`. */
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../test/browser/browser.ts';

const [key, api = 'http://127.0.0.1:3000', ui = 'http://127.0.0.1:8233'] = process.argv.slice(2);
const picture = (name) => fileURLToPath(new URL(`../docs/images/${name}.png`, import.meta.url));

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
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const operator = await browser.newPage({ viewport: { width: 1280, height: 960 } });
  await show(operator, payment.id, 'web-ui');
  await operator.setViewportSize({ width: 1280, height: 760 });
  await show(operator, waiting.id, 'web-ui-details', 'user-metadata');
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

async function collect(order) {
  const response = await fetch(`${api}/v1/collections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'link', ...order }),
  });
  return await response.json();
}
