import { Html, html } from './html.js';
import type { Locale } from './locale.js';
import { style } from './style.js';
import { type CheckoutSummary, type Fact, factList, summaryFacts } from './summary.js';

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
export const page = ({ language, texts }: Locale, { title, wide = false, refresh, main }: PageOptions): string =>
  html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh && html`<meta http-equiv="refresh" content="${refresh.seconds}; url=${refresh.to}">`}
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<p class="mark"><strong>${texts.sandbox}</strong> ${texts.noRealMoney}</p>
<main class="${wide && 'wide'}">${main}</main>
<footer>${texts.footer}</footer>
</body>
</html>
`.text;

/** The page of a pending payment reloads after this. */
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
  /** Actions possible now. */
  readonly actions?: Html | undefined;
}

const card = (state: State): Html => html`
<section class="card">
  <div class="state ${state.over && 'over'}" role="status">
    ${state.icon}
    <h1>${state.heading}</h1>
    ${state.text !== undefined && html`<p>${state.text}</p>`}
  </div>
  ${state.facts && factList(state.facts)}
  ${state.actions}
</section>`;

/** A receipt's lines besides the summary. */
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
export const receiptPage = (summary: CheckoutSummary, receipt: Receipt, locale: Locale): string => {
  const { texts, formatAmount, formatTime } = locale;
  const { medium, confirmedAt, financialTransId, returnTo, again } = receipt;
  return page(locale, {
    title: texts.receipt.title(formatAmount(summary.amount), summary.merchantName),
    main: card({
      icon: tick,
      heading: again ? texts.receipt.headingAgain : texts.receipt.heading,
      text: again ? texts.receipt.notChargedAgain : texts.receipt.thanks(summary.merchantName),
      facts: [
        ...summaryFacts(summary, locale),
        medium === undefined ? undefined : [texts.receipt.paidWith, mediumName(medium)],
        confirmedAt === undefined ? undefined : [texts.receipt.paidOn, formatTime(confirmedAt)],
        financialTransId === undefined ? undefined : [texts.receipt.operatorReference, financialTransId],
      ],
      actions:
        returnTo === undefined
          ? undefined
          : html`<a class="button" href="${returnTo}">${texts.receipt.returnTo(summary.merchantName)}</a>`,
    }),
  });
};

const mediumName = (medium: string): string => medium.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** The attempt that waits for the payer's phone. */
export interface PendingAttempt {
  /** Counted from 1. */
  readonly number: number;
  /** The last digits of the phone number that was asked, where they are known. */
  readonly phoneEnding?: string | undefined;
}

/**
 * The page of a payment to be confirmed on the payer's phone. It reloads by itself; the link is for browsers that
 * don't. The other button withdraws the request, so that the payer can enter another number.
 *
 * @param reloadAddress this page's address, relative to itself
 */
export const pendingPage = (
  summary: CheckoutSummary,
  attempt: PendingAttempt,
  reloadAddress: string,
  locale: Locale,
): string => {
  const { pending } = locale.texts;
  const phoneNumber = attempt.phoneEnding && `••••\u00a0${attempt.phoneEnding}`;
  return page(locale, {
    title: pending.title(locale.formatAmount(summary.amount), summary.merchantName),
    refresh: { seconds: REFRESH_SECONDS, to: reloadAddress },
    main: card({
      icon: phone,
      heading: pending.heading,
      text: `${pending.asked(phoneNumber)} ${pending.updates}`,
      facts: summaryFacts(summary, locale),
      actions: html`
  <div class="actions">
    <a class="button" href="${reloadAddress}">${pending.checkNow}</a>
    <form method="post" class="actions">
      <p class="hint" id="withdraw-hint">${pending.wrongNumber}</p>
      <button class="button plain" name="withdraw" value="${attempt.number}" aria-describedby="withdraw-hint">${pending.useAnother}</button>
    </form>
  </div>`,
    }),
  });
};

/**
 * The page of an expired link.
 *
 * @param early whether it ended before `summary.expiresAt`. The merchant then had it ended, either at will or because
 *   the merchant's own time for it was over, which the provider isn't told
 * @param returnTo the merchant's address for the payer to return to, known to be http(s)
 */
export const expiredPage = (
  summary: CheckoutSummary,
  early: boolean,
  returnTo: string | undefined,
  locale: Locale,
): string => {
  const { expired, receipt } = locale.texts;
  const why = early ? expired.earlier : expired.atItsTime(locale.formatTime(summary.expiresAt));
  return page(locale, {
    title: expired.heading,
    main: card({
      icon: clock,
      over: true,
      heading: expired.heading,
      text: `${why} ${expired.askAgain(summary.merchantName)}`,
      facts: summaryFacts(summary, locale),
      actions:
        returnTo === undefined
          ? undefined
          : html`<a class="button" href="${returnTo}">${receipt.returnTo(summary.merchantName)}</a>`,
    }),
  });
};

/** The page for an unknown link. */
export const notFoundPage = (locale: Locale): string => {
  const { heading, text } = locale.texts.notFound;
  return page(locale, { title: heading, main: card({ icon: question, over: true, heading, text }) });
};
