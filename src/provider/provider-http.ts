import { validateHeaderValue } from 'node:http';
import got, { type Got } from 'got';
import { createKeepAliveAgents } from './keep-alive-agents.js';
import { credentialHeaders } from './wire.js';

export interface ProviderHttpOptions {
  /** The service's address, http or https, with or without a path. */
  readonly url: string;
  readonly apiUser: string;
  readonly apiKey: string;
  /** ms that a request may take from its start to the end of its answer. */
  readonly timeoutMs: number;
  readonly userAgent?: string | undefined;
}

export interface ProviderHttp {
  readonly got: Got;
  readonly timeoutMs: number;
  /** Ends every connection, those in use as well. */
  close(): void;
}

/** Longest wait for a connection, in ms, however long an answer may take. */
const CONNECT_MAX_MS = 5_000;

/**
 * The HTTP client of one of the provider's services. It sends each request once: nothing is retried and no redirect is
 * followed, since the provider can't tell a repeated request from a new one. Credentials go in headers, to the
 * service's own address and no other.
 *
 * @throws TypeError on an address or a credential that can't be used, RangeError on a time limit that can't
 */
export function createProviderHttp(options: ProviderHttpOptions): ProviderHttp {
  const { timeoutMs, userAgent = 'sanaga' } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
    throw new RangeError(`The provider's time limit must be a whole number of ms above 0, not ${timeoutMs}`);
  }
  const connectMs = Math.min(CONNECT_MAX_MS, Math.ceil(timeoutMs / 3));
  const agents = createKeepAliveAgents({ connectMs });
  return {
    timeoutMs,
    got: got.extend({
      prefixUrl: readServiceUrl(options.url),
      allowAbsoluteUrls: false,
      headers: {
        [credentialHeaders.user]: readCredential(credentialHeaders.user, options.apiUser),
        [credentialHeaders.key]: readCredential(credentialHeaders.key, options.apiKey),
        'user-agent': userAgent,
        accept: 'application/json',
      },
      agent: agents,
      timeout: { lookup: connectMs, connect: connectMs, secureConnect: connectMs, request: timeoutMs },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      // A small compressed body can unpack to any size.
      decompress: false,
      responseType: 'buffer',
      // Said aloud, so that no variable of the environment turns the check off.
      https: { rejectUnauthorized: true },
    }),
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function readServiceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text isn't quoted: an address that is refused for its password would show it.
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new TypeError("The provider's address must be an http or https URL");
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError("The provider's address must have no user, password, query or fragment");
  }
  return url;
}

function readCredential(name: string, value: string): string {
  if (value === '') throw new TypeError(`The provider's credential ${name} is empty`);
  validateHeaderValue(name, value);
  return value;
}
