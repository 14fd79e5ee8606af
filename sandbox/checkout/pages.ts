import { Html, html } from './html.js';
import { style } from './style.js';
import {
  type CheckoutSummary,
  expiryText,
  type Fact,
  factList,
  formatAmount,
  formatTime,
  summaryFacts,
} from './summary.js';

interface PageOptions {
  /** Starts with the page's state, which screen readers read and tabs show first. */
  readonly title: string;
  /** Two columns on a wide screen. */
  readonly wide?: boolean;
  /** Makes the browser go to an address by itself, without a script. */
  readonly refresh?: { readonly seconds: number; readonly to: string };
  readonly main: Html;
}

/** A complete HTML document, without scripts or anything to load, marked as the sandbox's. */
export const page = ({ title, wide = false, refresh, main }: PageOptions): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh && html`<meta http-equiv="refresh" content="${refresh.seconds}; url=${refresh.to}">`}
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<p class="mark"><strong>Sandbox.</strong> No real money moves here.</p>
<main class="${wide && 'wide'}">${main}</main>
<footer>Sandbox payment page</footer>
</body>
</html>
`.text;

/** How often the page of a pending payment reloads. */
const REFRESH_SECONDS = 3;

const icon = (paths: string): Html =>
  new Html(
    `<svg viewBox="0 0 48 48" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`,
  );
const tick = icon('<circle cx="24" cy="24" r="21"/><path d="m15 24.5 6.5 6.5L33.5 18"/>');
const phone = icon('<rect x="13" y="4" width="22" height="40" rx="4"/><path d="M21 38h6"/>');
const clock = icon('<circle cx="24" cy="24" r="21"/><path d="M24 12v12l8 5"/>');
const question = icon(
  '<circle cx="24" cy="24" r="21"/><path d="M18 19a6 6 0 1 1 8.5 5.5c-1.7.8-2.5 1.8-2.5 3.5"/><path d="M24 34.5v.01"/>',
);

interface State {
  readonly icon: Html;
  readonly heading: string;
  readonly text?: string;
  /** Shown without colour: nothing was paid, and nothing more can be done here. */
  readonly over?: boolean;
  readonly facts?: readonly (Fact | undefined)[];
  readonly link?: Html | undefined;
}

const card = (state: State): Html => html`
<section class="card">
  <div class="state ${state.over && 'over'}" role="status">
    ${state.icon}
    <h1>${state.heading}</h1>
    ${state.text !== undefined && html`<p>${state.text}</p>`}
  </div>
  ${state.facts && factList(state.facts)}
  ${state.link}
</section>`;

/** What a receipt shows besides the summary. */
export interface Receipt {
  readonly medium?: string | undefined;
  readonly financialTransId?: string | undefined;
  /** In ms of the sandbox's clock. */
  readonly confirmedAt?: number | undefined;
  /** The merchant's address for the payer to return to, known to be http(s). */
  readonly returnTo?: string | undefined;
  /** The payer tried to pay again after the payment. */
  readonly again: boolean;
}

/** The page of a paid link. */
export const receiptPage = (summary: CheckoutSummary, receipt: Receipt): string =>
  page({
    title: `Paid: ${formatAmount(summary.amount)} to ${summary.merchantName}`,
    main: card({
      icon: tick,
      heading: receipt.again ? 'Already paid' : 'Payment received',
      text: receipt.again
        ? 'This payment was made before. You were not charged again.'
        : `Thank you. ${summary.merchantName} will be notified.`,
      facts: [
        ...summaryFacts(summary),
        receipt.medium === undefined ? undefined : ['Paid with', mediumName(receipt.medium)],
        receipt.confirmedAt === undefined ? undefined : ['Paid on', formatTime(receipt.confirmedAt)],
        receipt.financialTransId === undefined ? undefined : ['Operator reference', receipt.financialTransId],
      ],
      link:
        receipt.returnTo === undefined
          ? undefined
          : html`<a class="button" href="${receipt.returnTo}">Return to ${summary.merchantName}</a>`,
    }),
  });

const mediumName = (medium: string): string => medium.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/**
 * The page of a payment to be confirmed on the payer's phone. It reloads by itself; the link is for browsers that
 * don't.
 *
 * @param reloadAddress this page's address, relative to itself
 */
export const pendingPage = (summary: CheckoutSummary, reloadAddress: string): string =>
  page({
    title: `Confirm on your phone: ${formatAmount(summary.amount)} to ${summary.merchantName}`,
    refresh: { seconds: REFRESH_SECONDS, to: reloadAddress },
    main: card({
      icon: phone,
      heading: 'Confirm on your phone',
      text: 'Enter your PIN when your phone asks for it. This page then updates by itself.',
      facts: summaryFacts(summary),
      link: html`<a class="button plain" href="${reloadAddress}">Check now</a>`,
    }),
  });

/** The page of an expired link. */
export const expiredPage = (summary: CheckoutSummary, expiredEarly: boolean): string =>
  page({
    title: 'This link can no longer be used',
    main: card({
      icon: clock,
      over: true,
      heading: 'This link can no longer be used',
      text: `${
        expiredEarly ? 'The merchant closed it' : `It expired on ${expiryText(summary)}`
      }. Nothing was charged. To pay, ask ${summary.merchantName} for a new link.`,
      facts: summaryFacts(summary),
    }),
  });

/** The page for an unknown link. */
export const notFoundPage = (): string =>
  page({
    title: 'No such payment link',
    main: card({
      icon: question,
      over: true,
      heading: 'No such payment link',
      text: 'Check that you copied the whole address, or ask the merchant for the link again.',
    }),
  });

/** The page for a malformed request. */
export const unreadablePage = (): string =>
  page({
    title: 'Error: the form could not be read',
    main: card({
      icon: question,
      over: true,
      heading: 'The form could not be read',
      text: 'Nothing was charged. Go back to the payment page and try again.',
    }),
  });
