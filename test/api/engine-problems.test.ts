import { describe, expect, it } from '@jest/globals';
import { toProblem } from '../../src/api/engine-problems.js';
import { BookUnavailable } from '../../src/book/database.js';
import { SealBroken } from '../../src/book/seals.js';
import * as engine from '../../src/engine/errors.js';
import { HTTP_PROBLEMS, Problem } from '../../src/http/problem.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';

const id = 'col_0' as PaymentId;
const cause = new Error('no connection');

/** Each error of the engine, with its answer. */
const answers: readonly (readonly [engine.EngineError, number, string, RegExp, object])[] = [
  [new engine.Unavailable(undefined, cause), 503, 'temporarily_unavailable', /^Payments can't be read or changed/, {}],
  [
    new engine.StartUncertain(id, true, cause),
    503,
    'temporarily_unavailable',
    /never pays twice\.$/,
    { paymentId: id },
  ],
  [
    new engine.StartUncertain(id, false, cause),
    503,
    'temporarily_unavailable',
    /\/v1\/payments\/col_0/,
    { paymentId: id },
  ],
  [new engine.KeyReused(id, false), 409, 'idempotency_key_reused', /with another body/, { paymentId: id }],
  [new engine.KeyReused(id, true), 409, 'idempotency_key_reused', /was erased since/, { paymentId: id }],
  [new engine.PaymentNotFound(), 404, 'not_found', /^This API key has no payment/, {}],
  [new engine.NotRefundable(), 409, 'not_refundable', /^Only a collection that is SUCCESSFUL/, {}],
  [new engine.MoreThanRefundable(), 422, 'more_than_refundable', /^The collection has less left/, {}],
  [new engine.TooManyNotifications(1_200), 429, 'too_many_notifications', /^Too many notifications\./, {}],
  [
    new engine.AmountTooLarge(1_000),
    400,
    'invalid_request',
    /^amount must be at most/,
    { errors: [{ field: 'amount', message: 'must be at most 1,000 XAF' }] },
  ],
  [
    new engine.DailyLimitReached(500, 400, 0, false),
    422,
    'daily_limit_reached',
    /400 XAF have been ordered today\. The next day begins at 1970-01-01T23:00:00\.000Z\.$/,
    {},
  ],
  [
    new engine.DailyLimitReached(500, 400, Date.UTC(2026, 10, 26, 23), true),
    422,
    'daily_limit_reached',
    /400 XAF have been ordered for 2026-11-27\. Date this one to another day: the next begins at 2026-11-27T23:00/,
    {},
  ],
];

describe("an error of the engine's", () => {
  it.each(answers)('%p is answered %i %s', (error, status, code, detail, extras) => {
    const problem = toProblem(error);
    expect(problem).toMatchObject({ status, code, message: expect.stringMatching(detail) });
    expect(
      Object.fromEntries(Object.entries(problem?.extras ?? {}).filter(([, value]) => value !== undefined)),
    ).toEqual(extras);
  });

  it('says when to try again, where it helps', () => {
    expect(toProblem(new engine.Unavailable())?.headers).toEqual({ 'Retry-After': '5' });
    expect(toProblem(new engine.TooManyNotifications(1_200))?.headers).toEqual({ 'Retry-After': '2' });
  });

  it('is logged with what has caused it', () => {
    expect(toProblem(new engine.Unavailable(undefined, cause))?.cause).toBe(cause);
    const keyless = new SealBroken('states col_0 1 needs the encryption key "old"');
    expect(toProblem(keyless)?.cause).toBe(keyless);
  });

  it('of the book, too: one that is away, and a payment that it can not open', () => {
    expect(toProblem(new BookUnavailable('away', false))).toMatchObject({
      status: 503,
      code: 'temporarily_unavailable',
    });
    expect(toProblem(new SealBroken('no key'))).toMatchObject({ status: 500, code: 'record_unreadable' });
  });
});

it('leaves problems as they are, and mistakes to the log', () => {
  const problem = new Problem('rate_limited', HTTP_PROBLEMS.rate_limited, 'Slower.');
  expect(toProblem(problem)).toBe(problem);
  expect(toProblem(new Error('a mistake'))).toBeUndefined();
});
