import { Stopped } from '../../engine/errors.js';
import { viewPayment } from '../../engine/read-payment.js';
import type { UpdateContext } from '../../engine/update-payment.js';
import type { ListAnswer, NoAnswer, StatusAnswer } from '../../payments/words/outcome.js';
import type { Payment } from '../../payments/words/payment.js';
import { isoTime } from '../../payments/words/time.js';
import { type ProviderRecordsResource, providerRecordsSchema } from '../../schemas/provider.js';
import type { Answered, ProviderView } from '../../workflows/messages.js';
import type { ApiContext } from '../context.js';
import { authenticatedRoute } from '../route.js';
import { ownPayment } from './payment-resource.js';

/**
 * Returns the provider's records of a payment, for an operator who would otherwise open the provider's portal. The
 * payment's workflow asks for them, and doesn't act on the answer.
 */
export const getProviderRecords = authenticatedRoute({
  method: 'get',
  path: '/v1/payments/:id/provider',
  summary: "The provider's current records of the payment",
  description:
    "For operators. The payment asks the provider for its list of the payment's transactions and, within its limit on questions, for the status of its own. What is answered changes nothing: a decision is checked with the provider again.",
  operationId: 'getProviderRecords',
  tag: 'Payments',
  responses: {
    200: {
      description: "The provider's answers, or that there were none within 5 seconds.",
      schema: providerRecordsSchema,
    },
  },
  problems: ['too_many_requests'],
  scopes: ['review'],
  async handle(request, context) {
    const found = await ownPayment(context, request);
    const { payment } = await viewPayment(context, found);
    const { list, status } = await lookAt(context, payment);
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

/** Returns the provider's view of the payment, or the reason why it is unknown. */
async function lookAt(
  context: UpdateContext & Pick<ApiContext, 'providerRecords'>,
  { id, transId }: Pick<Payment, 'id' | 'transId'>,
): Promise<ProviderView> {
  let reason = 'no answer within 5 seconds';
  try {
    const view = await context.providerRecords.look(context, id);
    if (view !== undefined) return view;
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    reason = `${error.message}, so it asks nothing: look in the provider's portal`;
  }
  const none = { answer: { kind: 'unavailable', reason }, at: Date.now() } as const;
  return { list: none, status: transId === undefined ? undefined : { ...none, transId } };
}

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
