import { randomToken } from '../http/browser.js';
import type { Html } from '../http/html.js';
import type { Draft } from './draft.js';

/** What a page says once, after a redirect. */
export interface Notice {
  readonly kind: 'done' | 'refused' | 'unknown';
  readonly text: string;
  /** What follows the text. */
  readonly more?: Html | undefined;
}

/** An operator who is signed in. */
export interface Session {
  /** The name of the key, under which decisions are recorded. */
  readonly name: string;
  /** The key itself, with which the API is called. It is kept in memory alone. */
  readonly key: string;
  /** What every form of the session carries, and no other site can know. */
  readonly csrf: string;
  readonly begunAt: number;
  seenAt: number;
  /** Decisions that are being made, by their ids. */
  readonly drafts: Map<string, Draft>;
  /** What the next page of a payment says. */
  readonly notices: Map<string, Notice>;
}

export interface SessionLimits {
  /** How long a session lasts, in ms. */
  readonly maxAgeMs: number;
  /** How long it lasts without a request, in ms. */
  readonly maxIdleMs: number;
}

/** Sessions of one key. When there is another, the one used longest ago ends. */
const MAX_OF_ONE_KEY = 5;

/** Who is signed in, in memory: a restart signs everybody out. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  constructor(private readonly limits: SessionLimits) {}

  /** @returns the id of the new session, which the browser is given as a cookie */
  begin(name: string, key: string): string {
    this.#sweep();
    const own = [...this.#sessions].filter(([, session]) => session.key === key);
    const [oldest] = own.sort(([, one], [, other]) => one.seenAt - other.seenAt);
    if (own.length >= MAX_OF_ONE_KEY && oldest !== undefined) this.#sessions.delete(oldest[0]);

    const now = Date.now();
    const id = randomToken();
    this.#sessions.set(id, {
      name,
      key,
      csrf: randomToken(),
      begunAt: now,
      seenAt: now,
      drafts: new Map(),
      notices: new Map(),
    });
    return id;
  }

  /** The session of an id that hasn't ended. */
  find(id: string | undefined): Session | undefined {
    if (id === undefined) return undefined;
    this.#sweep();
    const session = this.#sessions.get(id);
    if (session !== undefined) session.seenAt = Date.now();
    return session;
  }

  end(id: string): void {
    this.#sessions.delete(id);
  }

  /** Ends every session of a key, because the API knows it no more. */
  endAllOf(key: string): void {
    for (const [id, session] of this.#sessions) if (session.key === key) this.#sessions.delete(id);
  }

  #sweep(): void {
    const now = Date.now();
    const { maxAgeMs, maxIdleMs } = this.limits;
    for (const [id, { begunAt, seenAt }] of this.#sessions) {
      if (now - begunAt >= maxAgeMs || now - seenAt >= maxIdleMs) this.#sessions.delete(id);
    }
  }
}
