import type { z } from 'zod';
import type { InitiationOutcome } from '../payments/outcome.js';
import type { Verdict } from './judge-exchange.js';
import { toTransId } from './to-transaction.js';
import type { initiationSchema, linkInitiationSchema } from './wire.js';

/**
 * How an initiating POST ended. Money may move after everything but a refusal, a 429 in the provider's own form, and a
 * request that provably never left. So everything else, and a success that names no transaction, is ambiguous.
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
      return verdict.inProvidersForm
        ? {
            kind: 'throttled',
            reason: 'the provider asked to slow down',
            retryAfterMs: verdict.retryAfterMs,
          }
        : { kind: 'ambiguous', reason: "the provider answered 429 with a body that can't be read" };
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
