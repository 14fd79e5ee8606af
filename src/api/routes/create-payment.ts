import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import { z } from 'zod';
import { refuseBeyondLimits } from '../../engine/payout-limits.js';
import { startPayment } from '../../engine/start-payment.js';
import type { Caller } from '../../http/auth.js';
import { ApiError, invalidRequest } from '../../http/problem.js';
import { derivePaymentId, randomPaymentId } from '../../payments/words/derive-payment-id.js';
import { IDENTIFIER_PATTERN, MINIMUM_AMOUNT } from '../../payments/words/limits.js';
import type { PaymentOrder } from '../../payments/words/order.js';
import type { PaymentId, PaymentKind } from '../../payments/words/payment-id.js';
import { MAX_EMAIL_LENGTH, nineDigits, readEmail } from '../../provider/contact.js';
import { MAX_METADATA_BYTES } from '../../temporal/limits.js';
import { PLAIN_LINE } from '../../text/visible-text.js';
import type { ApiContext, AuthenticatedRequest, ResponseOf } from '../route.js';
import { paymentSchema } from '../schemas/payment.js';
import { viewerOf } from './payment-resource.js';

/** What collections and payouts have in common: fields, the Idempotency-Key, and the response. */

/** Characters of a message or a name: as many as a phone or a receipt can show. */
const MAX_TEXT_LENGTH = 200;

const MAX_METADATA = { pairs: 50, name: 40, value: 500 } as const;

/** What is said of text that isn't {@link PLAIN_LINE}. */
export const NOT_PLAIN = 'must not contain line breaks or other control characters';

/**
 * Text of one line, without spaces at its ends. Characters are counted as people do, and JSON Schema does, not in
 * units of UTF-16.
 */
export const textOf = (maxLength: number) =>
  z
    .string()
    .regex(PLAIN_LINE, { error: NOT_PLAIN, abort: true })
    .regex(/[^\s\ufeff]/, { error: 'must not be empty', abort: true })
    .trim()
    .refine((given) => [...given].length <= maxLength, `must have at most ${maxLength} characters`)
    .meta({ maxLength });

const text = textOf(MAX_TEXT_LENGTH);

/** The message for a wrong value, and `is required` for a missing one. */
const orRequired = (message: string) => (issue: { readonly input?: unknown }) =>
  issue.input === undefined ? 'is required' : message;

/** In XAF. The provider has a minimum; it documents no maximum. */
export const amount = z
  .int({
    error: (issue) =>
      typeof issue.input === 'string'
        ? 'must be a whole number of XAF, without quotes'
        : orRequired('must be a whole number of XAF')(issue),
  })
  .min(MINIMUM_AMOUNT, `must be at least ${MINIMUM_AMOUNT} XAF`)
  .describe('In XAF, which has no smaller unit');

/** An identifier of the merchant's own. It matches the pattern that the provider has for identifiers. */
export const identifier = z
  .string()
  .regex(IDENTIFIER_PATTERN, 'must have 1 to 100 characters of a-z, A-Z, 0-9, "-" and "_"');

/**
 * The merchant's identifier of its customer. It can't be a payment's id, because the provider's records are searched by
 * payment ids.
 */
const userId = identifier
  .regex(/^(?!(?:col|pay)_.)/, "must not look like a payment's id: col_… and pay_… are reserved")
  .describe(
    "Your own identifier of the customer, returned with the payment. It can't be the customer's phone number, name or e-mail address",
  );

/** Sent to the provider with the domain in ASCII. */
const email = z
  .string({ error: orRequired('must be an e-mail address') })
  .max(MAX_EMAIL_LENGTH, { error: `must have at most ${MAX_EMAIL_LENGTH} characters`, abort: true })
  .meta({ format: 'email' })
  .transform(orInvalid(readEmail, 'must be an e-mail address'));
export const name = text;

/** Characters of a phone number, as people write it. */
const MAX_PHONE_LENGTH = 40;

/**
 * A Cameroonian mobile number, as people write and copy it. Parsed into the provider's form: nine digits.
 *
 * @example phone.parse('+237 6 77-00-00-00') // '677000000'
 */
export const phone = z
  .string()
  .max(MAX_PHONE_LENGTH, { error: `must have at most ${MAX_PHONE_LENGTH} characters`, abort: true })
  .meta({
    examples: ['677000000'],
    // What is read besides, a pattern can't say: full-width digits, invisible marks.
    pattern: '^[ ().-]*(?:(?:(?:\\+|00)[ ().-]*)?2[ ().-]*3[ ().-]*7[ ().-]*)?6(?:[ ().-]*[0-9]){8}[ ().-]*$',
  })
  .transform(
    orInvalid(nineDigits, 'must be a Cameroonian mobile number: nine digits beginning with 6, with or without +237'),
  );

/** The value that a text is read as; where there is none, the field is wrong. */
function orInvalid(read: (text: string) => string | undefined, message: string) {
  return (given: string, context: z.core.$RefinementCtx): string => {
    const value = read(given);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
}

/** The merchant's own data, returned unchanged. The provider doesn't get it. */
const metadata = z
  .record(z.string(), z.string())
  .superRefine((pairs, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const entries = Object.entries(pairs);
    if (entries.length > MAX_METADATA.pairs) refuse([], `must have at most ${MAX_METADATA.pairs} pairs`);
    for (const [key, value] of entries) {
      if (key === '' || [...key].length > MAX_METADATA.name) {
        refuse([key], `must have a name of 1 to ${MAX_METADATA.name} characters`);
      }
      if ([...value].length > MAX_METADATA.value) {
        refuse([key], `must have at most ${MAX_METADATA.value} characters`);
      }
    }
    if (Buffer.byteLength(JSON.stringify(pairs)) > MAX_METADATA_BYTES) {
      refuse([], `must have at most ${MAX_METADATA_BYTES} bytes as JSON: send less, or a reference to it`);
    }
  })
  // The same in JSON Schema, which can't be made from a function.
  .meta({
    description: `Your own data, returned with the payment: up to ${MAX_METADATA.pairs} strings, and ${MAX_METADATA_BYTES} bytes as JSON. The provider doesn't get it`,
    examples: [{ cart: '17' }],
    maxProperties: MAX_METADATA.pairs,
    propertyNames: { type: 'string', minLength: 1, maxLength: MAX_METADATA.name },
    additionalProperties: { type: 'string', maxLength: MAX_METADATA.value },
  })
  .default({});

/** Fields that every order has, besides its amount. */
export const orderFields = {
  email: email.optional().describe('Where the provider sends the receipt'),
  userId: userId.optional(),
  externalId: identifier
    .optional()
    .describe(
      "Your own identifier of the payment, returned with it. It can't be the payer's phone number, name or e-mail address",
    ),
  message: text.optional().describe('What the payment is for'),
  metadata,
};

/**
 * A key as a string of structured fields (RFC 9651), which the draft of the header asks for: in quotes, with escapes.
 */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/** HTTP takes spaces at either end away. In quotes or without them, a key is the same. */
export const idempotencyKey = z
  .string()
  .max(512, { abort: true })
  .transform((given) => QUOTED.exec(given)?.[1]?.replace(/\\(.)/g, '$1') ?? given)
  .pipe(z.string().regex(/^[!-~](?:[ -~]{0,253}[!-~])?$/))
  .meta({
    description:
      'A different key for each payment that you want to make: 1 to 255 printable ASCII characters, with or without quotes around them. Repeating a request with the same key never pays twice: it returns the payment that the first request created, as it is now',
    pattern: '^[!#-~](?:[ -~]{0,253}[!-~])?$',
    examples: ['order-1001'],
  });

const location = ['Location'] as const;

/** The responses to a request for a payment. */
export const creationResponses = {
  201: {
    description: 'The provider has accepted the payment.',
    headers: location,
    schema: paymentSchema,
  },
  200: {
    description: 'An earlier request with this Idempotency-Key created the payment, which is returned as it is now.',
    headers: ['Location', 'Idempotent-Replayed'],
    schema: paymentSchema,
  },
  202: {
    description:
      "The provider hasn't answered within 10 seconds, or the payment can't be sent yet. Sanaga continues: read the payment later, or wait for the notification.",
    headers: location,
    optionalHeaders: ['Idempotent-Replayed'],
    schema: paymentSchema,
  },
} as const;

/** Codes of the problems that requests for a payment have in common. */
export const creationProblems = [
  'idempotency_key_reused',
  'rejected_by_provider',
  'temporarily_unavailable',
  'records_unavailable',
  'record_unreadable',
] as const;

/**
 * Creates a payment. Responds with 201 for a new payment, with 200 for one that an earlier request created, and with
 * 202 if the provider has not answered in time.
 *
 * @throws {ApiError} `rejected_by_provider` with the provider's message, `idempotency_key_reused`,
 * `idempotency_key_required`, `invalid_idempotency_key`, `invalid_request` for identifiers that name a person and
 * beyond the merchant's limits, `daily_limit_reached`, `temporarily_unavailable`, `records_unavailable`,
 * `record_unreadable`.
 */
export async function createPayment<Body>(
  kind: PaymentKind,
  toOrder: (id: PaymentId, body: Body) => PaymentOrder,
  { caller, body, record, headers: headersOf }: AuthenticatedRequest<Body, unknown>,
  context: ApiContext,
): Promise<ResponseOf<typeof creationResponses>> {
  const { owner } = caller;
  const { id, repeatable } = choosePaymentId(kind, owner, headersOf('idempotency-key'));
  record.paymentId = id;
  const order = toOrder(id, body);
  refusePersonalIds(order);
  await refuseBeyondLimits(context, caller, order);
  const started = await startPayment(withTermsFor(order, context, caller), {
    order,
    owner,
    fingerprint: fingerprint(body),
    httpRequestId: record.id,
    repeatable,
  });

  const json = viewerOf(context, caller, owner)(started.payment);
  const headers = {
    Location: `/v1/payments/${id}`,
    ...(started.isRepeated && { 'Idempotent-Replayed': 'true' }),
  };
  switch (started.kind) {
    case 'started':
      return { status: started.isRepeated ? 200 : 201, headers, json };
    case 'undecided':
      return { status: 202, headers, json };
    case 'rejected':
      throw new ApiError('rejected_by_provider', started.rejection, { headers, payment: json });
  }
}

/** The payment keeps its merchant's limit as it is now: a later one is for new payments. */
function withTermsFor(order: PaymentOrder, context: ApiContext, { limits }: Caller): ApiContext {
  const { secondPersonAbove } = limits;
  if (order.kind !== 'payout' || secondPersonAbove === undefined) return context;
  return { ...context, terms: { ...context.terms, secondPersonAbove } };
}

/**
 * Keeps the payer's or the recipient's phone number, name and e-mail address out of the merchant's identifiers.
 * Payments can be searched for by these, so that they are the one part of an order that isn't encrypted in Temporal. Of
 * a link's payer neither the number nor the name is known: what can be nothing else than somebody's number is kept out,
 * too.
 *
 * @throws {ApiError} `invalid_request` with an error for each identifier that has one of them.
 */
function refusePersonalIds(order: PaymentOrder): void {
  const { phone = '', name = '' } = order.kind === 'link' ? {} : order;
  const { email = '' } = order;
  const [mailbox = ''] = email.split('@');
  const isPhone = (id: string) => (phone !== '' && id.includes(phone)) || MOBILE_NUMBER.test(id);
  // Of an address in another script than Latin, nothing may be left.
  const address = bare(email);
  const isEmail = (id: string) => id !== '' && (id === bare(mailbox) || (address !== '' && id.includes(address)));
  const isName = (id: string) => bare(name) !== '' && id === bare(name);
  const errors = (['externalId', 'userId'] as const).flatMap((field) => {
    const id = bare(order[field] ?? '');
    const what = isPhone(id) ? 'phone number' : isEmail(id) ? 'e-mail address' : isName(id) ? 'name' : undefined;
    const message = `must not be somebody's ${what}: identifiers are stored so that they can be searched for, and everything about a person is encrypted. Send one that says nothing by itself`;
    return what === undefined ? [] : [{ field, message }];
  });
  if (errors.length > 0) throw invalidRequest(errors);
}

/** A mobile number of Cameroon's with its country code; without it, nine digits may be anything. */
const MOBILE_NUMBER = /^(00)?2376\d{8}$/;

/** Letters and digits alone, as an identifier may be made of a name or an address. */
function bare(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/**
 * The id of a new payment: derived from the owner and the Idempotency-Key; random for a collection without a key. A
 * payout needs one. A key can be used once for each kind of payment.
 *
 * @param keys the value of each Idempotency-Key header. Two are refused: joined with a comma, as HTTP allows, they
 * would be a third key, and the payment could be created again with either of them
 * @returns the id, and whether repeating the request leads to the same id
 * @throws {ApiError} `idempotency_key_required`, `invalid_idempotency_key`.
 */
function choosePaymentId(
  kind: PaymentKind,
  owner: string,
  keys: readonly string[],
): { readonly id: PaymentId; readonly repeatable: boolean } {
  const [key, ...more] = keys;
  if (key === undefined) {
    if (kind === 'payout') throw keyRequired();
    return { id: randomPaymentId(kind), repeatable: false };
  }
  if (more.length > 0) {
    throw new ApiError('invalid_idempotency_key', 'Send only one Idempotency-Key header.');
  }
  const parsed = idempotencyKey.safeParse(key);
  if (!parsed.success) {
    throw new ApiError(
      'invalid_idempotency_key',
      `An Idempotency-Key must have 1 to 255 printable ASCII characters, and no space at its ends. This one has ${key.length} characters.`,
    );
  }
  return { id: derivePaymentId(kind, owner, parsed.data), repeatable: true };
}

const keyRequired = (): ApiError =>
  new ApiError(
    'idempotency_key_required',
    "Send an Idempotency-Key that is new for each payout, such as your order's id. Without one, a payout whose answer " +
      'is lost could only be repeated at the risk of paying twice.',
  );

/**
 * SHA-256 (hex) of a parsed body. Bodies with the same meaning have the same fingerprint, whatever the order of their
 * fields or the spaces in a phone number.
 */
export function fingerprint(body: unknown): string {
  return createHash('sha256')
    .update(stringify(body) ?? '')
    .digest('hex');
}
