import { type Content, type Html, html } from '../http/html.js';
import type { Notice, Session } from './session.js';
import { STYLE_PATH } from './style.js';
import { addressOf, time } from './words.js';

/** The pages that every page leads to, for those whose key has the scope. */
const SECTIONS = [
  ['review', '/desk', 'Review', 'review'],
  ['approvals', '/desk/approvals', 'Approvals', 'approve'],
  ['deliveries', '/desk/deliveries', 'Deliveries', 'review'],
  ['unmatched', '/desk/unmatched', 'Unmatched', 'review'],
  ['statements', '/desk/statements', 'Statements', 'review'],
  ['search', '/desk/search', 'Search', 'review'],
] as const;

export interface Page {
  /** Tabs and screen readers say this first. */
  readonly title: string;
  readonly place?: (typeof SECTIONS)[number][0];
  /** One narrow column, for forms. */
  readonly narrow?: boolean;
  readonly main: Html;
}

/** A complete HTML document, without scripts. @param session who is signed in */
export function document({ title, place, narrow = false, main }: Page, session?: Session): string {
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

function navigation({ person, csrf, scopes }: Session, place: Page['place']): Html {
  const link = ([key, address, text]: (typeof SECTIONS)[number]) =>
    html`<li><a href="${address}"${key === place && html` aria-current="page"`}>${text}</a></li>`;
  return html`<nav aria-label="Desk"><ul>${SECTIONS.filter(([, , , scope]) => scopes.includes(scope)).map(link)}</ul></nav>
<div class="who"><span>Signed in as <strong>${person}</strong></span>
<form class="inline" method="post" action="/desk/sign-out">${csrfField(csrf)}<button class="button plain">Sign out</button></form></div>`;
}

/** Makes the field that every form carries: only our own pages know its value. */
export function csrfField(token: string): Html {
  return html`<input type="hidden" name="csrf" value="${token}">`;
}

/** Says something before all else on a page. Screen readers read it at once. */
export function noticeBox(notice: Notice | undefined): Html | undefined {
  if (notice === undefined) return undefined;
  const title = { done: 'Done', refused: 'Refused: nothing was changed', unknown: 'Not known' }[notice.kind];
  const role = notice.kind === 'done' ? 'status' : 'alert';
  return html`<div class="notice ${notice.kind}" role="${role}"><strong>${title}</strong><p>${notice.text}</p>${notice.more}</div>`;
}

/** Says that a page lacks something. */
export function incompleteBox(text: Content): Html {
  return html`<div class="notice" role="alert"><strong>Not complete</strong><p>${text}</p></div>`;
}

/** A part of a page with a heading of its own. */
export function card(id: string, title: string, main: Content): Html {
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${main}</section>`;
}

/** A list of boxes, or what to say where there is none. */
export function boxes(items: readonly Html[], none?: string): Html {
  if (items.length === 0 && none !== undefined) return html`<div class="card"><p>${none}</p></div>`;
  return html`<ol class="list">${items.map((item) => html`<li class="item">${item}</li>`)}</ol>`;
}

/**
 * The way through a list whose pages are found by cursors: none leads back but to the first.
 *
 * @param cursor where this page begins, empty for the first
 * @param next where the next one does, if there is one
 * @param names what the links to the first page and to the next one say
 */
export function pager(
  path: string,
  filter: Readonly<Record<string, string>>,
  cursor: string,
  next: string | undefined,
  names = { first: 'Oldest payments', next: 'Newer payments' },
): Html | undefined {
  if (cursor === '' && next === undefined) return undefined;
  return html`<nav class="pages" aria-label="Pages">
${cursor !== '' && html`<a class="button plain" href="${addressOf(path, filter)}">${names.first}</a>`}
${next && html`<a class="button plain" href="${addressOf(path, { ...filter, cursor: next })}" rel="next">${names.next}</a>`}</nav>`;
}

/** A link to a form. */
export function formLink(href: string, text: string, look: 'plain' | false = 'plain'): Html {
  return html`<a class="button ${look}" href="${href}">${text}<span aria-hidden="true">&nbsp;…</span></a>`;
}

/** Lists names and values, leaving out those without a value. */
export function factList(rows: readonly (readonly [string, Content])[]): Html {
  const known = rows.filter(([, value]) => value !== undefined && value !== '' && value !== false);
  return html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A page that says that something went wrong, and what to do. */
export function errorPage(title: string, text: string, back = { href: '/desk', text: 'To the desk' }): Page {
  const main = html`<h1>${title}</h1><div class="card"><p>${text}</p><p><a class="button plain" href="${back.href}">${back.text}</a></p></div>`;
  return { title, narrow: true, main };
}
