import type { Answer } from '../answer.js';
import type { AnswerFault } from './fault-rule.js';

/** How a request ends on the wire. Delays are real time: a client waits in real time, whatever the sandbox's clock. */
export type Ending =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly delayMs: number }
  | {
      readonly kind: 'text';
      readonly status: number;
      readonly type: string;
      readonly text: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly kind: 'silence'; readonly holdMs: number }
  | { readonly kind: 'reset' };

const page = (status: number) =>
  `<!doctype html><html><head><title>${status}</title></head><body><h1>${status} ${
    status === 429 ? 'Too many requests' : 'Bad gateway'
  }</h1></body></html>\n`;

/** A page of a gateway's. */
const gateways = (status: number, headers?: Readonly<Record<string, string>>): Ending => ({
  kind: 'text',
  status,
  type: 'text/html',
  text: page(status),
  headers,
});

const retryAfterHeader = (seconds: number | undefined) =>
  seconds === undefined ? undefined : { 'retry-after': String(seconds) };

const plain = (answer: Answer): Ending => ({ kind: 'answer', answer, delayMs: 0 });

/** A 200 that can't be read as what it should be. */
function unreadable(form: 'html' | 'truncated' | 'wrongShape' | 'empty', { body }: Answer): Ending {
  const texts = {
    html: { type: 'text/html', text: page(200) },
    truncated: { type: 'application/json', text: JSON.stringify(body).slice(0, -10) },
    wrongShape: { type: 'application/json', text: JSON.stringify({ ok: 'yes', data: [null] }) },
    empty: { type: 'application/json', text: '' },
  };
  return { kind: 'text', status: 200, ...texts[form] };
}

/**
 * Ends a request as a fault would have it. "Before commit" faults never ask for the answer, so nothing happens at
 * the provider; the others do, and what they did stands.
 */
export function spoilAnswer(fault: AnswerFault, answer: () => Answer): Ending {
  switch (fault.fault) {
    case 'timeoutBeforeCommit':
    case 'questionTimeout':
      return { kind: 'silence', holdMs: fault.holdMs };
    case 'timeoutAfterCommit':
      answer();
      return { kind: 'silence', holdMs: fault.holdMs };
    case 'errorBeforeCommit':
      return gateways(fault.status);
    case 'errorAfterCommit':
      answer();
      return gateways(fault.status);
    case 'resetBeforeCommit':
      return { kind: 'reset' };
    case 'resetAfterCommit':
      answer();
      return { kind: 'reset' };
    case 'garbage':
      return unreadable(fault.body, answer());
    case 'slow':
      return { kind: 'answer', answer: answer(), delayMs: fault.delayMs };
    case 'throttle': {
      const headers = retryAfterHeader(fault.retryAfter);
      return plain({ status: 429, body: { message: 'Too many requests' }, headers });
    }
    case 'gatewayThrottleBeforeCommit':
      return gateways(429, retryAfterHeader(fault.retryAfter));
    case 'gatewayThrottleAfterCommit':
      answer();
      return gateways(429, retryAfterHeader(fault.retryAfter));
    case 'wrongCredentials':
      return plain({ status: 401, body: { message: 'apiuser or apikey is invalid' } });
    case 'lowBalance':
      return plain({
        status: 400,
        body: { message: 'The balance of the service is too low for this payout' },
      });
  }
}
