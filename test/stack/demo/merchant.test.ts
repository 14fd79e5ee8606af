import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  createMerchant,
  type MerchantHook,
  type MerchantOptions,
  openMerchantHook,
  type PaymentAnswer,
  type ReceivedWebhook,
} from '../../../stack/demo/merchant.js';
import { payment } from './sample-rows.js';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

const created: PaymentAnswer = { ...payment, status: 'CREATED', final: false };

describe('the merchant', () => {
  let server: Server;
  const requests: { method: string; path: string; headers: IncomingMessage['headers']; body: unknown }[] = [];

  afterEach(() => {
    requests.splice(0);
    server.close();
    server.closeAllConnections();
  });

  /** A merchant of an API that gives these answers, one after the other, the last one again and again. */
  async function merchantOf(answers: readonly Answer[], options: Partial<MerchantOptions> = {}) {
    const left = [...answers];
    server = createServer(async (request, response) => {
      const body = request.headers['content-length'] === undefined ? undefined : await json(request);
      requests.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
      });
      const [answer] = left.length > 1 ? left.splice(0, 1) : left;
      response.writeHead(answer?.status ?? 500, answer?.headers);
      response.end(JSON.stringify(answer?.body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    return createMerchant({
      apiUrl: `http://127.0.0.1:${port}`,
      apiKey: 'key',
      nextNotification: never,
      ...options,
    });
  }

  const never = () => new Promise<never>(() => undefined);

  it('asks for a payment with its key and an Idempotency-Key', async () => {
    const merchant = await merchantOf([{ status: 201, body: created }]);
    expect(await merchant.create('/v1/collections', { amount: 500 }, 'order 1')).toEqual(created);
    expect(requests).toEqual([
      expect.objectContaining({ method: 'POST', path: '/v1/collections', body: { amount: 500 } }),
    ]);
    expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer key', 'idempotency-key': 'order 1' });
  });

  it("says in the API's words why it was refused", async () => {
    const problem = { code: 'invalid_request', detail: 'amount must be at least 100 XAF' };
    const merchant = await merchantOf([{ status: 400, body: problem }]);
    await expect(merchant.create('/v1/payouts', {}, 'order 1')).rejects.toThrow(
      'the API answered 400, invalid_request: amount must be at least 100 XAF',
    );
    expect(requests).toHaveLength(1);
  });

  it('asks again with the same key when the API is not available for a moment', async () => {
    const away = {
      status: 503,
      body: { code: 'temporarily_unavailable', detail: '' },
      headers: { 'retry-after': '1' },
    };
    const merchant = await merchantOf([away, { status: 201, body: created }]);
    expect(await merchant.create('/v1/collections', { amount: 500 }, 'order 1')).toEqual(created);
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(['order 1', 'order 1']);
  });

  it('shows each response of the API, and fails with what is found wrong with it', async () => {
    const merchant = await merchantOf([{ status: 200, body: created, headers: { 'x-request-id': '1' } }], {
      onResponse(response) {
        expect(response.headers.get('x-request-id')).toBe('1');
        throw new Error(`${response.method} ${new URL(response.url).pathname} ${response.status} ${response.text}`);
      },
    });
    await expect(merchant.get('col_1')).rejects.toThrow(`GET /v1/payments/col_1 200 ${JSON.stringify(created)}`);
  });

  it('looks again at once when it is notified', async () => {
    let notified = 0;
    const now = async () => {
      notified += 1;
    };
    const answers = [...Array(100).fill(created), payment].map((body) => ({ status: 200, body }));
    const merchant = await merchantOf(answers, { nextNotification: now });
    const looks: string[] = [];
    const onLook = ({ status }: PaymentAnswer) => looks.push(status);
    await merchant.waitUntil('col_1', ({ final }) => final, { limitMs: 25_000, onLook });
    // Rounds of its own would have taken 50 s.
    expect(looks).toEqual([...Array(100).fill('CREATED'), 'SUCCESSFUL']);
    expect(notified).toBe(101);
  });

  it('gives up when nothing comes of it in time', async () => {
    const merchant = await merchantOf([{ status: 200, body: created }]);
    await expect(merchant.waitUntil('col_1', ({ final }) => final, { limitMs: 100 })).rejects.toThrow(
      'still CREATED after 0.1 s',
    );
  });
});

const notice = {
  type: 'payment.succeeded',
  data: { id: 'col_1', status: 'SUCCESSFUL', final: true },
};

describe("the merchant's address for notifications", () => {
  let hook: MerchantHook;
  const received: ReceivedWebhook[] = [];

  beforeEach(async () => {
    received.splice(0);
    hook = await openMerchantHook((webhook) => received.push(webhook));
  });

  afterEach(async () => {
    await hook.close();
  });

  async function notify(secret: string, body = JSON.stringify(notice)) {
    const sentAt = new Date();
    const { status } = await fetch(hook.url, {
      method: 'POST',
      body,
      headers: {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign('evt_1', sentAt, body),
      },
    });
    return status;
  }

  it('takes a notification that is signed with its secret', async () => {
    const next = hook.next('col_1');
    expect(await notify(hook.secret)).toBe(204);
    await next;
    expect(hook.notices('col_1')).toEqual([notice]);
    expect(received.map(({ text, headers }) => [JSON.parse(text), headers.get('webhook-id')])).toEqual([
      [notice, 'evt_1'],
    ]);
  });

  it('refuses one that is signed with another, and one that is not signed', async () => {
    expect(await notify(`whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(401);
    const { status } = await fetch(hook.url, { method: 'POST', body: JSON.stringify(notice) });
    expect(status).toBe(401);
    expect(hook.notices('col_1')).toEqual([]);
  });

  it('refuses what is no notification', async () => {
    expect(await notify(hook.secret, '{"type": "payment.succeeded"}')).toBe(401);
  });
});
