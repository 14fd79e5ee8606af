import type { Response } from 'express';
import { type EndpointResponse, LOW_BALANCE } from '../endpoints/endpoint.js';
import type { ResponseFault } from './fault-rule.js';
import { type AnswerForm, sendAnswer } from './odd-forms.js';

/** A reply to a client. Delays are real time, since a client waits in real time whatever the sandbox's clock. */
export type Reply =
  | { readonly kind: 'json'; readonly response: EndpointResponse; readonly delayMs: number }
  | { readonly kind: 'oddForm'; readonly response: EndpointResponse; readonly form: AnswerForm }
  | {
      readonly kind: 'text';
      readonly status: number;
      readonly type: string;
      readonly text: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  /** No response; the connection is held. */
  | { readonly kind: 'silence'; readonly holdMs: number }
  /** A TCP reset. */
  | { readonly kind: 'reset' };

const htmlPage = (status: number) =>
  `<!doctype html><html><head><title>${status}</title></head><body><h1>${status} ${
    status === 429 ? 'Too many requests' : 'Bad gateway'
  }</h1></body></html>\n`;

const gatewayReply = (status: number, headers?: Readonly<Record<string, string>>): Reply => ({
  kind: 'text',
  status,
  type: 'text/html',
  text: htmlPage(status),
  headers,
});

const retryAfterHeader = (seconds: number | undefined) =>
  seconds === undefined ? undefined : { 'retry-after': String(seconds) };

export const jsonReply = (response: EndpointResponse, delayMs = 0): Reply => ({
  kind: 'json',
  response,
  delayMs,
});

/** A 200 with an invalid body. */
function garbageReply(form: 'html' | 'truncated' | 'wrongShape' | 'empty', { body }: EndpointResponse): Reply {
  const texts = {
    html: { type: 'text/html', text: htmlPage(200) },
    truncated: { type: 'application/json', text: JSON.stringify(body).slice(0, -10) },
    wrongShape: { type: 'application/json', text: JSON.stringify({ ok: 'yes', data: [null] }) },
    empty: { type: 'application/json', text: '' },
  };
  return { kind: 'text', status: 200, ...texts[form] };
}

/**
 * The reply to a request when a fault applies. `respond` processes the request: faults "before commit" don't call it,
 * so nothing happens at the provider; the effects of the others stand.
 */
export function faultyReply(fault: ResponseFault, respond: () => EndpointResponse): Reply {
  switch (fault.fault) {
    case 'timeoutBeforeCommit':
    case 'questionTimeout':
      return { kind: 'silence', holdMs: fault.holdMs };
    case 'timeoutAfterCommit':
      respond();
      return { kind: 'silence', holdMs: fault.holdMs };
    case 'errorBeforeCommit':
      return gatewayReply(fault.status);
    case 'errorAfterCommit':
      respond();
      return gatewayReply(fault.status);
    case 'resetBeforeCommit':
      return { kind: 'reset' };
    case 'resetAfterCommit':
      respond();
      return { kind: 'reset' };
    case 'garbage':
      return garbageReply(fault.body, respond());
    case 'oddForm':
      return { kind: 'oddForm', response: respond(), form: fault.form };
    case 'slow':
      return jsonReply(respond(), fault.delayMs);
    case 'throttle': {
      const headers = retryAfterHeader(fault.retryAfter);
      return jsonReply({ status: 429, body: { message: 'Too many requests' }, headers });
    }
    case 'gatewayThrottleBeforeCommit':
      return gatewayReply(429, retryAfterHeader(fault.retryAfter));
    case 'gatewayThrottleAfterCommit':
      respond();
      return gatewayReply(429, retryAfterHeader(fault.retryAfter));
    case 'wrongCredentials':
      return jsonReply({ status: 401, body: { message: 'apiuser or apikey is invalid' } });
    case 'lowBalance':
      return jsonReply({
        status: 400,
        body: { message: LOW_BALANCE },
      });
  }
}

/** Sends replies, and tracks the ones it delays on purpose, so that closing can cut them off. */
export class ReplySender {
  readonly #delayed = new Set<Response>();

  send(response: Response, reply: Reply): void {
    switch (reply.kind) {
      case 'json': {
        const { status, headers = {}, body } = reply.response;
        const send = () => response.status(status).set(headers).json(body);
        if (reply.delayMs === 0) send();
        else this.#after(reply.delayMs, response, send);
        return;
      }
      case 'oddForm': {
        const { status, headers = {}, body } = reply.response;
        sendAnswer(response.status(status).set(headers), JSON.stringify(body), reply.form);
        return;
      }
      case 'text':
        response
          .status(reply.status)
          .set(reply.headers ?? {})
          .type(reply.type)
          .send(reply.text);
        return;
      case 'silence':
        this.#after(reply.holdMs, response, () => response.destroy());
        return;
      case 'reset':
        response.socket?.resetAndDestroy();
    }
  }

  /** Cuts off every request whose reply is delayed. */
  close(): void {
    for (const response of this.#delayed) response.destroy();
  }

  #after(delayMs: number, response: Response, run: () => void): void {
    // A client that has hung up already is told nothing, and its `close` event is over.
    if (response.destroyed) return;
    const timer = setTimeout(() => {
      this.#delayed.delete(response);
      run();
    }, delayMs);
    this.#delayed.add(response);
    response.once('close', () => {
      clearTimeout(timer);
      this.#delayed.delete(response);
    });
  }
}
