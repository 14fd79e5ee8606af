import { describe, expect, it } from '@jest/globals';
import { createProviderHttp } from '../../src/provider/provider-http.js';

const settings = { url: 'http://127.0.0.1:1', apiUser: 'user', apiKey: 'secret', timeoutMs: 200 };

describe("the HTTP client of a provider's service", () => {
  it.each([
    ['no address', { url: '' }],
    ['an address of another kind', { url: 'ftp://127.0.0.1/' }],
    ['an address with a password', { url: 'http://me:hidden@127.0.0.1/' }],
    ['an address with a query', { url: 'http://127.0.0.1/?a=1' }],
    ['no credential', { apiKey: '' }],
    ['a credential that no header can carry', { apiKey: 'hidden\r\nx: y' }],
    ['a time limit of 0', { timeoutMs: 0 }],
    ['a time limit that is no number', { timeoutMs: Number.NaN }],
  ])('is not made with %s, and the error shows no secret', (_, wrong) => {
    const make = () => createProviderHttp({ ...settings, ...wrong });
    expect(make).toThrow(/provider|header/i);
    expect(make).not.toThrow(/hidden/);
  });
});
