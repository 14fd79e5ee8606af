import type { PaymentEventType } from '../../payments/words/payment.js';
import { paymentEventSchema } from '../../schemas/notification.js';
import { exampleOfWebhook } from './example-payments.js';
import { shown } from './examples.js';
import type { JsonObject, SchemaComponents } from './schema-components.js';

const EVENTS: Readonly<Record<PaymentEventType, string>> = {
  'payment.succeeded': 'The payment is SUCCESSFUL',
  'payment.refunded': 'A refund has arrived: the payment is SUCCESSFUL, and `refundOf` names its collection',
  'payment.failed': 'The payment is FAILED and final',
  'payment.expired': 'The link is EXPIRED',
  'payment.attempt_failed': 'The payer of a link tried to pay and failed; they can try again',
  'payment.held': 'The payout waits for an approval, or for its date, before it is sent',
  'payment.review':
    'An operator has to look into the payment; an outcome follows. After an outcome, it means that this outcome is in doubt again',
};

/** The tag of no call: generators make a file of each tag's calls, which one of its webhooks would replace. */
export const WEBHOOKS_TAG = 'Webhooks';

const WEBHOOK_HEADERS = [
  {
    name: 'webhook-id',
    description: 'The same for every attempt: remember the ids that you have processed',
    schema: { type: 'string' },
    example: 'evt_col_2775d55233b9d4be2a8db3491967ed92_succeeded_1',
  },
  {
    name: 'webhook-timestamp',
    description: 'The time of this attempt, in seconds since 1970',
    schema: { type: 'integer' },
    example: 1_795_249_234,
  },
  {
    name: 'webhook-signature',
    description:
      'Signatures of `{webhook-id}.{webhook-timestamp}.{body}` by HMAC-SHA256, separated by spaces. While the secret is being changed there are two: one valid signature is enough',
    schema: { type: 'string' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
].map((header) => ({ ...header, in: 'header', required: true }));

export function describeWebhooks(schemas: SchemaComponents): Record<string, JsonObject> {
  const events = Object.entries(EVENTS) as [PaymentEventType, string][];
  return Object.fromEntries(
    events.map(([type, summary]) => [
      type,
      {
        post: {
          operationId: type.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          summary,
          description:
            'Sent to your webhook address in the format of [Standard Webhooks](https://www.standardwebhooks.com). Verify the signature of the raw body. What you do not acknowledge within 5 seconds is sent again, for 72 hours.',
          tags: [WEBHOOKS_TAG],
          security: [],
          parameters: WEBHOOK_HEADERS,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: schemas.use(paymentEventSchema(type), 'response'),
                examples: shown(exampleOfWebhook(type)),
              },
            },
          },
          responses: {
            '2XX': { description: 'You have taken it.' },
            default: { description: 'Anything else, also a redirect: it is sent again.' },
          },
        },
      },
    ]),
  );
}
