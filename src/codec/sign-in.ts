import { createHash } from 'node:crypto';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { z } from 'zod';
import { cookieName, cookieOf, cookieOptions, isPrivate, plainTextWarning, randomToken } from '../http/browser.js';
import { Html, html } from '../http/html.js';
import { ApiError, PROBLEMS } from '../http/problem.js';

/** Who reads. */
export interface Reader {
  readonly owner: string;
  /** The SHA-256 of the key, in hex. */
  readonly key: string;
}

export interface SignInOptions {
  readonly sessions: Sessions;
  /** The reader whose session the request is of. */
  readonly signedIn: (request: Request) => Reader | undefined;
  /** The reader with this key. @throws {ApiError} when there is none, or there were too many attempts */
  readonly byForm: (request: Request, key: string) => Promise<Reader>;
  /** Where the payments are to be seen. */
  readonly uiUrl: string | undefined;
}

/** The page on which operators sign in with a browser, and its forms. */
export function signInPages({ sessions, signedIn, byForm, uiUrl }: SignInOptions): Router {
  const router = express.Router();
  router.get('/', (request, response) => {
    const reader = signedIn(request);
    if (!isPrivate(request)) response.status(403);
    response.type('html').send(reader === undefined ? signedOutOf(request) : signedInPage(reader, uiUrl));
  });
  router.post(['/sign-in', '/sign-out'], refuseOtherSites, express.urlencoded({ extended: false, limit: 4_096 }));
  router.post('/sign-in', async (request, response) => {
    if (!isPrivate(request)) {
      response.status(403).type('html').send(signedOutOf(request));
      return;
    }
    const form = z.object({ key: z.string() }).safeParse(request.body);
    try {
      const { key } = await byForm(request, form.data?.key.trim() ?? '');
      sessions.begin(request, response, key);
      response.redirect(303, '/');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      response.status(PROBLEMS[error.code].status).type('html').send(signInPage(error.message));
    }
  });
  router.post('/sign-out', (request, response) => {
    sessions.end(request, response);
    response.redirect(303, '/');
  });
  return router;
}

/** Refuses a form of another page than ours. */
const refuseOtherSites: RequestHandler = (request, response, next) => {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  // Older browsers say only from where, and a proxy may have changed the name that they came to.
  const isOurs = site === undefined ? origin === undefined || hostOf(origin) === host : OUR_SITE.has(String(site));
  if (!isOurs) {
    response.status(403).json({ message: 'Open this page itself, and sign in there.' });
    return;
  }
  next();
};

/** What a browser says of a form on the very page that it is sent to, or of an address that somebody has typed. */
const OUR_SITE: ReadonlySet<string> = new Set(['same-origin', 'none']);

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

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
 * The operators who have signed in with a browser. Only the cookie's random value knows a session, and it ends with the
 * process.
 *
 * @param now the clock, in ms since the epoch
 */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Begins a session, and has the browser keep it. */
  begin(request: Request, response: Response, key: string): void {
    const id = randomToken();
    this.#sessions.set(id, { key, until: this.now() + LIFETIME_MS });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    response.cookie(cookieName(COOKIE, request), id, { ...cookieOptions(request), maxAge: LIFETIME_MS });
  }

  /** The key that the request's session was begun with; `undefined` when it has none that lasts. */
  keyOf(request: Request): string | undefined {
    const session = this.#sessions.get(idIn(request));
    return session !== undefined && session.until > this.now() ? session.key : undefined;
  }

  end(request: Request, response: Response): void {
    this.#sessions.delete(idIn(request));
    response.clearCookie(cookieName(COOKIE, request), cookieOptions(request));
  }
}

function idIn(request: Request): string {
  return cookieOf(request, COOKIE) ?? '';
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 3rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff; }
label { display: block; font-weight: 600; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; margin: .25rem 0 1rem; border: 1px solid #6b6b6b; border-radius: 4px; }
button { font: inherit; padding: .5rem 1rem; border: 0; border-radius: 4px; background: #14532d; color: #fff; }
[role=alert] { border-left: 4px solid #b00020; padding-left: .75rem; }
`;

/** What the page's Content-Security-Policy allows it, as a source. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

function signedOutOf(request: Request): string {
  return signInPage(isPrivate(request) ? undefined : plainTextWarning('this page'));
}

function signInPage(problem: string | undefined): string {
  return page(html`<p>Payments are encrypted in Temporal. Sign in with an API key of the scope <code>review</code>, and the Web UI shows them
readable in this browser.</p>
${problem !== undefined && html`<p role="alert">${problem}</p>`}
<form method="post" action="/sign-in">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>`);
}

function signedInPage({ owner }: Reader, uiUrl: string | undefined): string {
  return page(html`<p>You are signed in with a key of <strong>${owner}</strong>, for 12 hours at most.
${uiUrl === undefined ? "Go on to Temporal's Web UI." : html`Go on to <a href="${uiUrl}">Temporal's Web UI</a>.`}</p>
<form method="post" action="/sign-out">
<button>Sign out</button>
</form>`);
}

function page(main: Html): string {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sanaga: reading payments</title>
<style>${new Html(STYLE)}</style>
<main>
<h1>Reading payments in Temporal's Web UI</h1>
${main}
</main>
</html>
`.text;
}
