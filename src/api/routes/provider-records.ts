import { writeAudit } from '../../book/audit.js';
import type { Answered } from '../../engine/provider-looks.js';
import type { ListAnswer, NoAnswer, StatusAnswer } from '../../payments/words/outcome.js';
import { isoTime } from '../../payments/words/time.js';
import { type ProviderRecordsResource, providerRecordsSchema } from '../../schemas/provider.js';
import { authenticatedRoute } from '../route.js';
import { auditedCaller, ownPayment } from './payment-resource.js';

/**
 * Returns the provider's records of a payment, for an operator who would otherwise open the provider's portal.
 */
export const getProviderRecords = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id/provider',
  summary: "The provider's current records of the payment",
  description:
    "For operators. The provider is asked for its list of the payment's transactions and, within the payment's limit on questions, for the status of its own. What is answered changes nothing: a decision is checked with the provider again.",
  operationId: 'getProviderRecords',
  tag: 'Payments',
  responses: {
    200: {
      description: "The provider's answers, or that there were none within 5 seconds.",
      schema: providerRecordsSchema,
    },
  },
  scopes: ['review'],
  async handle(request, context) {
    const { book } = context;
    const found = await ownPayment(context, request);
    await writeAudit(book, { ...auditedCaller(request), did: 'look', target: found.id }, book.now());
    const { list, status } = await context.looks.look(context, found);
    return {
      status: 200,
      json: {
        object: 'provider_records' as const,
        list: viewList(list),
        ...(status !== undefined && { status: viewStatus(status, status.transId) }),
      },
    };
  },
});

function viewList({ answer, at: asOf }: Answered<ListAnswer>): ProviderRecordsResource['list'] {
  const at = { asOf: isoTime(asOf) };
  if (answer.kind === 'listed') {
    return { answer: 'listed', transactions: [...answer.transactions], ...at };
  }
  if (answer.kind === 'refused') {
    return { answer: 'refused', transactions: [], message: answer.message, ...at };
  }
  return { ...noAnswer(answer), transactions: [], ...at };
}

function viewStatus({ answer, at: asOf }: Answered<StatusAnswer>, transId: string): ProviderRecordsResource['status'] {
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
      return { answer: 'throttled', message: whyThrottled(answer) } as const;
    case 'unavailable':
      return { answer: 'unavailable', message: answer.reason } as const;
  }
}

function whyThrottled({ isOurs, retryAfterMs = 0 }: Extract<NoAnswer, { readonly kind: 'throttled' }>): string {
  if (!isOurs) return 'the provider asked to be called less often';
  const seconds = Math.ceil(retryAfterMs / 1_000);
  return `its limit of questions is reached, or it has asked for a pause: look again in ${seconds} seconds`;
}
