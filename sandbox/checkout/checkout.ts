import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import helmet from 'helmet';
import { z } from 'zod';
import type { Entry } from '../entry.js';
import type { Ledger } from '../ledger.js';
import { type KeptForm, KeptForms } from './kept-forms.js';
import { type Locale, localeOf } from './locale.js';
import { expiredPage, notFoundPage, pendingPage, type Receipt, receiptPage } from './pages.js';
import {
  explain,
  type FormErrors,
  type FormValues,
  noErrors,
  noValues,
  paymentForm,
  readPayerForm,
} from './payment-form.js';
import { styleHash } from './style.js';
import { type CheckoutSummary, summaryOf } from './summary.js';
import type { Failure } from './texts.js';

export interface CheckoutOptions {
  readonly ledger: Pick<Ledger, 'findByLinkToken' | 'attempt' | 'withdraw'>;
  /** The name shown to payers. */
  readonly merchantName: string;
}

interface Link {
  readonly entry: Entry;
  readonly summary: CheckoutSummary;
}

/**
 * The query of the checkout page: `form` is the key of the form that was sent last; `waiting`, that the payer is to be
 * redirected to the merchant once the payment succeeds; `again`, that they tried to pay what was paid.
 */
const querySchema = z.object({
  form: z.string().optional().catch(undefined),
  waiting: z.literal('1').optional().catch(undefined),
  again: z.literal('1').optional().catch(undefined),
});
type Query = z.infer<typeof querySchema>;

/** An error of the body parser: the form is too long or malformed. */
const requestErrorSchema = z.object({ status: z.int().min(400).max(499) });

/**
 * The hosted checkout page, to be mounted at `/pay/:token`. Needs no scripts. In French where the browser prefers it,
 * otherwise in English.
 *
 * - `GET` shows the link's state: 200; 422 with the errors of the form that was sent, and what was typed; 409 when it
 *   was paid before it was to be paid again; 410 when it has expired; or 404.
 * - `POST` takes the form fields `action` (`pay` or `decline`), `phone`, `medium` (detected when empty) and `email`; or
 *   `withdraw`, the number of an attempt. It always redirects (303), to the merchant's address once the link is
 *   paid, otherwise to the page itself: so no page in the browser's history has to be sent again.
 *
 * The rules are the ledger's, so that pressing Pay twice pays once.
 */
export const createCheckout = ({ ledger, merchantName }: CheckoutOptions): Router => {
  const router = Router({ mergeParams: true });
  const forms = new KeptForms();

  const linkOf = (token: string) => linkTo(ledger.findByLinkToken(token), merchantName);

  router.use((request: Request<{ token: string }>, response, next) => {
    const entry = ledger.findByLinkToken(request.params.token);
    secure(entry && returnTo(entry))(request, response, next);
  });

  router.get<'/', { token: string }>('/', (request, response) => {
    const locale = localeOf(request);
    const send = (status: number, page: string) =>
      response.status(status).set('Content-Language', locale.language).send(page);

    const { token } = request.params;
    const link = linkOf(token);
    if (link === undefined) return send(404, notFoundPage(locale));
    const query = querySchema.parse(request.query);
    const onward = returnTo(link.entry);
    if (link.entry.status === 'SUCCESSFUL' && query.waiting && onward !== undefined) {
      return response.redirect(303, onward);
    }
    const kept = query.form === undefined ? undefined : forms.find(token, query.form);
    const { status, page } = pageOf(link, query, locale, kept);
    send(status, page);
  });

  /** Redirects to the page itself, with what was typed where it may be needed again. */
  const goBack = (request: Request<{ token: string }>, response: Response, form: KeptForm, isAttempt = false): void => {
    const { token } = request.params;
    const status = linkOf(token)?.entry.status;
    const isOver = status === undefined || status === 'SUCCESSFUL' || status === 'EXPIRED';
    const key = isOver || (isEmpty(form.values) && isEmpty(form.errors)) ? undefined : forms.keep(token, form);
    // An attempt that was PENDING may have been paid since.
    const waiting = isAttempt || status === 'PENDING' ? '1' : undefined;
    response.redirect(303, addressOf(request, { waiting, form: key }));
  };

  router.post<'/', { token: string }>(
    '/',
    express.urlencoded({ extended: false, limit: '8kb' }),
    (request, response) => {
      const link = linkOf(request.params.token);
      if (link === undefined) return response.redirect(303, addressOf(request, {}));
      const { entry } = link;
      const reading = readPayerForm(request.body);
      if (reading.kind === 'wrong') return goBack(request, response, reading);
      if (reading.kind === 'withdraw') {
        ledger.withdraw(entry.transId, reading.attempt);
        const { form } = querySchema.parse(request.query);
        return response.redirect(303, addressOf(request, { waiting: '1', form }));
      }
      const result = ledger.attempt(entry.transId, reading.request);
      if (result.kind === 'paid') {
        return response.redirect(303, returnTo(result.entry) ?? addressOf(request, {}));
      }
      if (result.kind === 'alreadyPaid') return response.redirect(303, addressOf(request, { again: '1' }));
      const errors = result.kind === 'invalid' ? explain(result, reading.request) : noErrors;
      goBack(request, response, { values: reading.values, errors }, result.kind === 'pending');
    },
  );

  const unreadable: ErrorRequestHandler<{ token: string }> = (error, request, response, next) => {
    if (!requestErrorSchema.safeParse(error).success) return next(error);
    goBack(request, response, { values: noValues, errors: { form: 'unreadable' } });
  };
  return router.use(unreadable);
};

function linkTo(entry: Entry | undefined, merchantName: string): Link | undefined {
  const summary = entry && summaryOf(entry, merchantName);
  return entry && summary && { entry, summary };
}

/** The page that shows a link, and its status code. */
function pageOf(link: Link, query: Query, locale: Locale, kept: KeptForm | undefined) {
  const { entry, summary } = link;
  switch (entry.status) {
    case 'SUCCESSFUL': {
      const again = query.again !== undefined;
      return { status: again ? 409 : 200, page: receiptPage(summary, receiptOf(entry, again), locale) };
    }
    case 'EXPIRED':
      return { status: 410, page: expiredPage(summary, expiredEarly(link), returnTo(entry), locale) };
    case 'PENDING': {
      const attempt = { number: entry.attempts.length, phoneEnding: entry.attempts.at(-1)?.phoneEnding };
      return { status: 200, page: pendingPage(summary, attempt, queryText({ ...query, waiting: '1' }), locale) };
    }
    default: {
      const { values, errors } = kept ?? { values: noValues, errors: noErrors };
      const page = paymentForm({
        ...{ summary, values, errors, locale },
        asksEmail: entry.email === undefined,
        failure: failureOf(entry),
        returnTo: returnTo(entry),
      });
      return { status: isEmpty(errors) ? 200 : 422, page };
    }
  }
}

/** The address of the page itself with a query. */
const addressOf = (request: Request<{ token: string }>, query: Query): string =>
  request.originalUrl.replace(/\?.*/s, '') + queryText(query);

/** A query with its question mark; empty when it has no parameters. */
const queryText = ({ waiting, again, form }: Query): string => {
  const query = new URLSearchParams({
    ...(waiting && { waiting }),
    ...(again && { again }),
    ...(form && { form }),
  });
  return query.size === 0 ? '' : `?${query}`;
};

const isEmpty = (fields: FormValues | FormErrors): boolean => Object.values(fields).every((text) => !text);

const failureOf = ({ status, attempts }: Entry): Failure | undefined => {
  if (status !== 'FAILED') return undefined;
  const last = attempts.at(-1);
  if (last?.withdrawn) return 'withdrawnByPayer';
  return last?.action === 'decline' ? 'declinedByPayer' : 'declinedByOperator';
};

const returnTo = (entry: Entry): string | undefined => returnAddress(entry.redirectUrl, entry);

const receiptOf = (entry: Entry, again: boolean): Receipt => ({
  medium: entry.medium,
  confirmedAt: entry.confirmedAt,
  financialTransId: entry.financialTransId,
  returnTo: returnTo(entry),
  again,
});

/** Reports whether the merchant had a link expired before the provider's time for it was over. */
const expiredEarly = ({ entry, summary }: Link): boolean =>
  entry.history.some(({ status, at }) => status === 'EXPIRED' && at < summary.expiresAt);

/**
 * Sets the headers of every response of the checkout: pages run no scripts, load nothing, and aren't framed or stored.
 *
 * Chromium applies `form-action` to every redirect after a form is sent (Firefox doesn't), and a merchant's address may
 * redirect again, to `www.` or to https. So a link with a return address allows its whole scheme (`http:` includes
 * `https:`), and a link without one only this page. Strict-Transport-Security and what depends on https are off, since
 * the sandbox is served over http.
 */
const secure = (returnTo: string | undefined): RequestHandler => {
  const setHeaders = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: [styleHash],
        formAction: ["'self'", ...(returnTo === undefined ? [] : [new URL(returnTo).protocol])],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    frameguard: { action: 'deny' },
    strictTransportSecurity: false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
  });
  return (request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' }).vary('Accept-Language');
    setHeaders(request, response, next);
  };
};

/**
 * The address to which a payer returns: the merchant's `redirectUrl` with `transId` and `status` added to its query,
 * unless it has its own of that name. They are the sandbox's invention: the provider documents none, and they prove
 * nothing.
 *
 * @returns `undefined` without an address, or when it isn't http(s): `javascript:` and the like are never followed
 */
export const returnAddress = (
  redirectUrl: string | undefined,
  transaction: { readonly transId: string; readonly status: string },
): string | undefined => {
  if (redirectUrl === undefined || !URL.canParse(redirectUrl)) return undefined;
  const address = new URL(redirectUrl);
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return undefined;
  for (const name of ['transId', 'status'] as const) {
    if (!address.searchParams.has(name)) address.searchParams.set(name, transaction[name]);
  }
  return address.href;
};
