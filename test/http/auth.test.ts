import { describe, expect, it } from '@jest/globals';
import { KEYS, merchantsWith, startApi, useApi } from '../support/api-under-test.js';

describe('an API key', () => {
  const api = useApi();

  it('is asked for where it is missing', async () => {
    const { status, headers, body } = await api.ask('GET', '/v1/balance?service=payout');
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="sanaga"');
    expect(body).toMatchObject({
      code: 'unauthenticated',
      detail: 'Send an API key as "Authorization: Bearer <key>".',
    });
  });

  it.each(['Bearer wrong-secret', `Bearer ${KEYS.shop}x`, `Bearer ${KEYS.shop.slice(0, -1)}`])(
    'is refused when it is not known: %s',
    async (authorization) => {
      const { status, headers } = await api.ask('GET', '/v1/balance', { headers: { authorization } });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
    },
  );

  it.each([`Basic ${KEYS.shop}`, KEYS.shop, 'Bearer ', 'Bearer two words'])(
    'must come as a Bearer token, not as %p',
    async (authorization) => {
      const { status, body } = await api.ask('GET', '/v1/balance', { headers: { authorization } });
      expect(status).toBe(401);
      expect(body.detail).toContain('What was sent begins otherwise, or has no key or more than one');
      expect(body.detail).not.toContain('Basic');
    },
  );

  it('may be written with any case of "Bearer"', async () => {
    const { status } = await api.ask('POST', '/v1/payouts', {
      headers: { authorization: `bearer ${KEYS.shop}` },
    });
    expect(status).toBe(400);
  });

  it('can be configured by its digest alone', async () => {
    const { status } = await api.ask('POST', '/v1/payouts', { key: KEYS.rival });
    expect(status).toBe(400);
  });

  it.each([
    ['POST', '/v1/collections', 'collections'],
    ['POST', '/v1/payouts', 'payouts'],
    ['POST', '/v1/collections/col_1/expire', 'collections'],
    ['GET', '/v1/balance?service=payout', 'balance review approve'],
    ['POST', '/v1/payments/col_1/resolve', 'review'],
    ['GET', '/v1/notifications/unmatched', 'review'],
  ])('needs a scope for %s %s: %s', async (method, path, scope) => {
    const { status, headers, body } = await api.ask(method, path, { key: KEYS.reader });
    expect(status).toBe(403);
    const detail = expect.stringContaining(scope.replaceAll(' ', ' or '));
    expect(body).toMatchObject({ code: 'forbidden', detail });
    expect(headers.get('www-authenticate')).toContain(`scope="${scope}"`);
  });

  it.each([
    ['GET', '/v1/payments/col_1'],
    ['POST', '/v1/payments/col_1/refresh'],
  ])('needs the scope read or review for %s %s', async (method, path) => {
    const collecting = await startApi({
      merchants: merchantsWith([{ name: 'till', secret: 'till-secret', scopes: ['collections'] }]),
    });
    const refused = await collecting.ask(method, path, { key: 'till-secret' });
    await collecting.stop();
    const { status } = await api.ask(method, path, { key: KEYS.operator });
    expect([refused.status, status]).toEqual([403, 503]);
  });

  it('is looked at before the body is', async () => {
    const { status } = await api.ask('POST', '/v1/payouts', { body: '{"amount":' });
    expect(status).toBe(401);
  });
});
