import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
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

/** A payment link, from its order to the merchant's notification. */
const payment = restate.workflow({
  name: 'payment',
  handlers: {
    async run(ctx: restate.WorkflowContext, order: Order): Promise<Transaction['status']> {
      // Sent once: the provider can't tell a repeated request from a new one.
      const { link, transId } = await ctx.run('initiatePay', () => initiatePay(order), {
        maxRetryAttempts: 1,
      });
      await ctx.promise<string>('link').resolve(link);
      await ctx.promise<string>('notification');
      let transaction = await ctx.run('paymentStatus', () => paymentStatus(transId));
      while (!isFinal(transaction)) {
        await ctx.sleep({ seconds: 30 });
        transaction = await ctx.run('paymentStatus', () => paymentStatus(transId));
      }
      await ctx.run('notifyMerchant', () => notifyMerchant(order, transaction));
      return transaction.status;
    },

    async link(ctx: restate.WorkflowSharedContext): Promise<string> {
      return await ctx.promise<string>('link');
    },

    async providerNotified(ctx: restate.WorkflowSharedContext, status: string): Promise<void> {
      await ctx.promise<string>('notification').resolve(status);
    },
  },
});

await restate.serve({ services: [payment], port: Number(setting('SERVICE_PORT')) });
const ingress = clients.connect({ url: setting('RESTATE_INGRESS_URL') });

const app = express().disable('x-powered-by').use(express.json());

app.get('/readyz', (_request, response) => {
  response.json({ ready: true });
});

app.post('/v1/collections', async (request, response) => {
  const key = request.get('idempotency-key');
  if (!isAuthorized(request.get('authorization'))) return response.status(401).json({ code: 'unauthorized' });
  if (key === undefined) return response.status(400).json({ code: 'idempotency_key_required' });
  const { amount, externalId, message } = request.body;
  const workflow = ingress.workflowClient<typeof payment>({ name: 'payment' }, key);
  await workflow.workflowSubmit({ id: key, amount, externalId, message });
  const link = await workflow.link();
  return response.status(201).json({ id: key, status: 'CREATED', amount, externalId, link });
});

app.post('/webhooks/provider', async (request, response) => {
  const { externalId, status } = request.body;
  await ingress.workflowClient<typeof payment>({ name: 'payment' }, externalId).providerNotified(status);
  response.json({ received: true });
});

const server = app.listen(Number(setting('PORT')), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => process.exit());
  server.closeAllConnections();
});
