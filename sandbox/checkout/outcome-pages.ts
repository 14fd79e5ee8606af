import { type Bill, billFacts, type Fact, factList, payableUntil } from './bill.js';
import { formatAmount, formatMoment } from './display.js';
import { Html, html } from './html.js';
import { page } from './page.js';

/** How often a page that waits for the payer's phone looks again, in seconds. */
const LOOK_AGAIN_SECONDS = 3;

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
  /** Nothing more can be done here, and nothing was: the page is shown without its colour. */
  readonly over?: boolean;
  readonly facts?: readonly Fact[];
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

/** What a receipt adds to the bill. */
export interface Receipt {
  readonly medium?: string | undefined;
  readonly financialTransId?: string | undefined;
  /** ms since the epoch, by the sandbox's clock. */
  readonly confirmedAt?: number | undefined;
  /** Where the merchant wants the payer to go, checked to be http(s). */
  readonly returnTo?: string | undefined;
  /** The payer pressed Pay on a bill that was paid: to be told that nothing was charged for it. */
  readonly again: boolean;
}

/** The page of a link that was paid. */
export const receiptPage = (bill: Bill, receipt: Receipt): string =>
  page({
    title: `Paid: ${formatAmount(bill.amount)} to ${bill.merchantName}`,
    main: card({
      icon: tick,
      heading: receipt.again ? 'Already paid' : 'Payment received',
      text: receipt.again
        ? 'This payment had been made before. You were not charged again.'
        : `Thank you. ${bill.merchantName} will be notified.`,
      facts: [
        ...billFacts(bill),
        receipt.medium === undefined ? undefined : ['Paid with', mediumName(receipt.medium)],
        receipt.confirmedAt === undefined ? undefined : ['Paid on', formatMoment(receipt.confirmedAt)],
        receipt.financialTransId === undefined
          ? undefined
          : ['Operator’s reference', receipt.financialTransId],
      ],
      link:
        receipt.returnTo === undefined
          ? undefined
          : html`<a class="button" href="${receipt.returnTo}">Return to ${bill.merchantName}</a>`,
    }),
  });

const mediumName = (medium: string): string => medium.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/**
 * The page of a payment that waits for the payer's phone. It looks again by itself, and by its link for those whose
 * browser doesn't.
 *
 * @param lookAgainAt this page's address, relative to itself
 */
export const pendingPage = (bill: Bill, lookAgainAt: string): string =>
  page({
    title: `Confirm on your phone: ${formatAmount(bill.amount)} to ${bill.merchantName}`,
    refresh: { seconds: LOOK_AGAIN_SECONDS, to: lookAgainAt },
    main: card({
      icon: phone,
      heading: 'Confirm on your phone',
      text: 'Enter your secret code when your phone asks for it. This page checks by itself whether you have.',
      facts: billFacts(bill),
      link: html`<a class="button plain" href="${lookAgainAt}">Check now</a>`,
    }),
  });

/** The page of a link whose time ran out, or that was closed before its time. */
export const tooLatePage = (bill: Bill, closedEarly: boolean): string =>
  page({
    title: 'This link can no longer be used',
    main: card({
      icon: clock,
      over: true,
      heading: 'This link can no longer be used',
      text: `${
        closedEarly ? 'It was closed before its time ran out' : `It could be paid until ${payableUntil(bill)}`
      }. Nothing was charged. To pay, ask ${bill.merchantName} for a new link.`,
      facts: billFacts(bill),
    }),
  });

/** The page of an address that no link has. */
export const notFoundPage = (): string =>
  page({
    title: 'No such payment link',
    main: card({
      icon: question,
      over: true,
      heading: 'No such payment link',
      text: 'Check that the whole address was copied, or ask the merchant for the link again.',
    }),
  });

/** The page of a request that the sandbox can't read. */
export const unreadablePage = (): string =>
  page({
    title: 'Error: the form could not be read',
    main: card({
      icon: question,
      over: true,
      heading: 'The form could not be read',
      text: 'Nothing was charged. Go back to the payment’s page and try again.',
    }),
  });
