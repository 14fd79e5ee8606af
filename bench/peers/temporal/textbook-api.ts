import { Client, Connection } from '@temporalio/client';
import express from 'express';
import { isAuthorized, setting } from '../payment-services.ts';
import { getLink, payment, providerNotified } from './textbook-workflows.ts';

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
  const handle = await client.workflow.start(payment, {
    taskQueue,
    workflowId: key,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [{ id: key, amount, externalId, message }],
  });
  const { link } = await handle.executeUpdate(getLink);
  return response.status(201).json({ id: key, status: 'CREATED', amount, externalId, link });
});

app.post('/webhooks/provider', async (request, response) => {
  await client.workflow.getHandle(request.body.externalId).signal(providerNotified);
  response.json({ received: true });
});

const server = app.listen(Number(setting('PORT')), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => void connection.close());
  server.closeAllConnections();
});
