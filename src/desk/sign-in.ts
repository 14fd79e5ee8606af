import type { Request, RequestHandler, Response } from 'express';
import { Attempts } from '../http/attempts.js';
import { sameSecret } from '../http/auth.js';
import {
  cookieName,
  cookieOf,
  cookieOptions,
  isPrivate,
  plainTextWarning,
  privateAction,
  randomToken,
  textOf,
} from '../http/browser.js';
import { html } from '../http/html.js';
import { Problem, unauthenticated } from '../http/problem.js';
import { recordOf } from '../http/request-log.js';
import type { Sessions } from '../http/sessions.js';
import type { ConnectApi, OperatorApi } from './api-client.js';
import { csrfField, document, errorPage } from './page.js';
import { newSession, type Session } from './session.js';

/** Wrong keys of an address within a minute, after which its refusals are delayed. */
const MAX_FAILURES = 5;

/** Holds the form's token: another site's form has none. */
const FORM_COOKIE = 'sanaga_desk_form';

/** The form may stay open for this long before it is sent, in ms. */
const FORM_AGE_MS = 60 * 60_000;

/** A key that a header can carry. */
const POSSIBLE_KEY = /^[!-~]{1,400}$/;

/**
 * The pages that let operators in and out. Wrong keys are limited, here by the operator's address and in the API by the
 * desk's. A right one is let in: others' attempts shut no operator out.
 */
export class SignIn {
  readonly #attempts = new Attempts(MAX_FAILURES);

  constructor(
    private readonly connect: ConnectApi,
    private readonly sessions: Sessions<Session>,
  ) {}

  /** GET /desk/sign-in */
  readonly form: RequestHandler = (request, response) => {
    if (!isPrivate(request)) return refuseUnsafe(response);
    show(request, response, 200, nextOf(textOf(request.query, 'next')));
  };

  /** POST /desk/sign-in */
  readonly submit: RequestHandler = async (request, response) => {
    if (!isPrivate(request)) return refuseUnsafe(response);
    const next = nextOf(textOf(request.body, 'next'));
    const refuse = (status: number, why: string) => show(request, response, status, next, why);
    const token = cookieOf(request, FORM_COOKIE);
    if (token === undefined || !sameSecret(token, textOf(request.body, 'csrf'))) {
      return refuse(403, 'The form was open for too long. Try again.');
    }
    const key = textOf(request.body, 'key').trim();
    try {
      const answer = await this.#ask(request, key);
      if (answer.kind === 'problem') return refuse(503, answer.problem.detail);
      const { name: owner, person, scopes } = answer.value;
      if (!scopes.includes('review') && !scopes.includes('approve')) {
        return refuse(403, `The key of ${person} has neither the scope review, which decisions need, nor approve.`);
      }
      recordOf(request).caller = person;
      response.clearCookie(cookieName(FORM_COOKIE, request), cookieOptions(request));
      this.sessions.begin(request, response, newSession({ person, owner, scopes, key }));
      response.redirect(303, next);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code !== 'too_many_attempts') return refuse(401, 'This key is not known.');
      response.set(error.headers);
      const seconds = error.headers['Retry-After'];
      refuse(429, `This key is not known. After too many attempts, try again in ${seconds} seconds.`);
    }
  };

  /** POST /desk/sign-out */
  readonly signOut: RequestHandler = (request, response) => {
    this.sessions.end(request, response);
    response.redirect(303, '/desk/sign-in');
  };

  /** Asks the API whose key it is. @throws {Problem} when the key is wrong: `unauthenticated`, `too_many_attempts`. */
  async #ask(request: Request, key: string): ReturnType<OperatorApi['key']> {
    const answer = POSSIBLE_KEY.test(key) ? await this.connect(key, recordOf(request).id).key() : undefined;
    return await this.#attempts.guard(request.ip ?? '', () => {
      if (answer === undefined || isWrongKey(answer)) throw unauthenticated('unknown');
      return answer;
    });
  }
}

/**
 * Reports whether the API rejected the key. It answers 429 instead when it has rejected too many keys from the desk.
 */
function isWrongKey(answer: Awaited<ReturnType<OperatorApi['key']>>): boolean {
  if (answer.kind !== 'problem') return false;
  return answer.problem.status === 401 || answer.problem.code === 'too_many_attempts';
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
  response.status(403).send(document(errorPage('The desk needs https', plainTextWarning('the desk'))));
}

/** Answers with the form, and a new token for it. */
function show(request: Request, response: Response, status: number, next: string, error?: string): void {
  const token = randomToken();
  response.cookie(cookieName(FORM_COOKIE, request), token, { ...cookieOptions(request), maxAge: FORM_AGE_MS });
  const action = privateAction(request, '/desk/sign-in');
  response.status(status).send(signInPage({ action, token, next, error }));
}

interface SignInForm {
  readonly action: string;
  readonly token: string;
  readonly next: string;
  readonly error: string | undefined;
}

function signInPage({ action, token, next, error }: SignInForm): string {
  const main = html`
<div class="title"><h1>Sign in to the desk</h1><p>Here people decide on payments in REVIEW, and approve payouts.</p></div>
<form class="card" method="post" action="${action}">
${csrfField(token)}<input type="hidden" name="next" value="${next}">
<div class="field"><label for="key">Your API key</label>
<span class="hint" id="key-hint">It needs the scope review or approve. What you decide is recorded under the name of its person: use your own.</span>
${error !== undefined && html`<span class="error" id="key-error" role="alert">${error}</span>`}
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" autocapitalize="none" aria-describedby="key-hint${error !== undefined && ' key-error'}"${error !== undefined && html` aria-invalid="true"`}></div>
<div class="actions"><button class="button">Sign in</button></div>
</form>
<p class="quiet">Signed in already, and came from another site? <a href="${next}">Go on to the desk</a>.</p>`;
  return document({ title: error === undefined ? 'Sign in' : 'Error: sign in', narrow: true, main });
}
