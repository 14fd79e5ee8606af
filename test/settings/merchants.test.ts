import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyIdsIn, personsWith } from '../../src/settings/merchants.js';
import { merchantsFile } from '../../src/settings/merchants-file.js';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const digest = (character: string) => character.repeat(64);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sanaga-merchants-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(content: unknown) {
  const file = join(folder, 'merchants.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return merchantsFile.safeParse(file);
}

async function mistakesIn(content: unknown): Promise<string[]> {
  const { error } = await read(content);
  return error?.issues.map(({ message }) => message) ?? [];
}

const shop = {
  name: 'shop',
  keys: [{ sha256: digest('a'), scopes: ['collections', 'payouts', 'read'] }],
};

const withLimits = (limits: string) =>
  JSON.stringify({ merchants: [shop] }).replace('"name"', `"limits": {${limits}}, "name"`);

describe("the merchants' file", () => {
  it('may begin with a byte order mark', async () => {
    const { data } = await read(`\ufeff${JSON.stringify({ merchants: [shop] })}`);
    expect(data).toMatchObject([{ name: 'shop' }]);
  });

  it('describes each merchant: keys, webhooks and limits', async () => {
    const { data } = await read({
      merchants: [
        {
          name: 'shop',
          keys: [
            { sha256: digest('A'), scopes: ['collections', 'read'] },
            { sha256: digest('b'), scopes: ['payouts', 'approve'], person: 'ann' },
          ],
          webhooks: [
            { url: 'https://shop.example/hook', secrets: [SECRET] },
            { url: 'https://shop.example/failures', secrets: [SECRET, SECRET], types: ['payment.failed'] },
          ],
          limits: {
            maxCollection: 500_000,
            maxPayout: 100_000,
            maxPayoutsPerDay: 1_000_000,
            secondPersonAbove: 50_000,
            approveAbove: 25_000,
            approvalWithin: '36h',
          },
        },
        { name: 'ops', keys: [{ sha256: digest('c'), scopes: ['review', 'balance'] }] },
      ],
    });
    expect(data).toEqual([
      {
        name: 'shop',
        keys: [
          { sha256: digest('a'), scopes: ['collections', 'read'], person: 'shop' },
          { sha256: digest('b'), scopes: ['payouts', 'approve'], person: 'ann' },
        ],
        webhooks: [
          { url: 'https://shop.example/hook', secrets: [SECRET] },
          { url: 'https://shop.example/failures', secrets: [SECRET, SECRET], types: ['payment.failed'] },
        ],
        limits: {
          maxCollection: 500_000,
          maxPayout: 100_000,
          maxPayoutsPerDay: 1_000_000,
          secondPersonAbove: 50_000,
          approveAbove: 25_000,
          approvalWithin: 36 * 3_600_000,
        },
      },
      {
        name: 'ops',
        keys: [{ sha256: digest('c'), scopes: ['review', 'balance'], person: 'ops' }],
        webhooks: [],
        limits: {},
      },
    ]);
  });

  it('has each mistake named with its place, and no secret', async () => {
    const mistakes = await mistakesIn({
      merchants: [
        {
          name: 'my shop',
          keys: [
            { sha256: 'hush-hush', scopes: ['everything'], secret: 'hush-hush' },
            { scopes: [], person: 'Ann B.' },
          ],
          webhooks: [
            { url: 'https://user:hush-hush@shop.example', secrets: ['hush-hush'], types: ['payment.lost'] },
            { url: 'ftp://shop.example', secrets: [] },
          ],
          limits: { maxPayout: 99, maxPayoutsPerDay: '1000000', approvalWithin: '25d', maxRefund: 5 },
        },
      ],
      note: 1,
    });
    expect(mistakes).toEqual([
      'merchants[0].name must have 1 to 40 letters, digits and "-"',
      "merchants[0].keys[0].sha256 must be the 64 hex digits of the secret's SHA-256",
      'merchants[0].keys[0].scopes[0] must be one of collections, payouts, refunds, approve, read, balance, review',
      'merchants[0].keys[0].secret is not a known field',
      'merchants[0].keys[1].sha256 is required',
      'merchants[0].keys[1].scopes must have at least one scope',
      'merchants[0].keys[1].person must have 1 to 40 letters, digits and "-"',
      'merchants[0].webhooks[0].url must not contain a user or a password',
      'merchants[0].webhooks[0].secrets[0] must be a Standard Webhooks secret: whsec_ and the base64 of 24 to 64 random bytes, with + and / and padded with = (base64url, which has - and _, is not it): make one with `echo "whsec_$(openssl rand -base64 32)"`',
      'merchants[0].webhooks[0].types[0] must be one of payment.succeeded, payment.refunded, payment.failed, payment.expired, payment.attempt_failed, payment.review, payment.held',
      'merchants[0].webhooks[1].url must be an http or https address',
      'merchants[0].webhooks[1].secrets must have one secret, or two while it is being changed',
      'merchants[0].limits.maxPayout must be at least 100 XAF',
      'merchants[0].limits.maxPayoutsPerDay must be a whole number of XAF',
      'merchants[0].limits.approvalWithin must be between 5m and 24d',
      'merchants[0].limits.maxRefund is not a known field',
      'note is not a known field',
    ]);
    expect(mistakes.join()).not.toContain('hush-hush');
  });

  it.each([
    ['{"merchants": [{"name": "hush-hush" "keys": []}]}', /^is not valid JSON, at character \d+$/],
    ['', /^is not valid JSON/],
    ['[]', /^the content must be of type object$/],
    ['{"merchants": []}', /^merchants must have at least one merchant$/],
    ['{}', /^merchants is required$/],
    [withLimits('"maxPayout": 500, "maxPayout": 500000'), /maxPayout must not be given more than once$/],
    [withLimits('"maxPayout": 499.99999999999999999999'), /maxPayout must be a whole number of XAF$/],
    [withLimits('"maxPayout": 1e400'), /maxPayout must be/],
    [withLimits('"maxPayout": "500"'), /maxPayout must be a whole number of XAF$/],
    [withLimits('"maxPayout": -0'), /maxPayout must be at least 100 XAF$/],
    ['['.repeat(20) + ']'.repeat(20), /^the content must have at most 16 levels$/],
  ])('is refused when it is %s', async (content, message) => {
    const mistakes = await mistakesIn(content);
    expect(mistakes).toEqual([expect.stringMatching(message)]);
    expect(mistakes.join()).not.toContain('hush-hush');
  });

  it('has each person in one spelling, so that nobody counts as two', async () => {
    const key = (character: string, person: string) => ({ sha256: digest(character), scopes: ['approve'], person });
    const file = (...people: string[]) => ({
      merchants: [{ name: 'shop', keys: people.map((person, index) => key(String(index), person)) }],
    });
    expect(await mistakesIn(file('ann', 'bob', 'ann', 'shop'))).toEqual([]);
    const message = 'is written in two ways: two people need two names';
    expect(await mistakesIn(file('ann', 'Ann', 'Shop'))).toEqual([
      `merchants[0].keys[1].person ${message}`,
      `merchants[0].keys[2].person ${message}`,
    ]);
    const operators = (...names: string[]) => ({
      merchants: names.map((name, index) => ({ name, keys: [{ sha256: digest(String(index)), scopes: ['review'] }] })),
    });
    expect(await mistakesIn(operators('ops-1', 'ops--1'))).toEqual([`merchants[1].keys[0].person ${message}`]);
    expect(await mistakesIn(operators('ops-1-12', 'ops-11-2'))).toEqual([]);
    expect(await mistakesIn(operators('ops', 'Ops'))).toEqual([`merchants[1].keys[0].person ${message}`]);
  });

  it('has no name, no key and no address of a merchant twice', async () => {
    const webhook = { url: 'https://shop.example', secrets: [SECRET] };
    const other = {
      ...shop,
      keys: [{ sha256: digest('A'), scopes: ['read'] }],
      webhooks: [webhook, webhook],
    };
    expect(await mistakesIn({ merchants: [shop, other] })).toEqual([
      'merchants[1].name is the same as merchants[0].name: each merchant needs its own name',
      'merchants[1].keys[0].sha256 is the same as merchants[0].keys[0].sha256: each key needs its own secret',
      'merchants[1].webhooks[1].url is the same as merchants[1].webhooks[0].url: each webhook of a merchant needs its own address',
    ]);
  });

  it('that is not there is named with the reason', () => {
    const { error } = merchantsFile.safeParse(join(folder, 'nowhere.json'));
    expect(error?.issues.map(({ message }) => message)).toEqual(["can't be read: ENOENT"]);
  });
});

describe('the keys of a person', () => {
  const keys = (person: string, ...characters: string[]) =>
    characters.map((character) => ({ sha256: digest(character), scopes: ['approve' as const], person }));
  const merchants = [{ keys: [...keys('ann', 'a', 'b'), ...keys('bob', 'c')] }, { keys: keys('Ann', 'd') }];

  it('are told by identifiers, at whichever merchant, under the name in any spelling', () => {
    const keyIdsOf = keyIdsIn(merchants);
    expect(keyIdsOf('ann')).toHaveLength(3);
    expect(keyIdsOf('ANN')).toEqual(keyIdsOf('ann'));
    expect(keyIdsOf('bob')).toHaveLength(1);
    expect(keyIdsOf('eve')).toEqual([]);
    expect(new Set([...keyIdsOf('ann'), ...keyIdsOf('bob')]).size).toBe(4);
    expect(keyIdsIn([{ keys: keys('zoe', 'c') }])('zoe')).toEqual(keyIdsOf('bob'));
  });

  it('are short, and no part of the digests of their secrets', () => {
    for (const id of keyIdsIn(merchants)('ann')) {
      expect(id).toMatch(/^[0-9a-f]{16}$/);
      expect(['a', 'b', 'd'].map(digest).join()).not.toContain(id);
    }
  });

  it('make one person of two spellings, where two are wanted', () => {
    const { length } = personsWith('approve', [
      { keys: [...keys('ann', 'a'), ...keys('ANN', 'b'), ...keys('ann ', 'c')] },
    ]);
    expect(length).toBe(1);
  });
});
