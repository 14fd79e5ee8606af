import { refuseNoObject, toTime } from './arguments.js';
import type { RequestOptions, Send } from './transport.js';
import type { EventListParams, EventPage, PaymentEvent } from './types.js';

/** One page when awaited; all events recorded so far when iterated over. */
export type EventList = Promise<EventPage> & AsyncIterable<PaymentEvent>;

/** Lists the merchant's notification events, oldest first. */
export function listEvents(send: Send, params: EventListParams, options: RequestOptions): EventList {
  refuseNoObject('params', params);
  const first = readPage(send, params, options);
  // Anybody who awaits it, or iterates, gets its error: until then, it isn't an unhandled one.
  first.catch(() => undefined);
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<PaymentEvent> {
      let page = await first;
      for (;;) {
        yield* page.data;
        if (!page.hasMore) return;
        page = await readPage(send, { ...params, cursor: page.nextCursor }, options);
      }
    },
  });
}

async function readPage(send: Send, params: EventListParams, options: RequestOptions): Promise<EventPage> {
  const { since, limit, ...filter } = params;
  const query = {
    ...filter,
    since: toTime('since', since),
    limit,
  };
  const request = { method: 'GET', path: '/v1/events', query, changes: 'nothing' } as const;
  return (await send<EventPage>({ ...request, expects: ['data', 'hasMore', 'nextCursor'] }, options)).body;
}
