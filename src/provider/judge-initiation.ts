import type { z } from 'zod';
import type { InitiationOutcome } from '../payments/outcome.js';
import type { Verdict } from './judge-exchange.js';
import { toTransId } from './to-transaction.js';
import type { initiationSchema, linkInitiationSchema } from './wire.js';

/**
 * How an initiating POST ended. Money may move on everything but a refusal and a request that provably never left, so
 * all that is neither, and a success that names no transaction, is ambiguous.
 */
export function judgeInitiation(
  verdict: Verdict,
  schema: typeof initiationSchema | typeof linkInitiationSchema,
): InitiationOutcome {
  switch (verdict.kind) {
    case 'succeeded':
      return readInitiation(verdict.body, schema);
    case 'refused':
      return { kind: 'rejected', message: verdict.message, statusCode: verdict.statusCode };
    case 'unauthorized':
      return verdict;
    case 'throttled':
      return {
        kind: 'notSent',
        reason: 'the provider asked to slow down',
        retryAfterMs: verdict.retryAfterMs,
      };
    case 'undecided':
      return { kind: verdict.sent === 'no' ? 'notSent' : 'ambiguous', reason: verdict.reason };
  }
}

function readInitiation(
  body: unknown,
  schema: z.ZodType<{ transId: string; link?: string }>,
): InitiationOutcome {
  const initiation = schema.safeParse(body);
  if (!initiation.success)
    return { kind: 'ambiguous', reason: "the provider answered 200 with a body that can't be read" };
  const { transId, link } = initiation.data;
  return { kind: 'accepted', transId: toTransId(transId), ...(link !== undefined && { link }) };
}
