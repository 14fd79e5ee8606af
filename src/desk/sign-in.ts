import { setTimeout as pause } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import {
  cookieName,
  cookieOf,
  cookieOptions,
  isPrivate,
  plainTextWarning,
  randomToken,
  sameToken,
} from '../http/browser.js';
import { html } from '../http/html.js';
import { networkOf, REFUSED_AFTER_MS } from '../http/request-limits.js';
import { recordOf } from '../http/request-log.js';
import type { ConnectApi, OperatorApi } from './api-client.js';
import { csrfField, errorPage, page } from './page.js';
import type { Sessions } from './sessions.js';
import { textOf } from './visit.js';

/** Attempts to sign in with a wrong key, from one address in this many seconds, after which others are refused late. */
const MAX_FAILURES = 5;
const WINDOW_S = 60;

const SESSION_COOKIE = 'sanaga_desk';
const FORM_COOKIE = 'sanaga_desk_form';

/** How long the form may stay open before it is sent, in ms. */
const FORM_AGE_MS = 60 * 60_000;

/** A key that a header can carry. */
const POSSIBLE_KEY = /^[!-~]{1,400}$/;

export interface SignInOptions {
  readonly connect: ConnectApi;
  readonly sessions: Sessions;
  readonly maxAgeMs: number;
}

/**
 * The pages that let operators in and out. Wrong keys are limited, here by the operator's address and in the API by the
 * desk's. A right one is let in: others' attempts shut no operator out.
 */
export class SignIn {
  readonly #failures = new RateLimiterMemory({ points: MAX_FAILURES, duration: WINDOW_S });

  constructor(private readonly options: SignInOptions) {}

  /** GET /desk/sign-in */
  readonly form: RequestHandler = (request, response) => {
    if (!isPrivate(request)) return refuseUnsafe(response);
    this.#show(request, response, 200, nextOf(textOf(request.query, 'next')));
  };

  /** POST /desk/sign-in */
  readonly submit: RequestHandler = async (request, response) => {
    if (!isPrivate(request)) return refuseUnsafe(response);
    const [csrf, typed] = [textOf(request.body, 'csrf'), textOf(request.body, 'key')];
    const next = nextOf(textOf(request.body, 'next'));
    const kept = cookieOf(request, FORM_COOKIE);
    if (kept === undefined || !sameToken(kept, csrf)) {
      return this.#show(request, response, 403, next, 'The form was open for too long. Try again.');
    }
    const key = typed.trim();
    const answer = POSSIBLE_KEY.test(key) ? await this.options.connect(key, recordOf(request).id).key() : undefined;
    if (answer === undefined || isWrongKey(answer)) return await this.#refuse(request, response, next);
    if (answer.kind === 'problem') return this.#show(request, response, 503, next, answer.problem.detail);
    const { name, scopes } = answer.value;
    if (!scopes.includes('review')) {
      const text = `The key of ${name} doesn't have the scope review, which decisions need.`;
      return this.#show(request, response, 403, next, text);
    }
    recordOf(request).caller = name;
    const id = this.options.sessions.begin(name, key);
    response.clearCookie(cookieName(FORM_COOKIE, request), cookieOptions(request));
    response.cookie(cookieName(SESSION_COOKIE, request), id, {
      ...cookieOptions(request),
      maxAge: this.options.maxAgeMs,
    });
    response.redirect(303, next);
  };

  /** POST /desk/sign-out */
  signOut(request: Request, response: Response): void {
    const id = sessionIdOf(request);
    if (id !== undefined) this.options.sessions.end(id);
    response.clearCookie(cookieName(SESSION_COOKIE, request), cookieOptions(request));
    response.redirect(303, '/desk/sign-in');
  }

  #show(request: Request, response: Response, status: number, next: string, error?: string): void {
    const token = randomToken();
    response.cookie(cookieName(FORM_COOKIE, request), token, {
      ...cookieOptions(request),
      maxAge: FORM_AGE_MS,
    });
    response.status(status).send(signInPage(token, next, error));
  }

  /** Refuses a wrong key; after too many, late. */
  async #refuse(request: Request, response: Response, next: string): Promise<void> {
    const { consumedPoints, msBeforeNext } = await this.#failures.penalty(networkOf(request.ip ?? ''));
    if (consumedPoints <= MAX_FAILURES) {
      return this.#show(request, response, 401, next, 'This key is not known.');
    }
    await pause(REFUSED_AFTER_MS);
    const seconds = Math.ceil(msBeforeNext / 1_000);
    response.set('Retry-After', String(seconds));
    this.#show(
      request,
      response,
      429,
      next,
      `This key is not known. After too many attempts, try again in ${seconds} seconds.`,
    );
  }
}

/** Whether the API doesn't know the key. It says so as 429 when it has refused too many of the desk's. */
function isWrongKey(answer: Awaited<ReturnType<OperatorApi['key']>>): boolean {
  if (answer.kind !== 'problem') return false;
  return answer.problem.status === 401 || answer.problem.code === 'too_many_attempts';
}

/** The id of the session that a request's cookie names. */
export function sessionIdOf(request: Request): string | undefined {
  return cookieOf(request, SESSION_COOKIE);
}

/** The sign-in page that leads back to where somebody wanted to go. */
export function signInAddress(wanted: string): string {
  return `/desk/sign-in?next=${encodeURIComponent(nextOf(wanted))}`;
}

/** Only our own pages: any other address could be a copy of them. */
function nextOf(address: string): string {
  return /^\/desk(?:[/?][\w\-./?=&%~+]*)?$/.test(address) ? address : '/desk';
}

function refuseUnsafe(response: Response): void {
  response.status(403).send(errorPage('The desk needs https', plainTextWarning('the desk')));
}

function signInPage(token: string, next: string, error: string | undefined): string {
  const main = html`
<div class="title"><h1>Sign in to the desk</h1><p>Here people decide on payments in REVIEW.</p></div>
<form class="card" method="post" action="/desk/sign-in">
${csrfField(token)}<input type="hidden" name="next" value="${next}">
<div class="field"><label for="key">Your API key</label>
<span class="hint" id="key-hint">It needs the scope review. What you decide is recorded under its name: use your own.</span>
${error !== undefined && html`<span class="error" id="key-error" role="alert">${error}</span>`}
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" autocapitalize="none" aria-describedby="key-hint${error !== undefined && ' key-error'}"${error !== undefined && html` aria-invalid="true"`}></div>
<div class="actions"><button class="button">Sign in</button></div>
</form>
<p class="quiet">Signed in already, and came from another site? <a href="${next}">Go on to the desk</a>.</p>`;
  return page({ title: error === undefined ? 'Sign in' : 'Error: sign in', narrow: true, main });
}
