import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Sanaga } from 'sanaga/client';
import { Payments } from './payments.ts';
import { createShop } from './shop.ts';
import { Store } from './store.ts';

const SWEEP_EVERY_MS = 5 * 60_000;

const say = (line: string) => process.stderr.write(`shop: ${line}\n`);

const { SANAGA_URL, SANAGA_API_KEY, SANAGA_WEBHOOK_SECRET, SHOP_OWNER_PASSWORD } = process.env;
const port = Number(process.env.PORT || 8080);
const shopUrl = process.env.SHOP_URL || `http://127.0.0.1:${port}`;
if (!SANAGA_URL || !SANAGA_API_KEY || !SANAGA_WEBHOOK_SECRET || !SHOP_OWNER_PASSWORD) {
  say('set SANAGA_URL, SANAGA_API_KEY, SANAGA_WEBHOOK_SECRET and SHOP_OWNER_PASSWORD: see README.md');
  process.exit(78);
}

const store = new Store(process.env.SHOP_DATABASE || 'shop.db');
// A customer is waiting: what isn't answered soon is repeated by the sweep.
const sanaga = new Sanaga({ baseUrl: SANAGA_URL, apiKey: SANAGA_API_KEY, timeoutMs: 20_000, maxRetries: 1 });
const payments = new Payments(sanaga, store, shopUrl);
const shop = createShop({
  store,
  payments,
  shopUrl,
  webhookSecret: SANAGA_WEBHOOK_SECRET,
  ownerPassword: SHOP_OWNER_PASSWORD,
});

// Only this machine can connect: in production, put a proxy with TLS in front of it.
const server = createServer(shop).listen(port, '127.0.0.1');
await once(server, 'listening');
say(`${shopUrl}, for its owner ${shopUrl}/admin`);

// As after a crash, the sweep of the next start makes up for what this cuts off.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());

for (;;) {
  await payments.sweep().catch((error: unknown) => say(`will ask Sanaga again later: ${String(error)}`));
  await pause(SWEEP_EVERY_MS);
}
