import { z } from 'zod';
import { SERVICES } from '../payments/words/order.js';
import { MEDIUMS, PROVIDER_STATUSES, type Transaction } from '../payments/words/transaction.js';
import { described, schemaOf, time, xaf } from './fields.js';

const noAnswerFields = {
  asOf: described(time, 'The time when the provider was asked'),
  message: described(z.string().optional(), "Why there is no answer, or the provider's own words"),
};

const recordSchema = schemaOf<Omit<Transaction, 'takenBy'>>()({
  transId: z.string(),
  status: z.enum(PROVIDER_STATUSES),
  transType: z.enum(['Collection', 'Payout']).optional(),
  amount: xaf('The amount by the provider').optional(),
  medium: z.enum(MEDIUMS).optional(),
  revenue: xaf("The amount less the provider's fees").optional(),
  reason: z.string().optional(),
  financialTransId: z.string().optional(),
  externalId: described(z.string().optional(), 'The payment that it was made for'),
  userId: z.string().optional(),
}).meta({ id: 'ProviderTransaction', description: "A transaction in the provider's records" });

/** Answers that leave the provider's records unknown. */
const NO_RECORD = ['refused', 'credentials_refused', 'throttled', 'unavailable'] as const;

export const providerRecordsSchema = z
  .object({
    object: z.literal('provider_records'),
    list: z
      .object({
        answer: described(
          z.enum(['listed', ...NO_RECORD]),
          'The result of asking for the list. With any other than `listed`, nothing is known',
        ),
        transactions: described(
          z.array(recordSchema),
          "The transactions that the provider lists under the payment's id. It may list one late",
        ),
        ...noAnswerFields,
      })
      .meta({ id: 'ProviderList' }),
    status: z
      .object({
        answer: described(
          z.enum(['found', 'unknown', ...NO_RECORD]),
          '`unknown`: the provider says that it has no such transaction. With any other answer than `found` or `unknown`, nothing is known',
        ),
        transId: z.string(),
        transaction: recordSchema.optional(),
        ...noAnswerFields,
      })
      .meta({ id: 'ProviderStatus', description: "The payment's own transaction, as old as `asOf` says" })
      .optional(),
  })
  .meta({ id: 'ProviderRecords', description: "The provider's records of a payment" });
export type ProviderRecordsResource = z.output<typeof providerRecordsSchema>;

export const balanceSchema = z
  .object({
    object: z.literal('balance'),
    service: z.enum(SERVICES),
    serviceName: described(z.string(), "The service's name at the provider"),
    balance: described(z.int(), 'In `currency`'),
    currency: z.string(),
    asOf: described(time, 'The time when the provider was asked'),
  })
  .meta({
    id: 'Balance',
  });
