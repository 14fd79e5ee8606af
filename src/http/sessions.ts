import type { Request, Response } from 'express';
import { cookieName, cookieOf, cookieOptions, randomToken } from './browser.js';

export interface SessionOptions {
  /** The name of the cookie. */
  readonly cookie: string;
  /** Lifetime of a session, in ms. */
  readonly maxAgeMs: number;
  /** Its lifetime without a request, in ms. */
  readonly maxIdleMs: number;
  /** Sessions that one key may have. When there is another, the one used longest ago ends. */
  readonly maxOfKey: number;
}

interface KeptSession<Session> {
  readonly session: Session;
  readonly begunAt: number;
  seenAt: number;
}

/**
 * Remembers who is signed in with a browser, in memory: a restart signs everybody out. Only the random value of a
 * cookie leads to a session.
 */
export class Sessions<Session extends { readonly key: string }> {
  /** By their ids, the one used longest ago first. */
  readonly #kept = new Map<string, KeptSession<Session>>();

  constructor(private readonly options: SessionOptions) {}

  /** Begins a session, and has the browser keep its cookie. */
  begin(request: Request, response: Response, session: Session): void {
    const { cookie, maxAgeMs, maxOfKey } = this.options;
    this.#sweep();
    const own = [...this.#kept].filter(([, kept]) => kept.session.key === session.key);
    const [oldest] = own;
    if (own.length >= maxOfKey && oldest !== undefined) this.#kept.delete(oldest[0]);

    const id = randomToken();
    const now = Date.now();
    this.#kept.set(id, { session, begunAt: now, seenAt: now });
    response.cookie(cookieName(cookie, request), id, { ...cookieOptions(request), maxAge: maxAgeMs });
  }

  /** The request's session, as long as it lasts. */
  find(request: Request): Session | undefined {
    this.#sweep();
    const id = this.#idIn(request);
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    kept.seenAt = Date.now();
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return kept.session;
  }

  /** Ends the request's session, and has the browser forget its cookie. */
  end(request: Request, response: Response): void {
    this.#kept.delete(this.#idIn(request));
    response.clearCookie(cookieName(this.options.cookie, request), cookieOptions(request));
  }

  /** Ends every session of a key, because it is no longer valid. */
  endAllOf(key: string): void {
    for (const [id, { session }] of this.#kept) if (session.key === key) this.#kept.delete(id);
  }

  #idIn(request: Request): string {
    return cookieOf(request, this.options.cookie) ?? '';
  }

  #sweep(): void {
    const now = Date.now();
    const { maxAgeMs, maxIdleMs } = this.options;
    for (const [id, { begunAt, seenAt }] of this.#kept) {
      if (now - begunAt >= maxAgeMs || now - seenAt >= maxIdleMs) this.#kept.delete(id);
    }
  }
}
