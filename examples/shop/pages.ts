import { randomUUID } from 'node:crypto';
import { goods } from './goods.ts';
import { alertsOf, isGivenUp, type OrderState, paidAmount, refundOf, stateOf } from './payments.ts';
import { type Attempt, isOver, type Notice, type Order } from './store.ts';

class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | undefined | readonly Part[];

/** HTML, in which every value is escaped unless it is HTML itself. */
function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: texts }, ...parts.map(toText)));
}

function toText(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(toText).join('');
  return String(part ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `refresh`: after so many seconds, for a page that waits for news. */
function page(title: string, content: Markup, { refresh }: { readonly refresh?: number } = {}): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${refresh === undefined ? '' : html`<meta http-equiv="refresh" content="${refresh}" />`}
        <title>${title} · Highland Goods</title>
        <link rel="stylesheet" href="/shop.css" />
      </head>
      <body>
        <header><a href="/">Highland Goods</a></header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`.text;
}

const xaf = (amount: number) => `${amount.toLocaleString('en')}\u00a0XAF`;

/** In Cameroon, whatever this machine's clock is set to. */
const time = (iso: string) =>
  new Date(iso).toLocaleString('en-GB', {
    timeZone: 'Africa/Douala',
    dateStyle: 'medium',
    timeStyle: 'short',
  });

export interface OrderForm {
  readonly item?: string;
  readonly phone?: string;
  readonly mistake?: string;
}

export function goodsPage({ item = 'pepper', phone, mistake }: OrderForm = {}): string {
  return page(
    'Goods from the highlands',
    html`<form method="post" action="/orders">
      <input type="hidden" name="id" value="${randomUUID()}" />
      <fieldset>
        <legend>What would you like?</legend>
        ${[...goods].map(
          ([id, { name, about, price }]) => html`<label class="choice">
            <input type="radio" name="item" value="${id}" ${id === item ? 'checked' : ''} />
            <span>${name}<small>${about}</small></span> <b>${xaf(price)}</b>
          </label>`,
        )}
      </fieldset>
      <label>
        Your mobile number<small>for questions about your order, and for a refund</small>
        <input name="phone" type="tel" inputmode="tel" autocomplete="tel" required value="${phone}" />
      </label>
      ${mistake === undefined ? '' : html`<p class="bad" role="alert">${mistake}</p>`}
      <button>Order</button>
    </form>`,
  );
}

/** The customer's page of an order. */
export function orderPage(order: Order, attempts: readonly Attempt[]): string {
  const state = stateOf(attempts);
  const refund = refundOf(attempts);
  const isWaiting = state.kind === 'preparing' || state.kind === 'payable';
  const isRefunding = isRefundOpen(refund);
  return page(
    `Order ${order.number}`,
    html`<p class="sum">${order.item} <b>${xaf(order.amount)}</b></p>
      ${customerText(order, state)} ${refund === undefined ? '' : html`<p>${refundText(refund)}</p>`}`,
    isWaiting || isRefunding ? { refresh: state.kind === 'preparing' ? 3 : 10 } : {},
  );
}

function customerText(order: Order, state: OrderState): Markup {
  const pay = (label: string) =>
    html`<form method="post" action="/orders/${order.id}/pay"><button>${label}</button></form>`;
  switch (state.kind) {
    case 'preparing':
      return html`<p>Your payment link is being made. This page shows it as soon as it is there.</p>
        ${pay('Try again now')}`;
    case 'refused':
      return html`<p class="bad">Your payment link could not be made. We know of it, and will call you.</p>`;
    case 'payable':
      return html`${state.lastTry === undefined ? '' : html`<p class="bad">Your last try didn't succeed. You can try again.</p>`}
        <p>
          This order isn't paid yet, as far as we know. If you have just paid, wait a moment: this page shows it as
          soon as it is confirmed.
        </p>
        <a class="button" href="${state.link}">Pay ${xaf(order.amount)}</a>
        ${state.until === undefined ? '' : html`<p><small>You can pay until ${time(state.until)}.</small></p>`}`;
    case 'paid':
      return html`<p class="good">Paid. Thank you! We'll call you when it is on its way.</p>`;
    case 'otherAmount':
      return html`<p class="doubt">
        We have received ${xaf(paidAmount(state.payment))} for this order. Please don't pay again: we'll call you.
      </p>`;
    case 'review':
      return html`<p class="doubt">
        Your payment is being checked. Please don't pay again: we'll tell you as soon as we know.
      </p>`;
    case 'unpaid':
      return html`<p>This order was not paid, and its payment link has ended. Nothing was charged.</p>
        ${pay('Get a new payment link')}`;
  }
}

function refundText(refund: Attempt): Markup {
  const { payment, params } = refund;
  const what = `The refund of ${xaf(payment === undefined ? params.amount : paidAmount(payment))}`;
  if (isGivenUp(refund)) return html`<span class="doubt">${what} needs our attention. We will call you.</span>`;
  if (payment?.held !== undefined) return html`<span class="doubt">${what} waits for an approval.</span>`;
  if (payment?.status === 'REVIEW') return html`<span class="doubt">${what} is being checked.</span>`;
  if (payment?.final !== true) return html`${what} is on its way.`;
  if (payment.status === 'SUCCESSFUL') return html`<span class="good">${what} has arrived.</span>`;
  return html`<span class="bad">${what} did not succeed. No money was sent.</span>`;
}

const STATES: Readonly<Record<OrderState['kind'], string>> = {
  preparing: 'link not made yet',
  refused: 'link refused',
  payable: 'not paid',
  paid: 'paid',
  otherAmount: 'paid, but another amount',
  review: 'being checked',
  unpaid: 'not paid, link ended',
};

export interface OrderWithAttempts {
  readonly order: Order;
  readonly attempts: readonly Attempt[];
}

/** All orders, for the shop's owner. */
export function ordersPage(orders: readonly OrderWithAttempts[]): string {
  const row = ({ order, attempts }: OrderWithAttempts) => {
    const refund = refundOf(attempts);
    return html`<tr>
      <td><a href="/admin/orders/${order.id}">${order.number}</a></td>
      <td>${order.item}<small>${xaf(order.amount)}, ${time(order.createdAt)}</small></td>
      <td>
        ${STATES[stateOf(attempts).kind]}${refund === undefined ? '' : html`<br />${refundText(refund)}`}
        ${alertsOf(attempts).length === 0 ? '' : html`<br /><b class="bad">look into it</b>`}
      </td>
    </tr>`;
  };
  return page(
    'Orders',
    html`<form method="post" action="/admin/sweep"><button class="plain">Ask Sanaga for news</button></form>
      ${
        orders.length === 0
          ? html`<p>Nobody has ordered anything yet.</p>`
          : html`<table>
            <tr><th>Order</th><th>Item</th><th>Status</th></tr>
            ${orders.map(row)}
          </table>`
      }`,
  );
}

/** An order as its owner sees it: what to look into, the refund, and every payment with its notifications. */
export function ownersOrderPage(
  { order, attempts }: OrderWithAttempts,
  noticesOf: (key: string) => readonly Notice[],
  mistake?: string,
): string {
  const state = stateOf(attempts);
  const refund = refundOf(attempts);
  const paid = state.kind === 'paid' || state.kind === 'otherAmount' ? state.payment : undefined;
  const canRefund = paid !== undefined && (refund === undefined || isOver(refund));
  return page(
    `Order ${order.number}`,
    html`<p class="sum">${order.item} <b>${xaf(order.amount)}</b></p>
      ${[mistake, ...alertsOf(attempts)].map((alert) => alert && html`<p class="bad" role="alert">${alert}</p>`)}
      <p>
        ${STATES[state.kind]}, customer ${order.phone},
        <a href="/orders/${order.id}">the customer's page</a>
      </p>
      ${refund === undefined ? '' : html`<p>${refundText(refund)}</p>`}
      ${
        canRefund
          ? html`<form method="post" action="/admin/orders/${order.id}/refund">
            <label>
              Refund in XAF<small>to ${order.phone}</small>
              <input name="amount" inputmode="numeric" required value="${paid && paidAmount(paid)}" />
            </label>
            <button>Refund</button>
          </form>`
          : ''
      }
      ${
        attempts.some(isGivenUp)
          ? html`<form method="post" action="/admin/orders/${order.id}/retry">
            <button>Send it again</button><small>word by word, with the same key: it never pays twice</small>
          </form>`
          : ''
      }
      <h2>Payments</h2>
      ${attempts.map((attempt) => attemptOf(attempt, noticesOf(attempt.key)))}
      <p><a href="/admin">All orders</a></p>`,
    isRefundOpen(refund) ? { refresh: 5 } : {},
  );
}

const isRefundOpen = (refund: Attempt | undefined) =>
  refund !== undefined && refund.payment?.final !== true && !isGivenUp(refund);

function attemptOf(attempt: Attempt, notices: readonly Notice[]): Markup {
  const { key, kind, params, payment, createdAt, isRefused } = attempt;
  const status =
    payment === undefined
      ? isRefused
        ? 'refused'
        : 'no answer yet'
      : `${payment.status}${payment.final ? ', final' : ''}`;
  return html`<dl>
    <dt>${kind === 'collection' ? 'Payment' : 'Refund'}</dt><dd>${xaf(payment === undefined ? params.amount : paidAmount(payment))}, ${status}</dd>
    <dt>Begun</dt><dd>${time(createdAt)}</dd>
    <dt>Key</dt><dd>${key}</dd>
    <dt>At Sanaga</dt><dd>${payment?.id ?? 'not known'}</dd>
    ${payment?.reason === undefined ? '' : html`<dt>Reason</dt><dd>${payment.reason}</dd>`}
    ${notices.map(({ type, receivedAt }) => html`<dt>${time(receivedAt)}</dt><dd>${type}</dd>`)}
  </dl>`;
}

export function messagePage(title: string, text: string): string {
  return page(title, html`<p>${text}</p>`);
}
