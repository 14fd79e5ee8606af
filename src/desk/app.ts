import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { sameSecret } from '../http/auth.js';
import { textOf } from '../http/browser.js';
import { createPages } from '../http/pages.js';
import { logRequests, recordOf } from '../http/request-log.js';
import { type SessionOptions, Sessions } from '../http/sessions.js';
import { parsePaymentId } from '../payments/words/payment-id.js';
import type { Shutdown } from '../process/shutdown.js';
import type { Scope } from '../settings/merchants.js';
import { ApiAway, apiAt, type ConnectApi } from './api-client.js';
import { APPROVALS_PATH, approvalsPage, approvePayout, rejectPayout } from './approvals.js';
import { carryOut, confirmation, decisionForm, draftDecision } from './deciding.js';
import { deliveriesPage, resendNotification } from './deliveries.js';
import { ACTIONS } from './draft.js';
import { document, errorPage } from './page.js';
import { paymentPage, refreshPayment } from './payment-page.js';
import { reviewQueue } from './review-queue.js';
import { searchPage, unmatchedPage } from './search.js';
import type { Session } from './session.js';
import { SignIn, signInAddress } from './sign-in.js';
import { makeStatement, statementFile, statementPage, statementsPage } from './statements.js';
import { STYLE, STYLE_PATH } from './style.js';
import { type PageReply, ProblemError, type Visit } from './visit.js';
import { sentence } from './words.js';

export interface DeskOptions {
  /** Base address of the API. */
  readonly apiUrl: string;
  readonly sessions: Pick<SessionOptions, 'maxAgeMs' | 'maxIdleMs'>;
  /** The balance of the payout service that operators are warned below, in XAF; none by default. */
  readonly floatWarnBelow?: number | undefined;
  /** Proxies before the desk that tell it the caller's address and protocol. */
  readonly trustedProxies: number;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
}

/** Browsers that one key may be signed in with at a time. */
const MAX_SESSIONS_OF_KEY = 5;

type Handler = (visit: Visit) => Promise<PageReply>;

/** The pages, by their addresses. They need the scope `review` where no other is named. */
const PAGES: readonly (readonly [method: 'get' | 'post', path: string, handle: Handler, scope?: Scope])[] = [
  ['get', '/desk', reviewQueue],
  ['get', APPROVALS_PATH, approvalsPage, 'approve'],
  ['post', `${APPROVALS_PATH}/:id/approve`, approvePayout, 'approve'],
  ['post', `${APPROVALS_PATH}/:id/reject`, rejectPayout, 'approve'],
  ['get', '/desk/deliveries', deliveriesPage('due')],
  ['get', '/desk/deliveries/given-up', deliveriesPage('abandoned')],
  ['get', '/desk/unmatched', unmatchedPage],
  ['get', '/desk/statements', statementsPage],
  ['post', '/desk/statements', makeStatement],
  ['get', '/desk/statements/:date', statementPage],
  ['get', '/desk/statements/:date/csv', statementFile('csv')],
  ['get', '/desk/statements/:date/json', statementFile('json')],
  ['get', '/desk/search', searchPage],
  ['get', '/desk/payments/:id', paymentPage],
  ['post', '/desk/payments/:id/refresh', refreshPayment],
  ['post', '/desk/payments/:id/notifications/:number', resendNotification],
  ['get', '/desk/payments/:id/decide/:action', decisionForm],
  ['post', '/desk/payments/:id/decide/:action', draftDecision],
  ['get', '/desk/payments/:id/confirm/:draft', confirmation],
  ['post', '/desk/payments/:id/confirm/:draft', carryOut],
];

/** The desk as an Express app: pages for operators and approvers, made of what the API says. */
export function createDesk(options: DeskOptions): Express {
  const { apiUrl, sessions: limits, trustedProxies, logger, shutdown, floatWarnBelow } = options;
  const connect = apiAt(apiUrl);
  const sessions = new Sessions<Session>({ cookie: 'sanaga_desk', maxOfKey: MAX_SESSIONS_OF_KEY, ...limits });
  const signIn = new SignIn(connect, sessions);
  const app = createPages({ trustedProxies, styleSource: "'self'" });
  app.set('query parser', 'simple');
  app.use(logRequests(logger), (_, response, next) => {
    if (shutdown.begun) response.set('Connection', 'close');
    next();
  });
  const at = (method: 'get' | 'post', path: string, ...handlers: RequestHandler[]) =>
    app[method](path, noteRoute(path), ...handlers);

  at('get', '/healthz', (_, response) => void response.json({ status: 'ok' }));
  at('get', '/', (_, response) => response.redirect(303, '/desk'));
  at('get', STYLE_PATH, (_, response) => {
    response.set('Cache-Control', 'public, max-age=31536000, immutable').type('text/css').send(STYLE);
  });

  const readForm = [refuseForeign, express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 30 })];
  at('get', '/desk/sign-in', signIn.form);
  at('post', '/desk/sign-in', ...readForm, signIn.submit);
  at('post', '/desk/sign-out', ...readForm, (request, response, next) => {
    const session = sessions.find(request);
    if (session !== undefined) requireToken(session, request);
    signIn.signOut(request, response, next);
  });
  for (const [method, path, handle, scope = 'review'] of PAGES) {
    const handler = signedIn(sessions, connect, handle, scope, floatWarnBelow);
    if (method === 'post') at('post', path, ...readForm, handler);
    else at('get', path, handler);
  }
  app.use(() => {
    throw new PageError(404, 'Not found', 'There is no such page.');
  });
  app.use(sendError(sessions));
  return app;
}

/** An error with a page of its own. */
class PageError extends Error {
  override readonly name = 'PageError';

  constructor(
    readonly status: number,
    readonly title: string,
    text: string,
  ) {
    super(text);
  }
}

/** Gives the log the pattern of a request's address, never the address itself. */
function noteRoute(path: string): RequestHandler {
  return (request, _, next) => {
    recordOf(request).route = path;
    next();
  };
}

/** Refuses a form that another site has sent, if the browser says so. Where it doesn't, the form's token holds. */
const refuseForeign: RequestHandler = (request, _, next) => {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw foreign();
  next();
};

const foreign = () =>
  new PageError(
    403,
    'The form was not sent from here',
    'Nothing was done. Go back to the page, load it again, and send the form once more.',
  );

/** @throws {PageError} when the form isn't one of this session's */
function requireToken(session: Session, request: Request): void {
  if (!sameSecret(session.csrf, textOf(request.body, 'csrf'))) throw foreign();
}

function signedIn(
  sessions: Sessions<Session>,
  connect: ConnectApi,
  handle: Handler,
  scope: Scope,
  floatWarnBelow: number | undefined,
): RequestHandler {
  return async (request, response) => {
    const session = sessions.find(request);
    if (session === undefined) return response.redirect(303, signInAddress(pageOf(request)));
    const record = recordOf(request);
    record.caller = session.person;
    const payment = parsePaymentId(request.params.id);
    if (payment !== undefined) record.paymentId = payment;
    if (request.method === 'POST') requireToken(session, request);
    if (!session.scopes.includes(scope)) {
      if (request.path === '/desk') return response.redirect(303, APPROVALS_PATH);
      throw new PageError(403, 'Not with this key', `This page needs a key with the scope ${scope}.`);
    }
    const reply = await handle({
      session,
      api: connect(session.key, record.id),
      floatWarnBelow,
      param: (name) => textOf(request.params, name),
      query: (name) => textOf(request.query, name),
      field: (name) => textOf(request.body, name),
    });
    if ('to' in reply) response.redirect(303, reply.to);
    else if ('file' in reply) response.attachment(reply.name).send(reply.file);
    else response.status(reply.status ?? 200).send(document(reply, session));
  };
}

/** Finds the page that a request belongs to: a form's is the payment or its list, a file's is the statement. */
function pageOf({ method, originalUrl, body }: Request): string {
  if (method === 'POST') {
    return (
      typedAgain(originalUrl, body) ??
      /^\/desk\/(?:payments\/[\w-]+|statements|approvals)/.exec(originalUrl)?.[0] ??
      '/desk'
    );
  }
  return originalUrl.replace(/^(\/desk\/statements\/[^/?]+)\/(?:csv|json)(?=\?|$)/, '$1');
}

/** Finds the form of a decision as it was typed: whoever has to sign in again doesn't lose the reason. */
function typedAgain(address: string, body: unknown): string | undefined {
  const [, payment] = /^(\/desk\/payments\/[\w-]+)\/(?:decide|confirm)\/[\w-]+$/.exec(address) ?? [];
  const action = ACTIONS.find((one) => one === textOf(body, 'action'));
  if (payment === undefined || action === undefined) return undefined;
  const typed = new URLSearchParams();
  for (const name of ['review', 'transId', 'why']) typed.set(name, textOf(body, name).slice(0, MAX_TYPED));
  return `${payment}/decide/${action}?${typed}`.replaceAll('*', '%2A');
}

/** Units of UTF-16 of a field that a form is begun again with: 500 characters have up to two each. */
const MAX_TYPED = 1_000;

function sendError(sessions: Sessions<Session>): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const record = recordOf(request);
    const session = sessions.find(request);
    if (error instanceof ProblemError && error.problem.status === 401) {
      // The key was removed or changed: nobody gets in with it.
      if (session !== undefined) sessions.endAllOf(session.key);
      return response.redirect(303, signInAddress(pageOf(request)));
    }
    const { status, title, text } = describe(error, request.method);
    if (error instanceof ProblemError) record.code = error.problem.code;
    else if (!(error instanceof PageError)) record.error = error;
    response.status(status).send(document(errorPage(title, `${text} Request ${record.id}.`), session));
  };
}

/** Statuses of the API's that mean the same of a page. */
const PASSED_ON: readonly number[] = [400, 403, 404, 429, 503];

function describe(error: unknown, method: string): { status: number; title: string; text: string } {
  if (error instanceof PageError) return { status: error.status, title: error.title, text: error.message };
  if (error instanceof ProblemError) {
    const { status, title, detail } = error.problem;
    return { status: PASSED_ON.includes(status) ? status : 502, title, text: sentence(detail) };
  }
  if (error instanceof ApiAway) {
    const effect = method === 'POST' ? " It isn't known whether it was done: look before you repeat it." : '';
    return { status: 503, title: "The API doesn't answer", text: `${error.message}.${effect}` };
  }
  const status = statusOf(error);
  if (status < 500) return { status, title: 'The form is not valid', text: 'Nothing was done.' };
  return { status: 500, title: 'Something went wrong', text: 'It was logged.' };
}

/** The status that Express's own errors carry. */
function statusOf(error: unknown): number {
  const status: unknown = error instanceof Error && 'status' in error ? error.status : 500;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}
