import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const INITIATIONS = /^\/(initiate-pay|direct-pay|payout)$/;
const QUESTION = /^\/payment-status\/([^/?]+)$/;

/** Questions about one transaction that the provider takes within a minute. */
const MAX_QUESTIONS = 6;
const WINDOW_MS = 60_000;

/** The provider's requests on the wire. Unlike the ledger, it has those that a fault struck, too. */
export class ProviderTraffic {
  /** Answers to the first request for each payment, by the payment's id. */
  readonly #answers = new Map<string, string>();
  /** Times of the first request for each payment, in ms since the epoch. */
  readonly #firsts = new Map<string, number>();
  /** Requests for each payment that were answered as surely not taken. */
  readonly #refused = new Map<string, number>();
  /** The latest questions about each transaction, in ms since the epoch. */
  readonly #questions = new Map<string, number[]>();
  /** Times at which a transaction was asked about too often, by its id. */
  readonly #tooMany = new Map<string, string[]>();

  /** Records a request that came in at `now` (simulated ms since the epoch). */
  record(request: IncomingMessage, response: ServerResponse, now: () => number): void {
    const { url = '' } = request;
    const transId = QUESTION.exec(url)?.[1];
    if (transId !== undefined) this.#ask(transId, now());
    if (!INITIATIONS.test(url)) return;
    const at = now();
    response.once('close', () => {
      const id = bodyField(request, 'externalId');
      if (id === undefined) return;
      this.#firsts.set(id, Math.min(this.#firsts.get(id) ?? at, at));
      if (isRefusal(response)) this.#refused.set(id, (this.#refused.get(id) ?? 0) + 1);
      if (this.#answers.has(id)) return;
      this.#answers.set(id, `${id} ${url} ${response.writableFinished ? response.statusCode : 'cut'}`);
    });
  }

  /** Returns the time of the first request for a payment, in ms since the epoch. */
  firstOf(id: string): number | undefined {
    return this.#firsts.get(id);
  }

  /** Returns the number of requests for a payment that the provider surely didn't accept, and said so. */
  refused(id: string): number {
    return this.#refused.get(id) ?? 0;
  }

  /** Returns the times at which a transaction was asked about more often than the provider allows. */
  tooManyQuestions(transId: string): readonly string[] {
    return this.#tooMany.get(transId) ?? [];
  }

  /**
   * Digests the provider's answers to the first request for each payment, which the seed's faults decide. Two runs
   * whose payments were answered alike have the same digest. Later requests depend on real time, so two runs needn't
   * agree in them.
   *
   * @param isCounted leaves out a payment whose first request depends on real time
   */
  digest(isCounted: (id: string) => boolean): string {
    return digestOf([...this.#answers].flatMap(([id, answer]) => (isCounted(id) ? [answer] : [])).sort());
  }

  #ask(transId: string, now: number): void {
    const recent = [...(this.#questions.get(transId) ?? []).filter((at) => at > now - WINDOW_MS), now];
    this.#questions.set(transId, recent);
    if (recent.length <= MAX_QUESTIONS) return;
    const what = `${transId} was asked about ${recent.length} times within a minute`;
    this.#tooMany.set(transId, [...(this.#tooMany.get(transId) ?? []), what]);
  }
}

/** Refused credentials, and a 429 of the provider's own: a gateway's page can't speak for it. */
function isRefusal(response: ServerResponse): boolean {
  const { statusCode } = response;
  const isJson = String(response.getHeader('content-type') ?? '').includes('json');
  return response.writableFinished && isJson && (statusCode === 401 || statusCode === 429);
}

/** A short digest of lines, in their order. */
export function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}

/** The last webhook status of each transaction, from the provider's or a forged notification. */
export class LastWebhookStatuses {
  readonly #statuses = new Map<string, string>();

  /** Records the status that a notification carries. */
  record(request: IncomingMessage, response: ServerResponse): void {
    if (!request.url?.startsWith('/webhooks/')) return;
    response.once('close', () => {
      const transId = bodyField(request, 'transId');
      const status = bodyField(request, 'status');
      if (transId !== undefined && status !== undefined) this.#statuses.set(transId, status);
    });
  }

  /** The transaction's last status. */
  readonly of = (transId: string): string | undefined => this.#statuses.get(transId);
}

/** A field of the JSON body that Express has read of a request; `undefined` before, or when there is none. */
function bodyField(request: IncomingMessage, name: string): string | undefined {
  const body: unknown = Reflect.get(request, 'body');
  const json = Buffer.isBuffer(body) ? parse(body.toString()) : body;
  if (typeof json !== 'object' || json === null) return undefined;
  const value: unknown = Reflect.get(json, name);
  return typeof value === 'string' ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
