import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyField } from './request-body.js';

/** What the provider's notifications said last of each transaction, true or not. */
export class Hearsay {
  readonly #statuses = new Map<string, string>();

  /** Listens to a notification. */
  listenTo(request: IncomingMessage, response: ServerResponse): void {
    if (!request.url?.startsWith('/webhooks/')) return;
    response.once('close', () => {
      const transId = bodyField(request, 'transId');
      const status = bodyField(request, 'status');
      if (transId !== undefined && status !== undefined) this.#statuses.set(transId, status);
    });
  }

  /** The status that was claimed last. */
  readonly of = (transId: string): string | undefined => this.#statuses.get(transId);
}
