import { DBOS } from '@dbos-inc/dbos-sdk';
import express from 'express';
import {
  initiatePay,
  isAuthorized,
  isFinal,
  notifyMerchant,
  type Order,
  paymentStatus,
  setting,
  type Transaction,
} from '../payment-services.ts';

const LINK = 'link';
const NOTIFICATION = 'notification';
const LINK_LIFETIME_S = 24 * 60 * 60;

/** A payment link, from its order to the merchant's notification. */
const payment = DBOS.registerWorkflow(
  async (order: Order): Promise<Transaction['status']> => {
    // Sent once: the provider can't tell a repeated request from a new one.
    const { link, transId } = await DBOS.runStep(() => initiatePay(order), { name: 'initiatePay' });
    await DBOS.setEvent(LINK, link);
    await DBOS.recv(NOTIFICATION, { timeoutSeconds: LINK_LIFETIME_S });
    let transaction = await confirm(transId);
    while (!isFinal(transaction)) {
      await DBOS.sleepSeconds(30);
      transaction = await confirm(transId);
    }
    const told = transaction;
    await DBOS.runStep(() => notifyMerchant(order, told), { name: 'notifyMerchant', ...RETRIED });
    return transaction.status;
  },
  { name: 'payment' },
);

const RETRIED = { retriesAllowed: true, maxAttempts: 10, intervalSeconds: 1 };

const confirm = (transId: string) => DBOS.runStep(() => paymentStatus(transId), { name: 'paymentStatus', ...RETRIED });

DBOS.setConfig({
  name: 'bench-dbos',
  systemDatabaseUrl: setting('DBOS_SYSTEM_DATABASE_URL'),
  systemDatabasePoolSize: 20,
  logLevel: 'warn',
});
await DBOS.launch();

const app = express().disable('x-powered-by').use(express.json());

app.get('/readyz', (_request, response) => {
  response.json({ ready: true });
});

app.post('/v1/collections', async (request, response) => {
  const key = request.get('idempotency-key');
  if (!isAuthorized(request.get('authorization'))) return response.status(401).json({ code: 'unauthorized' });
  if (key === undefined) return response.status(400).json({ code: 'idempotency_key_required' });
  const { amount, externalId, message } = request.body;
  await DBOS.startWorkflow(payment, { workflowID: key })({ id: key, amount, externalId, message });
  const link = await DBOS.getEvent<string>(key, LINK, { timeoutSeconds: 10 });
  if (link === null) return response.status(202).json({ id: key, status: 'CREATED', amount, externalId });
  return response.status(201).json({ id: key, status: 'CREATED', amount, externalId, link });
});

app.post('/webhooks/provider', async (request, response) => {
  await DBOS.send(request.body.externalId, request.body.status, NOTIFICATION);
  response.json({ received: true });
});

const server = app.listen(Number(setting('PORT')), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => void DBOS.shutdown().then(() => process.exit()));
  server.closeAllConnections();
});
