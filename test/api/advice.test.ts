import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { toProblem } from '../../src/api/engine-problems.js';
import { problemsOf } from '../../src/api/openapi/problems.js';
import { createCollection } from '../../src/api/routes/collections.js';
import { createPayout } from '../../src/api/routes/payouts.js';
import { createRefund } from '../../src/api/routes/refunds.js';
import { KeyReused } from '../../src/engine/errors.js';
import type { PaymentId } from '../../src/payments/words/payment-id.js';
import { PROBLEMS, type ProblemCode } from '../../src/schemas/problems.js';
import { readPages } from '../support/pages.js';

const ANOTHER_KEY = /\b(?:new|another)\s+(?:Idempotency-)?Key\b/i;
/** The payment that was made is looked at before, or is over. */
const LOOKED_AT = /\bfirst\b|\bfinal\b|\bdo(?:n't| not)\b|\bnever\b|\brefused\b/i;

/** The words of each problem of a call that makes a payment. */
const makers = [createCollection, createPayout, createRefund];
const codes = [...new Set(makers.flatMap(problemsOf))];

describe('what a problem advises', () => {
  it.each(Object.keys(PROBLEMS) as ProblemCode[])('pays nothing twice by another key: %s', (code) => {
    const { cause, cure, example } = PROBLEMS[code];
    for (const words of [cause, cure, example]) {
      if (ANOTHER_KEY.test(words)) expect(words).toMatch(LOOKED_AT);
    }
  });

  it.each(codes)('keeps the Idempotency-Key of a payment that is sent again: %s', (code) => {
    const { cure } = PROBLEMS[code];
    const isSentAgain = /\b(?:repeat|again|wait until|wait for|send a smaller)\b/i.test(cure);
    // Without a valid key, no call makes a payment.
    if (isSentAgain && code !== 'too_many_attempts') expect(cure).toMatch(/\bsame (?:Idempotency-Key|key)\b/);
  });

  it.each([false, true])('is to look at the payment that has the key, erased or not (%s)', (isErased) => {
    const problem = toProblem(new KeyReused('pay_17' as PaymentId, isErased));
    expect(problem?.message).toMatch(/the payment pay_17\b.*Look at that first: it may be paid/);
  });
});

describe('what a page advises', () => {
  it('pays nothing twice by another key', async () => {
    const operations = await Promise.all(
      ['deploying', 'kubernetes', 'runbook'].map((name) =>
        readFile(new URL(`../../docs/operations/${name}.md`, import.meta.url), 'utf8'),
      ),
    );
    const texts = [...(await readPages()).map(({ text }) => text), ...operations];
    const advice = texts
      .flatMap((text) => text.split(/\n(?=\n|[-|] |\d+\. )/))
      .filter((part) => /\b(?:new|another)\s+Idempotency-Key\b/i.test(part));
    expect(advice.length).toBeGreaterThan(3);
    expect(advice.filter((part) => !LOOKED_AT.test(part))).toEqual([]);
  });
});
