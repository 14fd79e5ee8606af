import type { ListAnswer, NoAnswer, StatusAnswer } from '../../payments/outcome.js';
import { isoTime } from '../../payments/time.js';
import { readPayment } from '../payments/find-payment.js';
import type { Answered } from '../payments/provider-records.js';
import { type ProviderRecordsResource, providerRecordsSchema } from '../resources.js';
import { authenticatedRoute } from '../route.js';
import { ownPayment } from './payment-resource.js';

/** What an operator would otherwise look up in the provider's portal. The payment itself isn't asked, and doesn't change. */
export const getProviderRecords = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id/provider',
  summary: 'What the provider shows of the payment at this moment',
  description:
    "For operators. The provider is asked for its list of the payment's transactions and, at most once a minute, for the status of the payment's own. What it answers changes nothing: a decision is checked with the provider again.",
  operationId: 'getProviderRecords',
  tag: 'Payments',
  responses: {
    200: {
      description: "The provider's answers, or that there were none within 5 seconds.",
      schema: providerRecordsSchema,
    },
  },
  problems: ['not_found', 'temporarily_unavailable', 'records_unavailable', 'record_unreadable'],
  scopes: ['review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const { payment } = await readPayment(context, found);
    const { transId } = payment;
    const records = context.providerRecords[payment.kind];
    const [list, status] = await Promise.all([
      records.list(payment.id, payment.method === 'direct'),
      transId === undefined ? undefined : records.status(transId),
    ]);
    return {
      status: 200,
      json: {
        object: 'provider_records' as const,
        list: viewList(list),
        ...(status !== undefined && transId !== undefined && { status: viewStatus(status, transId) }),
      },
    };
  },
});

function viewList({ answer, asOf }: Answered<ListAnswer>): ProviderRecordsResource['list'] {
  const at = { asOf: isoTime(asOf) };
  if (answer.kind === 'listed') {
    return { answer: 'listed', transactions: [...answer.transactions], ...at };
  }
  if (answer.kind === 'refused') {
    return { answer: 'refused', transactions: [], message: answer.message, ...at };
  }
  return { ...noAnswer(answer), transactions: [], ...at };
}

function viewStatus(
  { answer, asOf }: Answered<StatusAnswer>,
  transId: string,
): ProviderRecordsResource['status'] {
  const about = { transId, asOf: isoTime(asOf) };
  if (answer.kind === 'found') return { answer: 'found', transaction: answer.transaction, ...about };
  if (answer.kind === 'unknown') return { answer: 'unknown', message: answer.message, ...about };
  return { ...noAnswer(answer), ...about };
}

function noAnswer(answer: NoAnswer) {
  switch (answer.kind) {
    case 'unauthorized':
      return { answer: 'credentials_refused', message: answer.message } as const;
    case 'throttled':
      return { answer: 'throttled', message: 'the provider asked to be called less often' } as const;
    case 'unavailable':
      return { answer: 'unavailable', message: answer.reason } as const;
  }
}
