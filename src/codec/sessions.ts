import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';

const COOKIE = 'sanaga_codec';

/** How long an operator stays signed in: a working day. */
const LIFETIME_MS = 12 * 60 * 60 * 1_000;

/** Sessions kept. Beyond that, the oldest ends. */
const MAX_SESSIONS = 1_000;

interface Session {
  /** The SHA-256 of the API key that was signed in with. */
  readonly key: string;
  /** ms since the epoch */
  readonly until: number;
}

/**
 * The operators who have signed in with a browser. Only the cookie's random value knows a session, and it ends with the process.
 *
 * @param isSecure whether browsers send the cookie over HTTPS alone
 * @param now the clock, in ms since the epoch
 */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  constructor(
    private readonly isSecure: boolean,
    private readonly now: () => number = Date.now,
  ) {}

  /** Begins a session, and has the browser keep it. */
  begin(response: Response, key: string): void {
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { key, until: this.now() + LIFETIME_MS });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    response.cookie(COOKIE, id, { ...this.#attributes(), maxAge: LIFETIME_MS });
  }

  /** The key that the request's session was begun with; `undefined` when it has none that lasts. */
  keyOf(request: Request): string | undefined {
    const session = this.#sessions.get(idIn(request));
    return session !== undefined && session.until > this.now() ? session.key : undefined;
  }

  end(request: Request, response: Response): void {
    this.#sessions.delete(idIn(request));
    response.clearCookie(COOKIE, this.#attributes());
  }

  /** Strict: the Web UI is on the same site, by another port or a neighbouring name, and nobody else may send it. */
  #attributes() {
    return { httpOnly: true, sameSite: 'strict', secure: this.isSecure, path: '/' } as const;
  }
}

function idIn({ headers: { cookie = '' } }: Request): string {
  const pairs = cookie.split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([name]) => name === COOKIE)?.[1] ?? '';
}
