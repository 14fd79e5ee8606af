import express, { type ErrorRequestHandler, type Request, type Response, Router } from 'express';
import { z } from 'zod';
import type { Clock } from '../clock.js';
import type { Entry } from '../entry.js';
import type { Ledger } from '../ledger.js';
import { type Bill, billOf } from './bill.js';
import {
  notFoundPage,
  pendingPage,
  type Receipt,
  receiptPage,
  tooLatePage,
  unreadablePage,
} from './outcome-pages.js';
import { pageHeaders } from './page-headers.js';
import {
  explain,
  type FormErrors,
  type FormValues,
  noErrors,
  noValues,
  readPayerForm,
} from './payer-form.js';
import { paymentForm } from './payment-form.js';
import { returnAddress } from './return-address.js';

export interface CheckoutOptions {
  readonly ledger: Pick<Ledger, 'findByLinkToken' | 'attempt'>;
  /** Who is paid, as payers know them. */
  readonly merchantName: string;
  /** The sandbox's clock, for the time that is left. */
  readonly clock: Pick<Clock, 'now'>;
}

interface Link {
  readonly entry: Entry;
  readonly bill: Bill;
}

/** What a page that waits adds to its own address, so that the payer is sent on once the payment is made. */
const WAITING = '?waiting=1';

/** A parser's error: a body too long, in a form that isn't a form's, or broken. */
const requestErrorSchema = z.object({ status: z.int().min(400).max(499) });

/**
 * The hosted checkout page, to be mounted at `/pay/:token`. It works without scripts, and over plain HTTP:
 *
 * - `GET` shows the link's state: 200, or 410 when it can no longer be paid, or 404.
 * - `POST` takes `action` (`pay` or `decline`), `phone`, `medium` (empty: told by the number) and `email` as a form.
 *   303: paid (to the merchant's address, or to the receipt), declined or to be confirmed (to the page itself).
 *   422: something has to be put right. 409: it was paid before, nothing is charged. 410: too late. 404: no such link.
 *
 * Nothing is decided here: the ledger holds the rules, so that pressing Pay twice pays once.
 */
export const createCheckout = ({ ledger, merchantName, clock }: CheckoutOptions): Router => {
  const router = Router({ mergeParams: true });

  const linkOf = (request: Request<{ token: string }>, response: Response): Link | undefined => {
    const entry = ledger.findByLinkToken(request.params.token);
    const bill = entry && billOf(entry, merchantName);
    response.set(pageHeaders(entry && returnTo(entry)));
    if (entry !== undefined && bill !== undefined) return { entry, bill };
    response.status(404).send(notFoundPage());
    return undefined;
  };

  const formFor = ({ entry, bill }: Link, values: FormValues, errors: FormErrors): string =>
    paymentForm({
      bill,
      timeLeft: bill.expiresAt - clock.now(),
      asksEmail: entry.email === undefined,
      declinedBy: declinedBy(entry),
      values,
      errors,
    });

  router.get<'/', { token: string }>('/', (request, response) => {
    const link = linkOf(request, response);
    if (link === undefined) return;
    const { entry, bill } = link;
    const onward = returnTo(entry);
    switch (entry.status) {
      case 'SUCCESSFUL':
        if ('waiting' in request.query && onward !== undefined) response.redirect(303, onward);
        else response.send(receiptPage(bill, receiptOf(entry, false)));
        return;
      case 'EXPIRED':
        response.status(410).send(tooLatePage(bill, closedEarly(link)));
        return;
      case 'PENDING':
        response.send(pendingPage(bill, WAITING));
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
      const { entry, bill } = link;
      const self = request.originalUrl.replace(/\?.*/s, '');
      const reading = readPayerForm(request.body);
      if (reading.kind === 'wrong') {
        // A link that can't be paid has more to say than what is wrong with the form.
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
          response.status(409).send(receiptPage(bill, receiptOf(result.entry, true)));
          return;
        case 'tooLate':
          response.status(410).send(tooLatePage(bill, closedEarly(link)));
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
    if (known.success) response.status(known.data.status).set(pageHeaders(undefined)).send(unreadablePage());
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

/** Whether a link was expired before its time, and not by its time. */
const closedEarly = ({ entry, bill }: Link): boolean =>
  entry.history.some(({ status, at }) => status === 'EXPIRED' && at < bill.expiresAt);
