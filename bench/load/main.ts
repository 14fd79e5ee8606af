/* The load process: the provider's stub, the merchant's receiver and the load generator, apart from every system. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { runLoad } from './load-generator.js';
import { MerchantReceiver } from './merchant-receiver.js';
import type { LoadAnswer, LoadOrder, LoadReady } from './messages.js';
import { ProviderStub } from './provider-stub.js';

const { PROVIDER_USER: user = '', PROVIDER_KEY: key = '', WEBHOOK_SECRET: secret = '' } = process.env;
const world = { provider: new ProviderStub({ user, key }), merchant: new MerchantReceiver(secret) };
const send = (message: LoadReady | LoadAnswer) => process.send?.(message);

/** Interval of looking at the event loop, in ms: a delay is the time beyond it. */
const RESOLUTION_MS = 10;

process.on('message', async (order: LoadOrder) => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const result = await runLoad(world, order);
  delay.disable();
  send({ kind: 'answer', result, delayP99: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS) });
});
process.on('disconnect', () => process.exit());

const [provider, merchant] = await Promise.all([world.provider.listen(), world.merchant.listen()]);
send({ kind: 'ready', providerPort: provider.port, merchantPort: merchant.port });
