import { type Content, type Html, html } from '../http/html.js';
import { dayAfter, dayOf, isDay, startOf } from '../payments/words/time.js';
import type { Statement, StatementFormat, StatementList } from './api-client.js';
import { boxes, csrfField, errorPage, factList, incompleteBox, noticeBox } from './page.js';
import { leaveNotice, type Session, takeNotice } from './session.js';
import { type PageReply, requireValue, type Visit } from './visit.js';
import { addressOf, amount, badge, count, counted, paymentAddress, searchAddress, sentence, time } from './words.js';

type Difference = Statement['differences'][number];
type ServiceStatement = Statement['services']['payout'];

/** Differences on one page: all are in the statement itself. */
const MAX_SHOWN = 200;

const LIST_ADDRESS = '/desk/statements';

const statementAddress = (date: string) => `${LIST_ADDRESS}/${encodeURIComponent(date)}`;

const versionAddress = (date: string, version: number | string) => addressOf(statementAddress(date), { version });

const allStatements = html`<a class="button plain" href="${LIST_ADDRESS}">All statements</a>`;

/** Duration of making a statement, as the API describes it. */
const TAKES = 'That takes from some seconds to an hour, depending on how many payments the day has.';

const today = () => dayOf(Date.now());

/** The latest day that is over in Douala: the statement of today covers only the day so far. */
const latestDay = () => dayAfter(today(), -1);

/** GET /desk/statements: the statements of days. */
export async function statementsPage(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const before = visit.query('before');
  const notice = takeNotice(session, LIST_ADDRESS);
  const { data, hasMore } = requireValue(await api.statements({ before }));
  const last = data.at(-1);
  const main = html`
<div class="title"><h1>Statements</h1>
<p>What each day's payments came to, beside what the provider shows of it. A statement is made in the night that follows its day.</p></div>
${noticeBox(notice)}
${dateForm(session, notice !== undefined)}
${boxes(data.map(statementBox), `There is none${before === '' ? '' : ` before ${before}`}.`)}
${hasMore && last && html`<nav class="pages" aria-label="Pages"><a class="button plain" href="${addressOf(LIST_ADDRESS, { before: last.date })}" rel="next">Earlier</a></nav>`}`;
  return { title: 'Statements', place: 'statements', main };
}

function statementBox({
  date,
  version,
  madeAt,
  complete,
  payments = 0,
  differences = 0,
}: StatementList['data'][number]): Html {
  return html`<div class="title-line"><h2><a href="${statementAddress(date)}">${date}</a></h2>${differences > 0 && html`<span class="badge review">${counted(differences, 'difference')}</span>`}${!complete && html`<span class="badge bad">incomplete</span>`}</div>
<div class="meta"><span>${counted(payments, 'payment')}</span><span>Made ${time(madeAt)}</span>${version > 1 && html`<span>Version ${version}</span>`}</div>`;
}

/** For a day whose night was missed. */
function dateForm(session: Session, isInvalid: boolean): Html {
  const invalid = isInvalid && html` aria-invalid="true" autofocus`;
  return html`<form class="card" method="post" action="${LIST_ADDRESS}">
${csrfField(session.csrf)}
<div class="row search"><div class="field"><label for="date">Make the statement of a day</label>
<span class="hint" id="date-hint">A day that is over in Douala, such as ${latestDay()}, or today: what there is so far. If it has a statement, that one stays, and the new one is its next version.</span>
<input id="date" name="date" type="date" max="${today()}" required aria-describedby="date-hint"${invalid}></div>
<div class="actions"><button class="button plain">Make it</button></div></div></form>`;
}

/** The form that has the statement of one day made. @param about the text above its button */
function makeForm(session: Session, date: string, about: Html, button: string): Html {
  return html`<form class="card" method="post" action="${LIST_ADDRESS}">
${csrfField(session.csrf)}<input type="hidden" name="date" value="${date}">
${about}
<div class="actions"><button class="button plain">${button}</button></div></form>`;
}

/** POST /desk/statements: has the statement of a day made, or made again. */
export async function makeStatement(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const date = visit.field('date').trim();
  const error = errorIn(date);
  if (error !== undefined) {
    leaveNotice(session, LIST_ADDRESS, { kind: 'refused', text: error });
    return { to: LIST_ADDRESS };
  }
  const { version } = requireValue(await api.makeStatement(date));
  return { to: versionAddress(date, version) };
}

/** Explains why no statement can be made for the text that was typed. */
function errorIn(date: string): string | undefined {
  if (!isDay(date)) return `Choose a day of the calendar, such as ${latestDay()}.`;
  if (date > today()) return `${date} has not begun in Douala: it has no payments yet.`;
  return undefined;
}

/** GET /desk/statements/:date: what a day came to, and what differs. */
export async function statementPage(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const [asked, wanted] = [visit.param('date'), visit.query('version')];
  if (!isDay(asked)) return noDay();
  const answer = await api.statement(asked, { version: wanted });
  if (answer.kind === 'problem' && answer.problem.code === 'not_found') {
    return missingPage(session, asked, wanted, answer.problem.beingMade === true);
  }
  const statement = requireValue(answer);
  const { date, version, madeAt, to, complete, services, differences } = statement;
  const isSoFar = Date.parse(to) < startOf(dayAfter(asked));
  const shown = differences.slice(0, MAX_SHOWN);
  const main = html`
<div class="title"><h1>Statement of ${date}</h1>
<p>Version ${version}, made ${time(madeAt)}. The files have every payment.</p>
<div class="actions"><a class="button" href="${fileAddress(date, 'csv', version)}">Download CSV</a><a class="button plain" href="${fileAddress(date, 'csv', version, 'semicolon')}">CSV for Excel in French</a><a class="button plain" href="${fileAddress(date, 'json', version)}">Download JSON</a></div></div>
${isSoFar && incompleteBox(html`The day wasn't over: this covers it until ${time(to)}. Nothing was done about what differs. Book the statement that is made in the night.`)}
${!complete && !isSoFar && incompleteBox('The provider has not shown everything of the day: see "Not covered" below, for each service.')}
<section class="stack" aria-labelledby="differences"><h2 id="differences">${differences.length === 0 ? 'Nothing differs' : counted(differences.length, 'difference')}</h2>
${differences.length > shown.length && html`<p>These are the first ${count(MAX_SHOWN)}.</p>`}
${shown.length > 0 && boxes(shown.map(differing))}
</section>
<div class="columns">${serviceCard('Collections', services.collection, isSoFar)}${serviceCard('Payouts', services.payout, isSoFar)}</div>
${makeForm(session, date, AGAIN, 'Make it again')}
<div class="actions">${version > 1 && html`<a class="button plain" href="${versionAddress(date, version - 1)}" rel="prev">Version ${version - 1}</a>`}${allStatements}</div>`;
  return { title: `Statement of ${date}`, place: 'statements', main };
}

const AGAIN = html`<h2>Make it again</h2>
<p>Sanaga asks the provider about the day once more, and keeps the result as the next version. This version stays. A balance that nobody could ask for at midnight stays unknown.</p>`;

const fileAddress = (date: string, format: StatementFormat, version: number, separator = '') =>
  addressOf(`${statementAddress(date)}/${format}`, { version, separator });

/** GET /desk/statements/:date/csv, or /json: the statement as the API has written it, to save. */
export function statementFile(format: StatementFormat): (visit: Visit) => Promise<PageReply> {
  return async (visit) => {
    const [date, version, separator] = [visit.param('date'), visit.query('version'), visit.query('separator')];
    if (!isDay(date)) return noDay();
    const file = requireValue(await visit.api.statementFile(date, format, { version, separator }));
    // Excel needs the byte order mark, which reading the answer removed.
    const whole = format === 'csv' ? `\ufeff${file}` : file;
    return { file: whole, name: `${['statement', date, version].filter(Boolean).join('-')}.${format}` };
  };
}

function noDay(): PageReply {
  const text = `The address has no day of the calendar, such as ${latestDay()}.`;
  const back = { href: LIST_ADDRESS, text: 'All statements' };
  return { status: 404, ...errorPage('There is no such day', text, back) };
}

/**
 * Says that there is no such statement, and how to get it. A version that was asked for has this page until it is
 * there.
 */
function missingPage(session: Session, date: string, version: string, isBeingMade: boolean): PageReply {
  const main = html`
<div class="title"><h1>Statement of ${date}</h1></div>
${version === '' ? (isBeingMade ? BEING_MADE(date) : noneYet(session, date)) : notThereYet(date, version)}
<div class="actions">${allStatements}</div>`;
  const title = `Statement of ${date}: not there yet`;
  return { status: 404, title, place: 'statements', narrow: true, main };
}

const BEING_MADE = (date: string) =>
  html`<div class="card"><p>It is being made. ${TAKES} Nothing stops it when you leave this page.</p>
<div class="actions"><a class="button" href="${statementAddress(date)}">Look again</a></div></div>`;

function noneYet(session: Session, date: string): Html {
  if (errorIn(date) !== undefined) {
    return html`<div class="card"><p>There is none: the day has not begun in Douala.</p></div>`;
  }
  if (date === today()) {
    const about = html`<p>There is none: the day isn't over in Douala. Its statement is made in the night that follows. You can have one made of the day so far.</p>`;
    return makeForm(session, date, about, 'Make it of the day so far');
  }
  const about = html`<p>There is none. A day's statement is made in the following night, some three hours after midnight in Douala. If that night was missed, have it made now. ${TAKES}</p>`;
  return makeForm(session, date, about, 'Make it now');
}

function notThereYet(date: string, version: string): Html {
  return html`<div class="card"><h2>Version ${version} isn't there yet</h2>
<p>If you have asked for it, it is being made. ${TAKES} Nothing stops it when you leave this page.</p>
<div class="actions"><a class="button" href="${versionAddress(date, version)}">Look again</a>${version !== '1' && html`<a class="button plain" href="${statementAddress(date)}">The latest version</a>`}</div></div>`;
}

const KINDS: Readonly<Record<Difference['kind'], string>> = {
  only_at_provider: 'Known to the provider alone',
  missing_at_provider: 'Not shown by the provider',
  several_transactions: 'Several transactions of one payment',
  amount_differs: 'The amounts differ',
  kind_differs: 'The kinds differ',
  status_differs: 'The statuses differ',
  in_review: 'In REVIEW',
};

const HANDLED: Readonly<Record<Difference['handling'], string>> = {
  checked: "The payment was compared with the provider's records again",
  not_checked: "The payment couldn't be compared with the provider's records again",
  under_review: 'Nothing: the payment is in REVIEW, and a person has to decide it',
  unmatched: 'The transaction was put among the unmatched notifications',
  noted: 'Nothing: it is only noted here',
};

function differing(difference: Difference): Html {
  const { kind, paymentId, transId, merchant, text, handling, statusAfter, problem } = difference;
  const ours = difference.status && html`${badge(difference.status)} ${xaf(difference.amount)}`;
  const theirs =
    difference.providerStatus && html`${badge(difference.providerStatus)} ${xaf(difference.providerAmount)}`;
  return html`<div class="title-line"><h3>${KINDS[kind]}</h3>${statusAfter && html`<span class="quiet">now</span> ${badge(statusAfter)}`}</div>
<p class="why">${sentence(text)}</p>
${factList([
  ['Payment', paymentId && html`<a href="${paymentAddress(paymentId)}">${paymentId}</a>`],
  ['Merchant', merchant],
  ['In Sanaga', ours],
  ['At the provider', theirs],
  ['Transaction', transId && html`<a href="${searchAddress(transId)}"><code>${transId}</code></a>`],
  ['What was done', `${HANDLED[handling]}${problem === undefined ? '' : `: ${problem}`}.`],
])}`;
}

function serviceCard(name: string, service: ServiceStatement, isSoFar: boolean): Html {
  const { totals, opening, closing, change, coverage } = service;
  const statuses = Object.entries(totals.byStatus).filter(([, sum]) => sum.count > 0);
  const balance = (one: ServiceStatement['opening']): Content =>
    one === undefined ? 'nobody could ask for it then' : html`${amount(one.balance)}, as of ${time(one.asOf)}`;
  return html`<section class="card" aria-label="${name}"><h2>${name}</h2>
${factList([
  ['Payments', count(totals.payments)],
  ...statuses.map(([status, sum]) => [status, `${count(sum.count)}: ${amount(sum.amount)}`] as const),
  [
    'Fees',
    `${amount(totals.fees)}${totals.withoutFee > 0 ? `, and ${counted(totals.withoutFee, 'payment')} whose fee isn't known` : ''}`,
  ],
  ['Opening balance', balance(opening)],
  ['Closing balance', isSoFar ? undefined : balance(closing)],
  ['Change of the balance', change && amount(change.balance)],
  ["By the day's payments", change && amount(change.payments)],
  ["By other days' payments, withdrawals, or unknown movements", change && amount(change.rest)],
])}
${
  !coverage.complete &&
  html`<h3>Not covered</h3><ul>${coverage.gaps.map((gap) => html`<li>${sentence(gap)}</li>`)}${coverage.notCompared > 0 && html`<li>Nothing was seen of ${counted(coverage.notCompared, 'payment')}: the provider gave no answer, or there were too many to ask for one by one.</li>`}${coverage.cutOff && html`<li>There are more payments than a statement takes.</li>`}</ul>`
}</section>`;
}

function xaf(value: number | undefined): string {
  return value === undefined ? '' : amount(value);
}
