import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';

/** Over https, the prefix has browsers take the cookie from this host alone. */
const COOKIE = { http: 'sanaga_codec', https: '__Host-sanaga_codec' } as const;

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
 * @param now the clock, in ms since the epoch
 */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Begins a session, and has the browser keep it. */
  begin(request: Request, response: Response, key: string): void {
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { key, until: this.now() + LIFETIME_MS });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    response.cookie(nameFor(request), id, { ...attributesFor(request), maxAge: LIFETIME_MS });
  }

  /** The key that the request's session was begun with; `undefined` when it has none that lasts. */
  keyOf(request: Request): string | undefined {
    const session = this.#sessions.get(idIn(request));
    return session !== undefined && session.until > this.now() ? session.key : undefined;
  }

  end(request: Request, response: Response): void {
    this.#sessions.delete(idIn(request));
    response.clearCookie(nameFor(request), attributesFor(request));
  }
}

function nameFor({ secure }: Request): string {
  return secure ? COOKIE.https : COOKIE.http;
}

/** Strict: the Web UI is on the same site, by another port or a neighbouring name, and nobody else may send it. */
function attributesFor({ secure }: Request) {
  return { httpOnly: true, sameSite: 'strict', secure, path: '/' } as const;
}

function idIn(request: Request): string {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([name]) => name === nameFor(request))?.[1] ?? '';
}
