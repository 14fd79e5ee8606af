import { createHash } from 'node:crypto';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { isPrivate, plainTextWarning, privateAction, textOf } from '../http/browser.js';
import { Html, html } from '../http/html.js';
import { Problem } from '../http/problem.js';
import type { Readers } from './readers.js';

/**
 * The page on which operators sign in with a browser, and its forms.
 *
 * @param uiUrl where the payments are to be seen
 */
export function signInPages(readers: Readers, uiUrl: string | undefined): Router {
  const router = express.Router();
  router.get('/', (request, response) => {
    if (!isPrivate(request)) return refuseUnsafe(response);
    const reader = readers.signedIn(request);
    response.type('html').send(reader === undefined ? signInPage(request) : signedInPage(reader.person, uiUrl));
  });
  router.post(['/sign-in', '/sign-out'], refuseOtherSites, express.urlencoded({ extended: false, limit: 4_096 }));
  router.post('/sign-in', async (request, response) => {
    if (!isPrivate(request)) return refuseUnsafe(response);
    try {
      const { key } = await readers.withKey(request, textOf(request.body, 'key').trim());
      readers.sessions.begin(request, response, { key });
      response.redirect(303, '/');
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      response.status(error.status).type('html').send(signInPage(request, error.message));
    }
  });
  router.post('/sign-out', (request, response) => {
    readers.sessions.end(request, response);
    response.redirect(303, '/');
  });
  return router;
}

/** Refuses a form of another page than ours. */
const refuseOtherSites: RequestHandler = (request, response, next) => {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  // Older browsers send only their origin, and a proxy may have changed the host name of the request.
  const isOurs = site === undefined ? origin === undefined || hostOf(origin) === host : OUR_SITE.has(String(site));
  if (isOurs) return next();
  response.status(403).json({ message: 'Open this page itself, and sign in there.' });
};

/** Values of Sec-Fetch-Site for a form on this very site, and for an address that somebody typed. */
const OUR_SITE: ReadonlySet<string> = new Set(['same-origin', 'none']);

function hostOf(origin: string): string | undefined {
  return URL.parse(origin)?.host;
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 3rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff; }
label { display: block; font-weight: 600; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; margin: .25rem 0 1rem; border: 1px solid #6b6b6b; border-radius: 4px; }
button { font: inherit; padding: .5rem 1rem; border: 0; border-radius: 4px; background: #14532d; color: #fff; }
[role=alert] { border-left: 4px solid #b00020; padding-left: .75rem; }
`;

/** The page's style, as a source that its Content-Security-Policy allows. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

function refuseUnsafe(response: Response): void {
  response
    .status(403)
    .type('html')
    .send(page(html`<p role="alert">${plainTextWarning('this page')}</p>`));
}

function signInPage(request: Request, problem?: string): string {
  return page(html`<p>Payments are encrypted in Temporal. Sign in with an API key of the scope <code>review</code>, and the Web UI shows them
readable in this browser.</p>
${problem !== undefined && html`<p role="alert">${problem}</p>`}
<form method="post" action="${privateAction(request, '/sign-in')}">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>`);
}

function signedInPage(person: string, uiUrl: string | undefined): string {
  return page(html`<p>You are signed in with a key of <strong>${person}</strong>, for 12 hours at most.
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
