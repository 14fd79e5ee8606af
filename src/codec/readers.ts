import type { Request } from 'express';
import { Attempts } from '../http/attempts.js';
import { type Caller, createAuthenticator, requireScope, sameSecret } from '../http/auth.js';
import { httpProblem, unauthenticated } from '../http/problem.js';
import { Sessions } from '../http/sessions.js';
import type { Merchant } from '../settings/merchants.js';

/** Wrong keys and tokens of an address within a minute, after which its refusals are delayed. */
export const MAX_FAILURES_PER_MINUTE = 20;

/** Lifetime of an operator's session: a working day, in ms. */
const LIFETIME_MS = 12 * 60 * 60 * 1_000;

/** Browsers in which one key may be signed in at a time. */
const MAX_SESSIONS_OF_KEY = 1_000;

export interface ReaderOptions {
  /** The merchants. Keys with the scope `review` may read payments. */
  readonly merchants: readonly Merchant[];
  /** The secret part of an address at which the Web UI needs no other credentials: `/ui/<token>/decode`. */
  readonly uiToken?: string | undefined;
}

/** The readers of payments: everybody with an operator's key, and the Web UI. */
export class Readers {
  /** Operators who have signed in with a browser, by the SHA-256 of their keys. */
  readonly sessions = new Sessions({
    cookie: 'sanaga_codec',
    maxAgeMs: LIFETIME_MS,
    maxIdleMs: LIFETIME_MS,
    maxOfKey: MAX_SESSIONS_OF_KEY,
  });
  readonly #attempts = new Attempts(MAX_FAILURES_PER_MINUTE);
  readonly #authenticator;
  readonly #uiToken: string | undefined;

  constructor({ merchants, uiToken }: ReaderOptions) {
    this.#authenticator = createAuthenticator(merchants);
    this.#uiToken = uiToken;
  }

  /** Lets the operators among these merchants read from now on, and nobody else. */
  replace(merchants: readonly Merchant[]): void {
    this.#authenticator.replace(merchants);
  }

  /**
   * Authenticates a request. Only wrong credentials count as an attempt: the Web UI makes dozens of requests without
   * any before its operator signs in.
   *
   * @returns the name that the log has
   * @throws {Problem} `unauthenticated`, `forbidden`, `too_many_attempts`.
   */
  async identify(request: Request): Promise<string> {
    const { token } = request.params;
    if (token !== undefined) return await this.#guard(request, () => this.#byToken(String(token)));
    const reader = this.signedIn(request);
    if (reader !== undefined) return reader.person;
    const { authorization } = request.headers;
    if (authorization === undefined) throw unauthenticated('missing');
    return (await this.#guard(request, () => this.#byKey(authorization))).person;
  }

  /** The operator who is signed in with the browser that a request comes from. */
  signedIn(request: Request): Caller | undefined {
    const session = this.sessions.find(request);
    const caller = session && this.#authenticator.find(session.key);
    return caller?.scopes.has('review') ? caller : undefined;
  }

  /** The operator with this key. @throws {Problem} as {@link identify}. */
  async withKey(request: Request, key: string): Promise<Caller> {
    return await this.#guard(request, () => this.#byKey(`Bearer ${key}`));
  }

  #guard<T>(request: Request, authenticate: () => T): Promise<T> {
    return this.#attempts.guard(request.ip ?? '', authenticate);
  }

  #byKey(authorization: string): Caller {
    const caller = this.#authenticator.authenticate(authorization);
    requireScope(caller, ['review']);
    return caller;
  }

  #byToken(token: string): string {
    if (this.#uiToken !== undefined && sameSecret(token, this.#uiToken)) return 'web-ui';
    throw httpProblem('unauthenticated', 'The address of this codec server has changed: reload the page.');
  }
}
