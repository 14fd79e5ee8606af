import { describe, expect, it } from '@jest/globals';
import { collectionBody, expiresIn, toCollectionOrder } from '../../../src/api/routes/collections.js';
import { choosePaymentId, fingerprint, idempotencyKey } from '../../../src/api/routes/idempotency.js';
import { phone } from '../../../src/api/routes/order-fields.js';
import { payoutBody, toPayoutOrder } from '../../../src/api/routes/payouts.js';
import { randomPaymentId } from '../../../src/payments/words/derive-payment-id.js';
import type { PaymentKind } from '../../../src/payments/words/payment-id.js';
import { KEYS, useApi } from '../../support/api-under-test.js';

/** Temporal is down, so a body that is accepted is answered 503, and one that isn't 400. */
const api = useApi();

const link = { method: 'link', amount: 500 };
const direct = { method: 'direct', amount: 500, phone: '677000000' };
const payout = { amount: 500, phone: '677000000' };
const platform = { amount: 500, medium: 'platform', email: 'jane@example.org' };

async function errorsOf(path: string, body: unknown): Promise<{ field: string; message: string }[]> {
  const answer = await api.ask('POST', path, { key: KEYS.shop, body });
  if (answer.status === 503) return [];
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  for (const { field, message } of answer.body.errors) expect(answer.body.detail).toContain(`${field} ${message}`);
  return answer.body.errors;
}

const collectionErrors = (body: unknown) => errorsOf('/v1/collections', body);
const payoutErrors = (body: unknown) => errorsOf('/v1/payouts', body);

describe('an order', () => {
  it.each([
    ['a fraction', 100.5],
    ['text', '500'],
    ['below 100', 99],
    ['negative', -500],
    ['beyond exact integers', 2 ** 53],
    ['null', null],
    ['missing', undefined],
  ])('is refused with an amount that is %s', async (_, amount) => {
    expect(await payoutErrors({ ...payout, amount })).toEqual([{ field: 'amount', message: expect.any(String) }]);
  });

  it.each([
    ['500', 'must be a whole number of XAF, without quotes'],
    [100.5, 'must be a whole number of XAF'],
    [undefined, 'is required'],
  ])('with the amount %p says that it %s', async (amount, message) => {
    expect(await payoutErrors({ ...payout, amount })).toEqual([{ field: 'amount', message }]);
  });

  it.each([100, 100_000_000, Number.MAX_SAFE_INTEGER])('is taken with the amount %d', async (amount) => {
    expect(await payoutErrors({ ...payout, amount })).toEqual([]);
  });

  it.each(['external_id', 'externalID', 'ExternalId', 'extrenalId', 'external-id'])(
    'is refused with %s, and told what was meant',
    async (field) => {
      const message = 'is not a known field: did you mean externalId?';
      expect(await payoutErrors({ ...payout, [field]: 'order-1' })).toEqual([{ field, message }]);
      expect(await collectionErrors({ ...link, [field]: 'order-1' })).toEqual([{ field, message }]);
    },
  );

  it.each(['idempotencyKey', 'idempotency_key'])('names the header when %s is in the body', async (field) => {
    const message = 'is not a known field: did you mean the header Idempotency-Key?';
    expect(await payoutErrors({ ...payout, [field]: 'order-1' })).toEqual([{ field, message }]);
  });

  it('is refused with fields that nobody knows, each by its name', async () => {
    expect(await payoutErrors({ ...payout, ammount: 1, Currency: 'XAF' })).toEqual([
      { field: 'ammount', message: 'is not a known field: did you mean amount?' },
      { field: 'Currency', message: 'is not a known field: every amount is in XAF, so leave it out' },
    ]);
  });

  it.each([
    ['null', 'null'],
    ['a list', '[]'],
    ['a number', '5'],
  ])('is refused when it is %s', async (_, body) => {
    expect(await collectionErrors(body)).toEqual([{ field: 'body', message: 'must be an object' }]);
    expect(await payoutErrors(body)).toEqual([{ field: 'body', message: 'must be an object' }]);
  });

  it('says all that is wrong with it at once, and repeats no value', async () => {
    const answer = await api.ask('POST', '/v1/payouts', {
      key: KEYS.shop,
      body: { amount: 1, phone: 'not-a-phone', medium: 'carrier pigeon', email: 'jane at home' },
    });
    expect(answer.body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'amount',
      'phone',
      'medium',
      'email',
    ]);
    expect(answer.text).not.toMatch(/not-a-phone|pigeon|jane/);
  });

  it.each(['col_1', 'pay_3f2a'])("has no payment's id as its userId, such as %s", async (userId) => {
    expect(await payoutErrors({ ...payout, userId })).toMatchObject([{ field: 'userId' }]);
    expect(await payoutErrors({ ...payout, externalId: userId })).toEqual([]);
  });

  it.each(['userId', 'externalId'])("has a %s of the provider's pattern", async (field) => {
    expect(await payoutErrors({ ...payout, [field]: 'Order-17_a' })).toEqual([]);
    for (const wrong of ['', 'with space', 'x'.repeat(101), 'é', 'a.b']) {
      expect(await payoutErrors({ ...payout, [field]: wrong })).toMatchObject([{ field }]);
    }
  });

  it('has a message of 1 to 200 characters', async () => {
    expect(await payoutErrors({ ...payout, message: 'x'.repeat(200) })).toEqual([]);
    expect(await payoutErrors({ ...payout, message: 'x'.repeat(201) })).toEqual([
      { field: 'message', message: 'must have at most 200 characters' },
    ]);
    expect(await payoutErrors({ ...payout, message: '  ' })).toMatchObject([{ field: 'message' }]);
    expect(await payoutErrors({ ...payout, message: '💐'.repeat(200) })).toEqual([]);
  });

  it.each([
    ...['two\nlines', 'nul\u0000', 'bell\u0007', 'del\u007f', 'separated\u2028'],
    ...['turned \u202e000,5', 'apart\u2066', 'marked\u200e', 'in Arabic\u061c'],
  ])('is refused with %p as its message, which a phone would not show as it is', async (message) => {
    expect(await payoutErrors({ ...payout, message })).toEqual([
      { field: 'message', message: 'must not contain line breaks or other control characters' },
    ]);
  });

  it('has metadata of at most 50 pairs of text', async () => {
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));
    expect(await payoutErrors({ ...payout, metadata: pairs(50) })).toEqual([]);
    expect(await payoutErrors({ ...payout, metadata: pairs(51) })).toMatchObject([{ field: 'metadata' }]);
    expect(await payoutErrors({ ...payout, metadata: { n: 1 } })).toEqual([
      { field: 'metadata.n', message: 'must be a string' },
    ]);
    expect(await payoutErrors({ ...payout, metadata: [] })).toMatchObject([{ field: 'metadata' }]);
  });

  it('is refused with a field that is named like an object of the language, wherever it is', async () => {
    const message = "has a name that can't be used: choose another";
    const named = JSON.parse('{"__proto__":"x","colour":"red"}');
    expect(await payoutErrors({ ...payout, metadata: named })).toEqual([{ field: 'metadata.__proto__', message }]);
    const body = JSON.stringify(payout).replace('{', '{"\\u005f_proto__":{"amount":1},');
    expect(await payoutErrors(body)).toEqual([{ field: '__proto__', message }]);
  });

  it('has metadata with names of 40 and values of 500 characters at most', async () => {
    const metadata = (name: number, value: number) => ({ ['n'.repeat(name)]: 'v'.repeat(value) });
    expect(await payoutErrors({ ...payout, metadata: metadata(40, 500) })).toEqual([]);
    expect(await payoutErrors({ ...payout, metadata: metadata(41, 500) })).toHaveLength(1);
    expect(await payoutErrors({ ...payout, metadata: metadata(40, 501) })).toHaveLength(1);
    expect(await payoutErrors({ ...payout, metadata: { '': '' } })).toHaveLength(1);
  });
});

describe('the identifiers of an order', () => {
  const person = { phone: '+237 677 12 34 56', name: 'Éloïse Mballa', email: 'eloise.m@example.cm' };

  it.each([
    ['677123456', 'phone number'],
    ['237677123456', 'phone number'],
    ['order-677-12-34-56', 'phone number'],
    ['eloise-mballa', 'name'],
    ['Eloise_Mballa', 'name'],
    ['eloise-m', 'e-mail address'],
    ['user-eloise_m-example-cm', 'e-mail address'],
  ])("can't be %s, which is the payer's %s", async (id, what) => {
    for (const field of ['externalId', 'userId']) {
      const message = expect.stringMatching(
        `^must not be somebody's ${what}: .* Send one that says nothing by itself$`,
      );
      expect(await collectionErrors({ ...direct, ...person, [field]: id })).toEqual([{ field, message }]);
      expect(await payoutErrors({ ...payout, ...person, [field]: id })).toEqual([{ field, message }]);
    }
    expect(await collectionErrors({ ...direct, ...person, externalId: id, userId: id })).toHaveLength(2);
  });

  it.each(['~@example.com', 'пример@пример.рф'])('may be left out beside %s', async (email) => {
    expect(await collectionErrors({ ...link, email })).toEqual([]);
    expect(await collectionErrors({ ...link, email, userId: 'customer-7' })).toEqual([]);
  });

  it("can't be the e-mail address of a link's payer", async () => {
    expect(await collectionErrors({ ...link, email: person.email, userId: 'eloise-m' })).toHaveLength(1);
  });

  it.each(['237655001122', '00237-655-00-11-22'])(
    "can't be %s, which is somebody's number, of a link either, whose payer nobody knows",
    async (id) => {
      for (const field of ['externalId', 'userId']) {
        const message = expect.stringContaining("must not be somebody's phone number: ");
        expect(await collectionErrors({ ...link, [field]: id })).toEqual([{ field, message }]);
      }
    },
  );

  it.each(['order-1001', 'mballa-and-sons-7', 'u-6771234', 'eloise', '1732279961234', '655001122'])(
    'can be %s, which says nobody who the payer is',
    async (id) => {
      expect(await payoutErrors({ ...payout, ...person, externalId: id, userId: id })).toEqual([]);
      expect(await collectionErrors({ ...link, externalId: id, userId: id })).toEqual([]);
    },
  );
});

describe('a collection', () => {
  it('is refused without a method', async () => {
    expect(await collectionErrors({ amount: 500 })).toEqual([
      { field: 'method', message: 'is required: "link" or "direct"' },
    ]);
  });

  it.each(['card', 5])('is refused with the method %p', async (method) => {
    expect(await collectionErrors({ ...link, method })).toEqual([
      { field: 'method', message: 'must be "link" or "direct"' },
    ]);
  });

  it('by link takes all that a link can have', async () => {
    const full = {
      ...link,
      email: 'jane@example.org',
      redirectUrl: 'https://shop.example/thanks?order=17',
      userId: 'u1',
      externalId: 'o1',
      message: 'Order 17',
      expiresIn: '15m',
      metadata: { cart: '17' },
    };
    expect(await collectionErrors(full)).toEqual([]);
  });

  it('by link refuses what only a direct one has', async () => {
    expect(await collectionErrors({ ...link, phone: '677000000', medium: 'orange money', name: 'Jane' })).toEqual([
      { field: 'phone', message: 'is only for direct' },
      { field: 'medium', message: 'is only for direct' },
      { field: 'name', message: 'is only for direct' },
    ]);
  });

  it('that is direct refuses what only a link has', async () => {
    expect(await collectionErrors({ ...direct, redirectUrl: 'https://shop.example', expiresIn: '1h' })).toEqual([
      { field: 'redirectUrl', message: 'is only for link' },
      { field: 'expiresIn', message: 'is only for link' },
    ]);
  });

  it('that is direct needs a phone', async () => {
    expect(await collectionErrors({ ...direct, phone: undefined })).toEqual([
      { field: 'phone', message: 'is required' },
    ]);
    expect(await collectionErrors({ ...direct, phone: '12' })).toMatchObject([{ field: 'phone' }]);
  });

  it('that is direct has a medium that a phone can have', async () => {
    expect(await collectionErrors({ ...direct, medium: 'mobile money' })).toEqual([]);
    expect(await collectionErrors({ ...direct, medium: 'platform' })).toEqual([
      { field: 'medium', message: 'must be "mobile money" or "orange money"' },
    ]);
  });

  it.each([
    'javascript:alert(1)',
    'ftp://shop.example',
    '//shop.example',
    'https:shop.example',
    'shop.example',
    'https://jane:secret@shop.example',
    'https://shop.example@evil.example/',
    'https://shop.example/a b',
    'https://shop.example/\u202egpj.exe',
    'https://shop.example/\u0001',
    '',
  ])('refuses to send the payer to %p', async (redirectUrl) => {
    expect(await collectionErrors({ ...link, redirectUrl })).toMatchObject([{ field: 'redirectUrl' }]);
  });

  it.each(['9s', '25h', 900, ''])('refuses a lifetime of %p', async (expiresIn) => {
    expect(await collectionErrors({ ...link, expiresIn })).toMatchObject([{ field: 'expiresIn' }]);
  });
});

describe('a payout', () => {
  it('to a phone needs the phone', async () => {
    expect(await payoutErrors({ amount: 500 })).toEqual([
      { field: 'phone', message: 'is required unless medium is platform' },
    ]);
    expect(await payoutErrors({ amount: 500, medium: 'orange money' })).toMatchObject([{ field: 'phone' }]);
  });

  it('to the platform needs an e-mail address, and no phone', async () => {
    expect(await payoutErrors(platform)).toEqual([]);
    expect(await payoutErrors({ ...platform, email: undefined })).toEqual([
      { field: 'email', message: 'is required when medium is platform' },
    ]);
    expect(await payoutErrors({ ...platform, email: 'jane' })).toEqual([
      { field: 'email', message: 'must be an e-mail address' },
    ]);
  });

  it('to the platform is refused with a phone, which would play no part', async () => {
    expect(await payoutErrors({ ...platform, phone: '677000000' })).toEqual([
      {
        field: 'phone',
        message: 'is not allowed when medium is platform: its accounts are identified by email',
      },
    ]);
  });

  it('has neither a method nor a redirect', async () => {
    expect(await payoutErrors({ ...payout, method: 'direct', redirectUrl: 'https://shop.example' })).toHaveLength(2);
  });
});

const id = randomPaymentId('collection');

describe('the order that a body makes', () => {
  it('has its lifetime in ms, for a link', () => {
    const body = collectionBody.parse({ method: 'link', amount: 500, expiresIn: '15m' });
    expect(toCollectionOrder(id, body)).toEqual({
      id,
      kind: 'link',
      amount: 500,
      expiresInMs: 900_000,
      metadata: {},
    });
  });

  it('has the phone number in nine digits, for a direct collection', () => {
    const body = collectionBody.parse({ method: 'direct', amount: 500, phone: '+237 6 77-00-08-00' });
    expect(toCollectionOrder(id, body)).toEqual({
      id,
      kind: 'direct',
      amount: 500,
      phone: '677000800',
      metadata: {},
    });
  });

  it('is the body with its id, its kind and who ordered it, for a payout', () => {
    const body = { amount: 500, medium: 'platform', email: 'jane@example.org', metadata: { a: 'b' } };
    expect(toPayoutOrder(id, payoutBody.parse(body), { person: 'ann', personKeys: ['k1'] })).toEqual({
      id,
      kind: 'payout',
      ...body,
      orderedBy: 'ann',
      orderedByKeys: ['k1'],
    });
  });

  it('has the date of a payout in ms, whatever its offset', () => {
    const read = (sendAt: string) => payoutBody.safeParse({ amount: 500, phone: '677000000', sendAt }).data?.sendAt;
    expect(read('2026-11-27T08:00:00+01:00')).toBe(Date.UTC(2026, 10, 27, 7));
    expect(read('2026-11-27T07:00:00.000Z')).toBe(Date.UTC(2026, 10, 27, 7));
    expect(['2026-11-27T08:00:00', '2026-02-30T08:00:00Z', '1795766400000', ''].map(read)).toEqual(
      Array(4).fill(undefined),
    );
  });

  it('takes `approval` as true alone', () => {
    const read = (approval: unknown) => payoutBody.safeParse({ amount: 500, phone: '677000000', approval });
    expect(read(true).data?.approval).toBe(true);
    expect(read(false).error?.issues).toMatchObject([{ path: ['approval'], message: 'must be true, or left out' }]);
  });
});

describe('a phone number', () => {
  it.each([
    '677000000',
    '+237677000000',
    '237677000000',
    '+237 6 77 00 00 00',
    '6-77-00-00-00',
    ' 677000000 ',
    '00237677000000',
    '(+237) 677 00 00 00',
    '(00237)677000000',
    '+(237) 6.77.00.00.00',
    '677/00/00/00',
    '[677] 000 000',
    '+237\u00a0677\u202f00\u200900\u300000',
    '\u202a+237 677 000 000\u202c',
    '\u200e677\u200b000\u2060000\ufeff',
    '\u2066677\u00ad000000\u2069',
    '6\u201377\u201100\u201200\u221200',
    '６７７００００００',
    '＋２３７ ６７７ ０００ ０００',
    'tel:+237677000000',
    '677\t000\n000',
  ])('is read from %p', (text) => {
    expect(phone.parse(text)).toBe('677000000');
  });

  it.each([
    '',
    '577000000',
    '67700000',
    '6770000000',
    '+33677000000',
    '0033677000000',
    '0677000000',
    '000237677000000',
    '+00237677000000',
    '++237677000000',
    '237+677000000',
    '677000000 / 699000000',
    '677000000x5',
    '677,000,000;1',
    '٦٧٧٠٠٠٠٠٠',
    '+6770000000',
    '6770000OO',
    '+ 677000000',
    `677000000${' '.repeat(32)}`,
  ])('is not found in %p', (text) => {
    expect(phone.safeParse(text).data).toBeUndefined();
  });
});

describe('an e-mail address', () => {
  const read = (email: string) => payoutBody.safeParse({ amount: 500, medium: 'platform', email }).data?.email;

  it.each([
    'jane@example.org',
    'jane.doe+tag@mail.example.co.uk',
    'r&d@example.org',
    'sales/cm@example.org',
    "o'neil!#$%*=?^_`{|}~-@example.org",
    'Jane@Example.ORG',
    'a@b.cm',
    'josé@example.org',
    `${'a'.repeat(64)}@example.org`,
  ])('is taken as it is: %p', (email) => {
    expect(read(email)).toBe(email);
  });

  it.each([
    ['jane@büro.example', 'jane@xn--bro-hoa.example'],
    ['jane@例え.テスト', 'jane@xn--r8jz45g.xn--zckzah'],
    [' jane@example.org\u00a0', 'jane@example.org'],
  ])('has its domain in ASCII, and no spaces around it: %p', (email, expected) => {
    expect(read(email)).toBe(expected);
  });

  it.each([
    '',
    'jane at home',
    'jane@',
    '@example.org',
    'jane@localhost',
    'jane@exa mple.org',
    'jane doe@example.org',
    'jane@@example.org',
    'a@b@example.org',
    'jane@-example.org',
    'jane@example..org',
    'jane@example.org.',
    'jane@exa_mple.org',
    '"jane"@example.org',
    'jane@example.org\r\nBcc: all@example.org',
    `${'a'.repeat(65)}@example.org`,
    `jane@${'a.'.repeat(126)}org`,
  ])('is not %p', (email) => {
    expect(read(email)).toBeUndefined();
  });
});

describe('a key of a request', () => {
  it.each([
    ['order-1', '"order-1"'],
    ['a "quoted" \\ key', '"a \\"quoted\\" \\\\ key"'],
    ['k'.repeat(255), `"${'k'.repeat(255)}"`],
  ])('%p is the same in quotes', (bare, quoted) => {
    expect([idempotencyKey.parse(bare), idempotencyKey.parse(quoted)]).toEqual([bare, bare]);
  });

  it.each(['"', '"order-1', 'order-1"', '"a"b"', '"a" ; b="c"', '"a\\b"'])('%p is itself', (key) => {
    expect(idempotencyKey.parse(key)).toBe(key);
  });

  it.each(['', '""', '" a"', 'k'.repeat(256), `"${'k'.repeat(256)}"`, 'é', 'a\tb'])('is not %p', (key) => {
    expect(idempotencyKey.safeParse(key).success).toBe(false);
  });
});

describe("a link's lifetime", () => {
  it('is from 10 seconds to 24 hours, in any unit', () => {
    const bounds = { s: [10, 86_400], m: [1, 1_440], h: [1, 24] } as const;
    for (const [unit, [min, max]] of Object.entries(bounds)) {
      const accepted = Array.from({ length: 100_000 }, (_, n) => n).filter(
        (n) => expiresIn.safeParse(`${n}${unit}`).success,
      );
      expect([accepted.length, accepted[0], accepted.at(-1)]).toEqual([max - min + 1, min, max]);
    }
  });

  it.each([
    ['10s', 10_000],
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['1440m', 86_400_000],
  ])('of %s has %d ms', (text, ms) => {
    expect(expiresIn.parse(text)).toBe(ms);
  });

  it.each(['', '9s', '0m', '25h', '86401s', '1d', '1.5h', '-5m', '5 m', 'toString'])('cannot be %p', (text) => {
    expect(expiresIn.safeParse(text).data).toBeUndefined();
  });
});

describe('a fingerprint', () => {
  it('is the hex of a SHA-256', () => {
    expect(fingerprint({ amount: 500 })).toMatch(/^[0-9a-f]{64}$/);
  });

  it('does not depend on the order of fields, at any depth', () => {
    const one = { amount: 500, metadata: { a: '1', b: '2', 10: 'x', 9: 'y' } };
    const other = { metadata: { 9: 'y', b: '2', 10: 'x', a: '1' }, amount: 500 };
    expect(fingerprint(one)).toBe(fingerprint(other));
  });

  it('takes a field that is undefined for one left out', () => {
    expect(fingerprint({ amount: 500, email: undefined })).toBe(fingerprint({ amount: 500 }));
  });

  it.each([
    ['a value', { amount: 501 }],
    ['a type', { amount: '500' }],
    ['a name', { amounts: 500 }],
    ['a field more', { amount: 500, message: 'x' }],
    ['nesting', { amount: { amount: 500 } }],
    ['pairs in place of an object', [['amount', 500]]],
  ])('differs with %s', (_, body) => {
    expect(fingerprint(body)).not.toBe(fingerprint({ amount: 500 }));
  });
});

describe('an Idempotency-Key', () => {
  const sendWith = (idempotencyKey: string) =>
    api.ask('POST', '/v1/payouts', { key: KEYS.shop, body: payout, headers: { 'idempotency-key': idempotencyKey } });

  it.each(['', 'x'.repeat(256), 'clé', 'tab\there'])('cannot be %p', async (wrong) => {
    const { status, body: problem } = await sendWith(wrong);
    expect([status, problem.code]).toEqual([400, 'invalid_idempotency_key']);
  });

  it('is required for a payout, and not for a collection', async () => {
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${KEYS.shop}`, 'content-type': 'application/json' };
      const response = await fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return [response.status, (await response.json()) as { code: string; detail: string }] as const;
    };
    const [status, problem] = await post('/v1/payouts', payout);
    expect([status, problem.code]).toEqual([400, 'idempotency_key_required']);
    expect(problem.detail).toContain('Send an Idempotency-Key');
    expect((await post('/v1/collections', link))[0]).toBe(503);
  });

  const idFor = (key: string, kind: PaymentKind = 'payout', merchant = 'shop') =>
    choosePaymentId(kind, merchant, (name) => (name === 'idempotency-key' ? [key] : []));

  it('leads to the same payment each time', () => {
    expect(idFor('k 1 ~')).toEqual({ id: expect.stringMatching(/^pay_[0-9a-f]{32}$/), repeatable: true });
    expect(idFor('k 1 ~')).toEqual(idFor('k 1 ~'));
  });

  it('leads to the same payment in quotes, as the draft of the header has it', () => {
    expect(idFor('"order-7"')).toEqual(idFor('order-7'));
  });

  it('leads to another payment for another owner, another kind, and in another spelling', () => {
    const ids = [idFor('k'), idFor('k', 'payout', 'rival'), idFor('k', 'collection'), idFor('K')].map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
  });
});
