import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import helmet from 'helmet';
import { z } from 'zod';
import type { Clock } from '../clock.js';
import type { Entry } from '../entry.js';
import type { Ledger } from '../ledger.js';
import {
  expiredPage,
  notFoundPage,
  pendingPage,
  type Receipt,
  receiptPage,
  unreadablePage,
} from './pages.js';
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

export interface CheckoutOptions {
  readonly ledger: Pick<Ledger, 'findByLinkToken' | 'attempt'>;
  /** The name shown to payers. */
  readonly merchantName: string;
  readonly clock: Pick<Clock, 'now'>;
}

interface Link {
  readonly entry: Entry;
  readonly summary: CheckoutSummary;
}

/** Marks the address of a pending page, from which the payer is redirected to the merchant once the payment succeeds. */
const WAITING = '?waiting=1';

/** An error of the body parser: the form is too long or malformed. */
const requestErrorSchema = z.object({ status: z.int().min(400).max(499) });

/**
 * The hosted checkout page, to be mounted at `/pay/:token`. Needs no scripts.
 *
 * - `GET` shows the link's state: 200, 410 when it has expired, or 404.
 * - `POST` takes the form fields `action` (`pay` or `decline`), `phone`, `medium` (detected when empty) and `email`.
 *   303: paid (to the merchant's address, or to the receipt), declined or pending (to the page itself). 422: invalid
 *   input. 409: already paid; nothing is charged. 410: expired. 404: no such link.
 *
 * The rules are the ledger's, so that pressing Pay twice pays once.
 */
export const createCheckout = ({ ledger, merchantName, clock }: CheckoutOptions): Router => {
  const router = Router({ mergeParams: true });

  const linkOf = (request: Request<{ token: string }>, response: Response): Link | undefined => {
    const entry = ledger.findByLinkToken(request.params.token);
    const summary = entry && summaryOf(entry, merchantName);
    if (entry !== undefined && summary !== undefined) return { entry, summary };
    response.status(404).send(notFoundPage());
    return undefined;
  };

  const formFor = ({ entry, summary }: Link, values: FormValues, errors: FormErrors): string =>
    paymentForm({
      summary,
      timeLeftMs: summary.expiresAt - clock.now(),
      asksEmail: entry.email === undefined,
      declinedBy: declinedBy(entry),
      values,
      errors,
    });

  router.use((request: Request<{ token: string }>, response, next) => {
    const entry = ledger.findByLinkToken(request.params.token);
    secure(entry && returnTo(entry))(request, response, next);
  });

  router.get<'/', { token: string }>('/', (request, response) => {
    const link = linkOf(request, response);
    if (link === undefined) return;
    const { entry, summary } = link;
    const onward = returnTo(entry);
    switch (entry.status) {
      case 'SUCCESSFUL':
        if ('waiting' in request.query && onward !== undefined) response.redirect(303, onward);
        else response.send(receiptPage(summary, receiptOf(entry, false)));
        return;
      case 'EXPIRED':
        response.status(410).send(expiredPage(summary, expiredEarly(link)));
        return;
      case 'PENDING':
        response.send(pendingPage(summary, WAITING));
        return;
      default:
        response.send(formFor(link, noValues, noErrors));
    }
  });

  router.post<'/', { token: string }>(
    '/',
    express.urlencoded({ extended: false, limit: '8kb' }),
    (request, response) => {
      const link = linkOf(request, response);
      if (link === undefined) return;
      const { entry, summary } = link;
      const self = request.originalUrl.replace(/\?.*/s, '');
      const reading = readPayerForm(request.body);
      if (reading.kind === 'wrong') {
        // The state of a link that can't be paid matters more than errors in the form.
        if (isOpen(entry)) response.status(422).send(formFor(link, reading.values, reading.errors));
        else response.redirect(303, self);
        return;
      }
      const result = ledger.attempt(entry.transId, reading.request);
      switch (result.kind) {
        case 'paid':
          response.redirect(303, returnTo(result.entry) ?? self);
          return;
        case 'declined':
          response.redirect(303, self);
          return;
        case 'pending':
          response.redirect(303, self + WAITING);
          return;
        case 'alreadyPaid':
          response.status(409).send(receiptPage(summary, receiptOf(result.entry, true)));
          return;
        case 'tooLate':
          response.status(410).send(expiredPage(summary, expiredEarly(link)));
          return;
        case 'invalid':
          response.status(422).send(formFor(link, reading.values, explain(result, reading.request)));
          return;
        case 'unknown':
          response.status(404).send(notFoundPage());
      }
    },
  );

  const unreadable: ErrorRequestHandler = (error, _request, response, next) => {
    const known = requestErrorSchema.safeParse(error);
    if (known.success) response.status(known.data.status).send(unreadablePage());
    else next(error);
  };
  return router.use(unreadable);
};

const isOpen = ({ status }: Entry): boolean => status === 'CREATED' || status === 'FAILED';

const declinedBy = ({ status, attempts }: Entry): 'payer' | 'operator' | undefined => {
  if (status !== 'FAILED') return undefined;
  return attempts.at(-1)?.action === 'decline' ? 'payer' : 'operator';
};

const returnTo = (entry: Entry): string | undefined => returnAddress(entry.redirectUrl, entry);

const receiptOf = (entry: Entry, again: boolean): Receipt => ({
  medium: entry.medium,
  confirmedAt: entry.confirmedAt,
  financialTransId: entry.financialTransId,
  returnTo: returnTo(entry),
  again,
});

/** Whether a link was expired by the merchant, before its time. */
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
    response.set({ 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' });
    setHeaders(request, response, next);
  };
};

/**
 * The address to which a payer returns after paying: the merchant's `redirectUrl` with `transId` and `status` added to
 * its query. The provider doesn't document these parameters, and they don't prove that a payment was made.
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
  address.searchParams.set('transId', transaction.transId);
  address.searchParams.set('status', transaction.status);
  return address.href;
};
