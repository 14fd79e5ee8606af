import { afterEach, describe, expect, it } from '@jest/globals';
import { checkBook } from '../../cli/doctor/book.js';
import { checkProvider } from '../../cli/doctor/http.js';
import { newBook } from '../support/books.js';
import { closeServers, json, serveHttp } from '../support/local-servers.js';

afterEach(closeServers);

/** Checks a payout service that answers so, with a level of 500,000 XAF. */
async function found(status: number, body: object, warnBelow: number | null = 500_000) {
  const { url } = await serveHttp(json(status, body));
  const settings = {
    PROVIDER_COLLECTION_URL: url,
    PROVIDER_COLLECTION_API_USER: 'user',
    PROVIDER_COLLECTION_API_KEY: 'key',
    PROVIDER_PAYOUT_URL: url,
    PROVIDER_PAYOUT_API_USER: 'user',
    PROVIDER_PAYOUT_API_KEY: 'key',
  };
  return await checkProvider('payout', settings, warnBelow ?? undefined);
}
const balance = (amount: number, currency = 'XAF') => ({ service: 'Shop payouts', balance: amount, currency });

describe("the doctor's look at the payout account", () => {
  it('is content with the level and more', async () => {
    expect(await found(200, balance(500_000))).toEqual([
      { check: 'provider, payouts', status: 'ok', detail: 'Shop payouts takes the credentials: 500,000 XAF' },
      {
        check: 'float',
        status: 'ok',
        detail: 'the payout account holds 500,000 XAF; FLOAT_WARN_BELOW is 500,000 XAF',
      },
    ]);
  });

  it('warns below it', async () => {
    expect((await found(200, balance(499_999)))[1]).toEqual({
      check: 'float',
      status: 'warn',
      detail: 'the payout account holds 499,999 XAF; FLOAT_WARN_BELOW is 500,000 XAF',
      todo: 'Have it topped up at the provider: payouts beyond it fail.',
    });
  });

  it.each([
    ['says nothing of it', 503, {}],
    ['refuses', 400, { message: 'not enabled' }],
    ['tells another currency', 200, balance(900_000, 'EUR')],
  ])("says that it isn't known when the provider %s", async (_, status, body) => {
    expect((await found(status, body))[1]).toMatchObject({
      check: 'float',
      status: 'warn',
      detail: "it isn't known what the payout account holds; FLOAT_WARN_BELOW is 500,000 XAF",
    });
  });

  it('is not taken without a level', async () => {
    expect(await found(200, balance(1), null)).toHaveLength(1);
  });
});

describe("the doctor's look at the book", () => {
  it('is content when it answers, with the tables of this release', async () => {
    const made = await newBook();
    try {
      const detail = expect.stringMatching(/^[\w.:]+\/book_\w+ answers, and has the tables of this release$/);
      expect(await checkBook(made.url)).toEqual({ check: 'book', status: 'ok', detail });
      await made.book.query('DELETE FROM migrations');
      expect(await checkBook(made.url)).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining('lacks tables'),
        todo: expect.stringContaining('node lib/migrate.js'),
      });
    } finally {
      await made.drop();
    }
  });

  it('fails without an answer, and shows no password', async () => {
    expect(await checkBook('postgres://sanaga:secret@127.0.0.1:9/book')).toEqual({
      check: 'book',
      status: 'fail',
      detail: expect.stringMatching(/^no answer from 127\.0\.0\.1:9\/book: (?!.*secret)/),
      todo: expect.stringContaining('DATABASE_URL'),
    });
  });
});
