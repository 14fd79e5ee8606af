import { type Html, html } from '../http/html.js';
import { ownerOf } from '../payments/machine/matching.js';
import { isFinal } from '../payments/words/order.js';
import type { ProviderStatus } from '../payments/words/transaction.js';
import type { Payment, ProviderView } from './api-client.js';
import { decisionAddress } from './decision.js';
import type { Action } from './draft.js';
import { card, factList } from './page.js';
import { type Part, shown } from './visit.js';
import { amount, badge, duration, time } from './words.js';

type Transaction = ProviderView['list']['transactions'][number];

/** Shows the provider's records as they are at this moment, or says that they aren't known. */
export function providerCard(payment: Payment, records: Part<ProviderView>): Html {
  const main = html`${shown(records, ({ list, status }) => html`${listOf(payment, list)}${status && statusOf(payment, status)}`)}
<p class="quiet">Only the provider's interface is asked: look in its portal as well. What is shown here decides nothing; each decision is checked with the provider again.</p>`;
  return card('provider', 'What the provider shows now', main);
}

function listOf(payment: Payment, { answer, transactions, asOf, message }: ProviderView['list']): Html {
  if (answer !== 'listed') {
    return html`<p><span class="differs">Its list isn't known</span>, asked ${time(asOf)}: ${message ?? answer}.</p>`;
  }
  if (transactions.length === 0) {
    return html`<p>Its list, read ${time(asOf)}, has <strong>no transaction</strong> for this payment. It may list one late.</p>`;
  }
  const many =
    transactions.length > 1 &&
    html`<p class="differs">There are ${transactions.length}: the money may have moved more than once.</p>`;
  return html`<p>Its list, read ${time(asOf)}:</p>${many}
<ul class="list">${transactions.map((one) => html`<li>${transactionOf(payment, one)}</li>`)}</ul>`;
}

function statusOf(payment: Payment, status: NonNullable<ProviderView['status']>): Html {
  const { answer, transId, transaction, asOf, message } = status;
  if (transaction !== undefined) {
    return html`<p>Asked for the payment's own transaction ${time(asOf)}:</p>${transactionOf(payment, transaction)}`;
  }
  return answer === 'unknown'
    ? html`<p>Asked for <code>${transId}</code> ${time(asOf)}: <span class="differs">the provider doesn't know it</span> (${message ?? 'without a reason'}).</p>`
    : html`<p><span class="differs">The status of <code>${transId}</code> isn't known</span>, asked ${time(asOf)}: ${message ?? answer}.</p>`;
}

function transactionOf(payment: Payment, transaction: Transaction): Html {
  const { transId, status, externalId, userId, transType } = transaction;
  const isOtherAmount = transaction.amount !== undefined && transaction.amount !== payment.amount;
  const isAnothers = ['another', 'disputed'].includes(ownerOf(payment.id, transaction));
  const names = [...new Set([externalId, userId].filter((one) => one !== undefined))].join(', ');
  const type = payment.kind === 'payout' ? 'Payout' : 'Collection';
  const isOtherType = transType !== undefined && transType !== type;
  const differs = (words: string) => html` <span class="differs">${words}</span>`;
  return html`<div class="item"><h3><code>${transId}</code> ${badge(status)}</h3>
${factList([
  [
    'Amount',
    transaction.amount === undefined
      ? 'not said'
      : html`${amount(transaction.amount)}${isOtherAmount && differs(`the order is of ${amount(payment.amount)}`)}`,
  ],
  ['Made for', names === '' ? 'not said' : html`<code>${names}</code>${isAnothers && differs('another payment')}`],
  ['Type', transType && html`${transType}${isOtherType && differs(`the order is a ${type}`)}`],
  ['Medium', transaction.medium],
  ['After fees', transaction.revenue !== undefined && amount(transaction.revenue)],
  ["Operator's reference", transaction.financialTransId],
  ['Reason', transaction.reason],
])}
${payment.review && html`<p><a class="button plain" href="${decisionAddress(payment, 'match', transId)}">Match ${transId}</a></p>`}
</div>`;
}

/** Says why a decision would be refused at this moment, as far as the page knows. */
export function objections({ review, method }: Payment, action: Action, records: Part<ProviderView>): Html[] {
  if (action === 'match' || review === undefined) return [];
  const found: Html[] = [];
  const waitMs = Date.parse(review.decideFrom) - Date.now();
  if (waitMs > 0) {
    found.push(
      html`<p class="differs">Too early until ${time(review.decideFrom)}, in ${duration(waitMs)}: the provider may list a transaction late.</p>`,
    );
  }
  const list = records.kind === 'ok' && records.value.list.answer === 'listed' ? records.value.list : undefined;
  const isOver = (status: ProviderStatus) => status !== 'SUCCESSFUL' && isFinal({ kind: method ?? 'payout' }, status);
  const inTheWay = list?.transactions.filter(({ status }) => action === 'resend' || !isOver(status)) ?? [];
  if (inTheWay.length > 0) {
    const shown = inTheWay.map(({ transId, status }) => `${transId} (${status})`).join(', ');
    found.push(html`<p class="differs">The provider shows ${shown}.</p>`);
  }
  return found;
}
