import { Client, Connection } from '@temporalio/client';
import express from 'express';
import { initiatePay, isAuthorized, setting } from '../payment-services.ts';

const connection = await Connection.connect({ address: setting('TEMPORAL_ADDRESS') });
const client = new Client({ connection, namespace: setting('TEMPORAL_NAMESPACE') });
const taskQueue = setting('TEMPORAL_TASK_QUEUE');

const app = express().disable('x-powered-by').use(express.json());

app.get('/readyz', (_request, response) => {
  response.json({ ready: true });
});

app.post('/v1/collections', async (request, response) => {
  const key = request.get('idempotency-key');
  if (!isAuthorized(request.get('authorization'))) return response.status(401).json({ code: 'unauthorized' });
  if (key === undefined) return response.status(400).json({ code: 'idempotency_key_required' });
  const { amount, externalId, message } = request.body;
  const order = { id: key, amount, externalId, message };
  const link = await initiatePay(order);
  // The first task waits for the notification, which brings it forward: until then there is nothing to do.
  const start = { taskQueue, workflowId: key, startDelay: '24 hours', args: [order, link] } as const;
  await client.workflow.start('payment', start);
  return response.status(201).json({ id: key, status: 'CREATED', amount, externalId, link: link.link });
});

app.post('/webhooks/provider', async (request, response) => {
  await client.workflow.signalWithStart('payment', {
    taskQueue,
    workflowId: request.body.externalId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    signal: 'providerNotified',
  });
  response.json({ received: true });
});

const server = app.listen(Number(setting('PORT')), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => void connection.close());
  server.closeAllConnections();
});
