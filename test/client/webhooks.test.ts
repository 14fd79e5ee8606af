import { randomBytes } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, type WebhookHeaders } from '../../client/index.js';

const makeSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = makeSecret();

const event = {
  type: 'payment.succeeded',
  timestamp: '2026-11-21T08:20:34.191Z',
  data: { id: 'col_1', status: 'SUCCESSFUL', final: true, amount: 5_000, reason: 'payé' },
};

/** A notification as Sanaga's worker signs it, with the library of Standard Webhooks. */
function signed(payload: unknown = event, { by = [secret], at = new Date() } = {}) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const headers = {
    'webhook-id': 'evt_col_1_succeeded_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': by.map((one) => new Webhook(one).sign('evt_col_1_succeeded_1', at, body)).join(' '),
  };
  return { body, headers };
}

const reasonOf = (verifying: Promise<unknown>) =>
  verifying.then(
    () => 'verified',
    (error: { reason?: string }) => error.reason,
  );
const minutes = (count: number) => new Date(Date.now() + count * 60_000);

describe('a webhook', () => {
  it('is read once its signature is verified', async () => {
    const { body, headers } = signed();
    expect(await verifyWebhook(body, headers, secret)).toEqual({ id: 'evt_col_1_succeeded_1', ...event });
  });

  it.each<[string, (headers: Record<string, string>) => WebhookHeaders]>([
    ['of fetch', (headers) => new Headers(headers)],
    ['of Node', (headers) => ({ ...headers, host: 'shop.example', 'set-cookie': ['a', 'b'] })],
    ['in capitals', (h) => Object.fromEntries(Object.entries(h).map(([name, value]) => [name.toUpperCase(), value]))],
    ['in lists', (h) => Object.fromEntries(Object.entries(h).map(([name, value]) => [name, [value]]))],
  ])('takes headers %s', async (_, toHeaders) => {
    const { body, headers } = signed();
    expect(await verifyWebhook(body, toHeaders(headers), secret)).toMatchObject(event);
  });

  it.each<[string, (body: string) => Uint8Array | ArrayBuffer]>([
    ['a Buffer', (body) => Buffer.from(body)],
    ['a part of a larger buffer', (body) => Buffer.from(`..${body}..`).subarray(2, -2)],
    ['an ArrayBuffer', (body) => new Uint8Array(Buffer.from(body)).buffer],
  ])('takes the body as %s', async (_, toBytes) => {
    const { body, headers } = signed();
    expect(await verifyWebhook(toBytes(body), headers, secret)).toMatchObject(event);
  });

  it('is verified with either secret while one replaces the other', async () => {
    const next = makeSecret();
    const during = signed(event, { by: [secret, next] });
    expect(await verifyWebhook(during.body, during.headers, secret)).toMatchObject(event);
    expect(await verifyWebhook(during.body, during.headers, next)).toMatchObject(event);
    const after = signed(event, { by: [next] });
    expect(await verifyWebhook(after.body, after.headers, [secret, next])).toMatchObject(event);
  });

  it('is refused when it was signed with another secret', async () => {
    const { body, headers } = signed();
    expect(await reasonOf(verifyWebhook(body, headers, [makeSecret(), makeSecret()]))).toBe('wrong_signature');
  });

  it.each<[string, (given: ReturnType<typeof signed>) => ReturnType<typeof signed>]>([
    ['body', ({ body, headers }) => ({ body: body.replace('5000', '9000'), headers })],
    ['webhook-id', ({ body, headers }) => ({ body, headers: { ...headers, 'webhook-id': 'evt_2' } })],
    [
      'webhook-timestamp',
      ({ body, headers }) => ({
        body,
        headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) },
      }),
    ],
    [
      'version of the signature',
      ({ body, headers }) => ({
        body,
        headers: { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') },
      }),
    ],
    ['signature', ({ body, headers }) => ({ body, headers: { ...headers, 'webhook-signature': 'v1,????' } })],
    ['signature to nothing', ({ body, headers }) => ({ body, headers: { ...headers, 'webhook-signature': 'v1,' } })],
  ])('is refused when somebody has changed its %s', async (_, change) => {
    const { body, headers } = change(signed());
    expect(await reasonOf(verifyWebhook(body, headers, secret))).toBe('wrong_signature');
  });

  it.each([
    [-6, 'too_old'],
    [-4, 'verified'],
    [4, 'verified'],
    [6, 'too_new'],
  ])('that was signed %i minutes from now is %s', async (from, expected) => {
    const { body, headers } = signed(event, { at: minutes(from) });
    expect(await reasonOf(verifyWebhook(body, headers, secret))).toBe(expected);
  });

  it('can be older when the caller says so', async () => {
    const { body, headers } = signed(event, { at: minutes(-6) });
    expect(await verifyWebhook(body, headers, secret, { toleranceMs: 600_000 })).toMatchObject(event);
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('is refused without %s', async (name) => {
    const { body, headers } = signed();
    expect(await reasonOf(verifyWebhook(body, { ...headers, [name]: undefined }, secret))).toBe('missing_header');
  });

  it.each(['soon', '', '1e9', '-1'])('is refused when its time is "%s"', async (time) => {
    const { body, headers } = signed();
    const refusal = await reasonOf(verifyWebhook(body, { ...headers, 'webhook-timestamp': time }, secret));
    expect(refusal).toBe(time === '' ? 'missing_header' : 'invalid_timestamp');
  });

  it.each(['hello', '[]', '{"type":"x"}', '{"type":"x","timestamp":"t","data":{"id":"col_1"}}'])(
    'that is no notification is refused, although it is signed: %s',
    async (payload) => {
      const { body, headers } = signed(payload);
      expect(await reasonOf(verifyWebhook(body, headers, secret))).toBe('invalid_payload');
    },
  );

  it('must not be parsed before', async () => {
    const { headers } = signed();
    const parsed = event as unknown as string;
    await expect(verifyWebhook(parsed, headers, secret)).rejects.toThrow(/before you parse it/);
  });

  it.each(['', 'whsec_', 'whsec_???'])(
    'cannot be verified with "%s", and the message does not repeat it',
    async (wrong) => {
      const { body, headers } = signed();
      const error = await verifyWebhook(body, headers, wrong).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).not.toContain('???');
    },
  );

  it('cannot be verified without a secret', async () => {
    const { body, headers } = signed();
    await expect(verifyWebhook(body, headers, [])).rejects.toThrow(TypeError);
  });

  it.each([
    ['4,000 signatures', { 'webhook-signature': 'v1,a '.repeat(4_000) }],
    ['an id of 64 kB', { 'webhook-id': 'x'.repeat(65_536) }],
    ['a time of 64 kB', { 'webhook-timestamp': '1'.repeat(65_536) }],
  ])('is refused with %s, before anything is computed', async (_, hostile) => {
    const { body, headers } = signed();
    const computed = jest.spyOn(crypto.subtle, 'sign');
    expect(await reasonOf(verifyWebhook(body, { ...headers, ...hostile }, secret))).toBe('wrong_signature');
    expect(computed).not.toHaveBeenCalled();
    computed.mockRestore();
  });

  it('takes one computation for each secret, however many signatures it has', async () => {
    const { body, headers } = signed();
    const computed = [jest.spyOn(crypto.subtle, 'sign'), jest.spyOn(crypto.subtle, 'verify')];
    const other = Buffer.alloc(32).toString('base64');
    const signatures = `${`v1,${other} `.repeat(15)}${headers['webhook-signature']}`;
    const given = { ...headers, 'webhook-signature': signatures };
    expect(await verifyWebhook(body, given, [`whsec_${other}`, secret])).toMatchObject(event);
    expect(computed.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThanOrEqual(2);
    for (const spy of computed) spy.mockRestore();
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('cannot be verified within %d ms', async (toleranceMs) => {
    const { body, headers } = signed();
    await expect(verifyWebhook(body, headers, secret, { toleranceMs })).rejects.toThrow(TypeError);
  });

  it('cannot be verified with a thousand secrets', async () => {
    const { body, headers } = signed();
    await expect(verifyWebhook(body, headers, Array(1_000).fill(secret))).rejects.toThrow(TypeError);
  });
});
