import express, { Router } from 'express';
import { z } from 'zod';
import { Refusal, readBody, unknownTransaction } from '../answer.js';
import { faultRuleSchema } from '../faults/fault-rule.js';
import { wireTransaction } from '../wire-transaction.js';
import { type Books, ledgerPage, ledgerQuery } from './ledger-page.js';

const settleSchema = z.object({
  status: z.enum(['SUCCESSFUL', 'FAILED']),
  reason: z.string().max(200).optional(),
});

/**
 * What only a sandbox has, under `/_sandbox`, with no credentials: its ledger to read, its pending transactions to
 * settle, its faults to order. Never to be put on a public address.
 */
export function operatorApi(books: Books): Router {
  const { ledger, faults } = books;
  const router = Router();
  const json = express.json({ limit: '100kb' });

  router.get('/ledger', (request, response) => {
    response.json(ledgerPage(ledgerQuery.parse(request.query), books));
  });

  router.post('/transactions/:transId/settle', json, (request, response) => {
    const { status, reason } = readBody(settleSchema, request.body);
    const entry = ledger.find(String(request.params.transId));
    if (entry === undefined) throw unknownTransaction();
    if (!ledger.settle(entry, status, reason)) {
      throw new Refusal(409, `Only a PENDING transaction can be settled; this one is ${entry.status}`);
    }
    response.json(wireTransaction(entry));
  });

  router.get('/faults', (_request, response) => {
    response.json({ faults: faults.list(), totals: Object.fromEntries(faults.totals) });
  });
  router.post('/faults', json, (request, response) => {
    const { id, rule, hits } = faults.add(readBody(faultRuleSchema, request.body));
    response.status(201).json({ id, rule, hits });
  });
  router.delete('/faults', (_request, response) => {
    faults.clear();
    response.status(204).end();
  });
  router.delete('/faults/:id', (request, response) => {
    if (!faults.remove(Number(request.params.id))) throw new Refusal(404, 'id: no such fault in force');
    response.status(204).end();
  });
  return router;
}
