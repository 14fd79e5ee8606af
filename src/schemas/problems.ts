import { HTTP_PROBLEMS } from '../http/problem.js';

/**
 * The codes of the API's problem documents: status and title, the cause and the cure (both in Markdown), and an example
 * of the detail. Codes are stable: programs act on them.
 */
export const PROBLEMS = {
  invalid_request: {
    ...HTTP_PROBLEMS.invalid_request,
    cause:
      "a field or parameter is missing, unknown, repeated or has a value that isn't allowed, or there is a body where none is taken; `errors` has each one",
    cure: 'correct the fields or parameters in `errors`',
    example: 'amount must be at least 100 XAF',
  },
  malformed_json: {
    ...HTTP_PROBLEMS.malformed_json,
    cause: 'the body is empty, cut off, not UTF-8, or not JSON; `detail` says where',
    cure: 'send JSON in UTF-8',
    example: 'The body is not valid JSON: see line 1, column 17.',
  },
  idempotency_key_required: {
    status: 400,
    title: 'A payout needs an Idempotency-Key',
    cause: 'a payout was sent without an Idempotency-Key',
    cure: 'send an Idempotency-Key with every payout',
    example:
      "Send an Idempotency-Key that is new for each payout, such as your order's id. Without one, a payout whose answer is lost could only be repeated at the risk of paying twice.",
  },
  invalid_idempotency_key: {
    status: 400,
    title: 'The Idempotency-Key is not valid',
    cause: 'the header is empty, too long, was sent twice, has other characters, or another name',
    cure: 'send one header `Idempotency-Key` of 1 to 255 printable ASCII characters',
    example: 'Send only one Idempotency-Key header.',
  },
  unauthenticated: {
    ...HTTP_PROBLEMS.unauthenticated,
    cause:
      'there is no API key in `Authorization: Bearer …`, or it is unknown: mistyped, removed, or of another installation',
    cure: 'send a valid API key',
    example: 'The API key is unknown.',
  },
  forbidden: {
    ...HTTP_PROBLEMS.forbidden,
    cause:
      "the API key is valid, but doesn't have the scope that this call needs, or approves or rejects another merchant's payout",
    cure: 'use a key with the scope, or of the merchant, that `detail` names',
    example: 'Use an API key with the scope payouts.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    cause: "the address doesn't exist, or the payment doesn't, or it belongs to another merchant",
    cure: 'check the address and the id; the payment must be your own',
    example: 'This API key has no payment with this id.',
  },
  no_such_notification: {
    status: 404,
    title: 'The payment has no such notification',
    cause: 'the payment has no notification with this number',
    cure: "check the number against the list of the payment's notifications",
    example: 'The payment has no notification with this number.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    cause: "the address exists, and doesn't have this method",
    cure: 'use a method in the header `Allow`',
    example: 'This address allows only POST.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used for another request',
    cause: 'this Idempotency-Key was used for a request with another body',
    cure: 'read the payment in `paymentId` first: it may be paid. If it is the one that you mean, pay nothing: what is sent corrected, with another key, is paid besides it, unless it is FAILED or EXPIRED and `final`. Only a payment that is to be made besides it takes another key',
    example:
      'This Idempotency-Key was used with another body, by the payment pay_428b1c9a6c0e4d7f8a1b2c3d4e5f6071. Look at that first: it may be paid, and another key would pay besides it.',
  },
  not_a_link: {
    status: 409,
    title: 'Only a payment link can be expired once it was sent',
    cause: "a direct collection was to be ended, and its request has reached the payer's phone, or may have",
    cure: "wait for the outcome: a direct collection can't be ended",
    example: "The request was sent to the payer's phone, or may have been sent: it can't be withdrawn any more.",
  },
  not_expirable: {
    status: 409,
    title: "The payment can't be expired",
    cause:
      'a link was to be ended that was paid, or has failed for good, has been paid according to a notification that the provider has yet to confirm, or is in REVIEW',
    cure: 'see `payment`, which has its status; read it again in a few minutes if it is not `final`',
    example: 'The payment is SUCCESSFUL and can no longer be expired.',
  },
  not_initiated: {
    status: 409,
    title: 'The provider has not confirmed the payment yet',
    cause: "it isn't known yet whether the provider has accepted the payment",
    cure: 'try again in a moment',
    example: 'The provider has not confirmed the payment yet. Try again in a moment.',
  },
  not_cancelable: {
    status: 409,
    title: 'The payout can no longer be cancelled',
    cause: 'a payout was to be withdrawn that was sent, may have been, or has ended',
    cure: 'see `payment`, and wait for its outcome',
    example: 'The payout was sent: the provider has accepted it.',
  },
  same_person: {
    status: 403,
    title: 'Another person has to approve the payout',
    cause: "a payout was to be approved by the person who ordered it, or nobody's key is known to have ordered it",
    cure: 'have another person approve it, with a key of their own. Two keys of one person are one person',
    example: 'Ann has ordered the payout: another person has to approve it.',
  },
  digest_mismatch: {
    status: 409,
    title: 'The digest is that of another payout',
    cause: "an approval didn't repeat the `held.digest` of the payout that it was sent to",
    cure: 'read the payment, see what it is, and approve it with its own digest',
    example: 'The digest is that of another payout than this one of 150,000 XAF: read the payment again.',
  },
  not_held: {
    status: 409,
    title: 'The payout is not held',
    cause:
      'a payout was to be approved or rejected that was released already, has ended, or was never held; or approved that waits for its date alone',
    cure: 'see `payment`. What was released, and was not sent yet, can be cancelled',
    example: 'The payout was released already, at 2026-11-21T09:20:11.482Z.',
  },
  not_under_review: {
    status: 409,
    title: 'The payment is not under review',
    cause: "a decision was sent about a payment that isn't in REVIEW",
    cure: 'operators only: see `payment`; there is nothing to decide',
    example: 'The payment is SUCCESSFUL: there is nothing to decide. Refresh it to check its outcome again.',
  },
  resolution_refused: {
    status: 409,
    title: 'The decision was refused',
    cause:
      "the provider's records contradict the decision or can't be read, it came too early, the review has changed since, or it is your own that waits for a second person",
    cure: 'operators only: see `detail` for the reason, and `payment` for the review as it is now; `force`, if it is there, has what the decision would have to overrule',
    example: 'Transaction ntLE9hHMsiKRMFBw already belongs to the payment pay_428b1c9a6c0e4d7f8a1b2c3d4e5f6071.',
  },
  not_refundable: {
    status: 409,
    title: "The collection can't be refunded",
    cause:
      'a collection was to be refunded that is not SUCCESSFUL: it has no outcome yet, has failed, or is in REVIEW; or it has 100 refunds',
    cure: 'see its status, in `payment` for keys that may read it; refund it once it is SUCCESSFUL. After 100 refunds, read what is `refundable` first, and pay that out once, by `POST /v1/payouts`: no sum of refunds counts it',
    example: 'The payment is REVIEW: only a collection that is SUCCESSFUL can be refunded.',
  },
  refundable_mismatch: {
    status: 409,
    title: 'Another amount can be refunded than was expected',
    cause:
      'the `expectedRefundable` of a refund differs from what can be refunded: somebody else has refunded meanwhile',
    cure: 'look at `collected`, `refunded`, `refunding` and `refundable`, and at the refunds, before you send another',
    example:
      'Another amount can be refunded than you expected. Of 5,000 XAF, 2,000 XAF were refunded and 0 XAF are being refunded: 3,000 XAF can be refunded.',
  },
  body_too_large: {
    ...HTTP_PROBLEMS.body_too_large,
    cause: 'the body has more than 64 KiB',
    cure: 'send at most 64 KiB',
    example: 'A body may have at most 65536 bytes.',
  },
  unsupported_media_type: {
    ...HTTP_PROBLEMS.unsupported_media_type,
    cause: "the body isn't declared as JSON, or its `Content-Encoding` is unknown",
    cure: 'send `Content-Type: application/json`',
    example: 'Send a JSON object with "Content-Type: application/json".',
  },
  rejected_by_provider: {
    status: 422,
    title: 'The provider rejected the payment',
    cause: 'the provider refused the payment, for example for an insufficient balance. The payment is FAILED',
    cure: "see `detail` for the provider's message. Nothing was paid: once `payment` is `final`, a corrected order takes another Idempotency-Key, which is this attempt's own, such as `wages-77-2`",
    example: 'Insufficient balance',
  },
  daily_limit_reached: {
    status: 422,
    title: "The payouts of the day have reached the merchant's limit",
    cause: 'the payout would exceed what the merchant may pay out in a day',
    cure: 'nothing was made: with the same Idempotency-Key, send a smaller payout, wait until the time in `detail`, or date it to another day',
    example: 'Payouts of a day may amount to 2,000,000 XAF at most. The next day begins at 2026-11-21T23:00:00.000Z.',
  },
  more_than_refundable: {
    status: 422,
    title: 'The refund is more than is left to refund',
    cause:
      'a refund is more than was collected, less what was refunded or may still be; a rest of less than 100 XAF counts as nothing',
    cure: 'nothing was made: send at most `refundable`, with the same Idempotency-Key. What a failed refund took can be refunded once it is certain that nothing was sent',
    example:
      "4,000 XAF can't be refunded. Of 5,000 XAF, 2,000 XAF were refunded and 0 XAF are being refunded: 3,000 XAF can be refunded.",
  },
  phone_required: {
    status: 422,
    title: 'The refund needs a phone number',
    cause:
      "the collection was paid by a link without `refundTo`, or its payer's data was erased, and no `phone` was sent",
    cure: "send `phone`; the refund then waits for another person's approval",
    example:
      "It isn't known which number the money came from: send `phone`. The refund then waits for another person's approval.",
  },
  rate_limited: {
    ...HTTP_PROBLEMS.rate_limited,
    cause:
      'the API key made too many requests in a minute, or has too many in progress or waiting, or the merchant has so many that the turn of this one did not come in time. Nothing was done',
    cure: 'repeat after `Retry-After`, with the same Idempotency-Key, and make fewer requests, or fewer at the same time',
    example: 'This API key may make 6000 requests a minute. Try again after the time in Retry-After.',
  },
  too_many_attempts: {
    ...HTTP_PROBLEMS.too_many_attempts,
    cause: 'many requests without a valid API key came from this address',
    cure: 'wait for as long as `Retry-After` says, and send a valid API key',
    example:
      'Too many requests without a valid API key came from this address. Try again after the time in Retry-After.',
  },
  too_many_notifications: {
    status: 429,
    title: 'Too many notifications',
    cause: "more of the provider's notifications came within a minute than are passed on",
    cure: "only for the provider's notifications",
    example: 'Too many notifications. Send this one again after the time in Retry-After.',
  },
  internal_error: {
    ...HTTP_PROBLEMS.internal_error,
    cause: 'a mistake in Sanaga. It was logged, with the `requestId`',
    cure: 'repeat with the same Idempotency-Key; if it persists, give your operator the `requestId`',
    example: 'An internal error occurred. It was logged with this requestId.',
  },
  record_unreadable: {
    status: 500,
    title: "The record can't be read",
    cause:
      "there is such a payment, or such a statement, but its record can't be decrypted or is damaged. The payment was made, and may have been paid",
    cure: "don't pay by other means or with another Idempotency-Key: give your operator the `paymentId`, and repeat with the same key once the record can be read",
    example:
      "There was such a payment, and it may have been paid, but its record can't be read. Don't pay it again: tell your operator.",
  },
  provider_refused: {
    status: 502,
    title: 'The provider refused the request',
    cause: 'the provider refused to tell the balance, for example because of wrong credentials',
    cure: 'only for balances: see `detail`, and tell your operator',
    example: 'The provider refused the request for the balance: Invalid credentials',
  },
  temporarily_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    cause:
      "Sanaga's database or Temporal doesn't answer. A payment that was ordered isn't made then, unless the answer says that it may have been",
    cure: 'repeat after `Retry-After`, with the same Idempotency-Key',
    example: "Payments can't be read or changed at the moment. Try again shortly.",
  },
  provider_unavailable: {
    status: 503,
    title: 'The provider is temporarily unavailable',
    cause: "the provider didn't answer",
    cure: "only for balances and operators' checks of a final payment: repeat after `Retry-After`",
    example: 'The provider did not answer. Try again shortly.',
  },
} as const satisfies Record<string, { status: number; title: string; cause: string; cure: string; example: string }>;
export type ProblemCode = keyof typeof PROBLEMS;
