import { type Content, type Html, html } from '../http/html.js';
import type { Notice, Session } from './session.js';
import { STYLE_PATH } from './style.js';
import { time } from './words.js';

/** The pages that every page leads to. */
const SECTIONS = [
  ['review', '/desk', 'Review'],
  ['deliveries', '/desk/deliveries', 'Deliveries'],
  ['unmatched', '/desk/unmatched', 'Unmatched'],
  ['statements', '/desk/statements', 'Statements'],
  ['search', '/desk/search', 'Search'],
] as const;
export type Section = (typeof SECTIONS)[number][0];

interface PageOptions {
  /** What tabs and screen readers say first. */
  readonly title: string;
  /** Who is signed in; without it, nobody is. */
  readonly session?: Session | undefined;
  readonly place?: Section | undefined;
  /** One narrow column, for forms. */
  readonly narrow?: boolean;
  readonly main: Content;
}

/** A complete HTML document, without scripts. */
export function page({ title, session, place, narrow = false, main }: PageOptions): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Sanaga desk</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><div class="bar-inner">
<a class="brand" href="/desk">Sanaga desk</a>
${session && navigation(session, place)}
</div></header>
<main id="main" class="${narrow && 'narrow'}">${main}</main>
<footer>As of ${time(Date.now())}. Times are those of Douala (UTC+1).</footer>
</body>
</html>
`.text;
}

function navigation({ name, csrf }: Session, place: Section | undefined): Html {
  const link = ([key, address, text]: (typeof SECTIONS)[number]) =>
    html`<li>${key === place ? html`<a href="${address}" aria-current="page">${text}</a>` : html`<a href="${address}">${text}</a>`}</li>`;
  return html`<nav aria-label="Desk"><ul>${SECTIONS.map(link)}</ul></nav>
<div class="who"><span>Signed in as <strong>${name}</strong></span>
<form class="inline" method="post" action="/desk/sign-out">${csrfField(csrf)}<button class="button plain">Sign out</button></form></div>`;
}

/** The field that every form carries: only our own pages know its value. */
export function csrfField(token: string): Html {
  return html`<input type="hidden" name="csrf" value="${token}">`;
}

/** What the page has to say before anything else. Screen readers read it at once. */
export function noticeBox(notice: Notice | undefined): Html | undefined {
  if (notice === undefined) return undefined;
  const title = { done: 'Done', refused: 'Refused: nothing was changed', unknown: 'Not known' }[notice.kind];
  const role = notice.kind === 'done' ? 'status' : 'alert';
  return html`<div class="notice ${notice.kind}" role="${role}"><strong>${title}</strong><p>${notice.text}</p>${notice.more}</div>`;
}

/** What is known of something, as a list of names and values; those without a value are left out. */
export function facts(rows: readonly (readonly [string, Content])[]): Html {
  const known = rows.filter(([, value]) => value !== undefined && value !== '' && value !== false);
  return html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A page that says that something went wrong, and what to do. */
export function errorPage(
  title: string,
  text: string,
  session?: Session,
  back: { readonly href: string; readonly text: string } = { href: '/desk', text: 'To the review queue' },
): string {
  const main = html`<h1>${title}</h1><div class="card"><p>${text}</p><p><a class="button plain" href="${back.href}">${back.text}</a></p></div>`;
  return page({ title, session, narrow: true, main });
}
