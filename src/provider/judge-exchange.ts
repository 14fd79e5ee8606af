import type { Exchange } from './exchange.js';
import { type Confidential, providerText } from './provider-text.js';
import { errorSchema } from './wire.js';

/**
 * What an exchange amounts to, whatever was asked.
 *
 * - `succeeded`: 2xx; whether its body says what it should is for the question to find out.
 * - `refused`, `unauthorized`: the provider itself said no, in a body of its own form.
 * - `throttled`: 429. `inProvidersForm` tells if the provider itself said so, in its own error body, or perhaps something
 *   in between: a gateway that repeats requests may answer 429 for its second try of one that the provider has taken.
 * - `undecided`: no verdict. `sent` tells if the request may have been taken all the same.
 */
export type Verdict =
  | { readonly kind: 'succeeded'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly message: string; readonly statusCode: number }
  | { readonly kind: 'unauthorized'; readonly message: string; readonly statusCode: number }
  | {
      readonly kind: 'throttled';
      readonly inProvidersForm: boolean;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: 'undecided'; readonly sent: 'no' | 'perhaps'; readonly reason: string };

/**
 * Client errors that speak of the connection's timing (request timeout, too early, client closed request) and not of
 * the request: some gateway's view, behind which the provider may have taken it.
 */
const TIMING_STATUS_CODES: readonly number[] = [408, 425, 499];

/**
 * Reads an exchange by the provider's rules for errors: a refusal is a 4xx whose body holds a message. A 4xx without
 * one comes from something in between, which can't speak for the provider.
 *
 * @param confidential what the provider's message must not show: see {@link providerText}
 */
export function judgeExchange(exchange: Exchange, confidential: Confidential): Verdict {
  if (exchange.kind === 'failed') return { kind: 'undecided', sent: exchange.sent, reason: exchange.reason };
  const { statusCode, body, retryAfterMs } = exchange;
  if (statusCode >= 200 && statusCode <= 299) return { kind: 'succeeded', body };
  const error = errorSchema.safeParse(body);
  if (statusCode === 429) return { kind: 'throttled', inProvidersForm: error.success, retryAfterMs };

  const undecided = {
    kind: 'undecided',
    sent: 'perhaps',
    reason: `the provider answered ${statusCode}`,
  } as const;
  if (statusCode < 400 || statusCode > 499 || TIMING_STATUS_CODES.includes(statusCode)) return undecided;
  if (!error.success) return { ...undecided, reason: `${undecided.reason} with a body that can't be read` };

  const message = providerText(error.data.message, confidential) || 'the provider gave no reason';
  const kind = statusCode === 401 || statusCode === 403 ? 'unauthorized' : 'refused';
  return { kind, message, statusCode };
}
