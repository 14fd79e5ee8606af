import type { IncomingMessage, ServerResponse } from 'node:http';
import { digestOf } from '../digest-of.js';
import { bodyField } from './request-body.js';

const INITIATIONS = /^\/(initiate-pay|direct-pay|payout)$/;

/**
 * How the provider answered the first request for each payment, on the wire: what the faults, drawn by the seed, made of
 * it. Later requests depend on real time (how long something took), so that two runs needn't agree in them.
 */
export class FirstAnswers {
  readonly #answers = new Map<string, string>();

  /** Watches a request to the provider. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const { url = '' } = request;
    if (!INITIATIONS.test(url)) return;
    response.once('close', () => {
      const id = bodyField(request, 'externalId');
      if (id === undefined || this.#answers.has(id)) return;
      this.#answers.set(id, `${id} ${url} ${response.writableFinished ? response.statusCode : 'cut'}`);
    });
  }

  /** The same for two runs whose payments were answered alike. */
  digest(): string {
    return digestOf([...this.#answers.values()].sort());
  }
}
