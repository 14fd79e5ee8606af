import { type Html, html } from '../http/html.js';
import type { Notifications } from './api-client.js';
import { boxes, csrfField, noticeBox, pager } from './page.js';
import { leaveNotice, type Session, takeNotice } from './session.js';
import { type PageReply, requireValue, type Visit } from './visit.js';
import { addressOf, age, badge, count, counted, nameOf, paymentAddress, time } from './words.js';

type Notification = Notifications['data'][number];

/** The two pages of notifications that merchants have not acknowledged: those still tried, and those given up. */
const LISTS = {
  due: {
    path: '/desk/deliveries',
    title: 'Deliveries that are due',
    may: 'Each is tried for 72 hours, and then given up.',
    none: 'No delivery is due.',
    other: 'abandoned',
    age: ({ at }: Notification) => `Due for ${age(at)}`,
  },
  abandoned: {
    path: '/desk/deliveries/given-up',
    title: 'Deliveries that were given up',
    may: 'Nobody sends these unless you do: find out why the merchant did not take them, and send them again.',
    none: 'No delivery was given up, or each was sent again.',
    other: 'due',
    age: ({ delivery }: Notification) => `Given up ${age(delivery.at)} ago`,
  },
} as const;
type ListName = keyof typeof LISTS;

/** GET /desk/deliveries and /desk/deliveries/given-up, a hundred at a time. */
export const deliveriesPage =
  (which: ListName) =>
  async (visit: Visit): Promise<PageReply> => {
    const { session, api } = visit;
    const cursor = visit.query('cursor');
    const { data, total, nextCursor } = requireValue(await api.unacknowledged(which, { cursor }));
    const list = LISTS[which];
    const other = LISTS[list.other];
    const isPart = cursor !== '' || nextCursor !== undefined;
    const main = html`
<div class="title"><h1>${list.title}</h1>
<p>${total > 0 && html`${counted(total, 'notification', 'notifications')}${isPart && `, ${count(data.length)} of them on this page`}, the oldest first. `}${list.may}</p>
<p><a href="${other.path}">${other.title}</a></p></div>
${noticeBox(takeNotice(session, which))}
${boxes(
  data.map(
    ({ payment, notification }) => html`
<div class="title-line"><h2><a href="${paymentAddress(payment.id)}">${nameOf(payment)}</a></h2>${badge(payment.status)}</div>
<div class="meta"><span>Merchant <strong>${payment.merchant}</strong></span><span>${list.age(notification)}</span><span><code>${payment.id}</code></span></div>
${notificationBox(session, payment.id, notification, { from: which, cursor })}`,
  ),
  isPart ? 'There are no more.' : list.none,
)}
${pager(list.path, {}, cursor, nextCursor)}`;
    return { title: list.title, place: 'deliveries', main };
  };

/** POST /desk/payments/:id/notifications/:number: has a notification delivered again. */
export async function resendNotification(visit: Visit): Promise<PageReply> {
  const { session, api } = visit;
  const [id, number] = [visit.param('id'), visit.param('number')];
  const answer = await api.resend(id, number);
  const from = visit.field('from');
  const list = from === 'due' || from === 'abandoned' ? from : undefined;
  leaveNotice(
    session,
    list ?? id,
    answer.kind === 'ok'
      ? { kind: 'done', text: `Notification ${number} of ${id} is being sent again.` }
      : { kind: answer.problem.status >= 500 ? 'unknown' : 'refused', text: answer.problem.detail },
  );
  if (list === undefined) return { to: paymentAddress(id) };
  return { to: addressOf(LISTS[list].path, { cursor: visit.field('cursor') }) };
}

/**
 * One notification, how far its delivery has come, and a button that sends it again.
 *
 * @param list the page that it is shown on, if not the payment's: which list, and the cursor that the page begins at
 */
export function notificationBox(
  session: Session,
  payment: string,
  { number, type, at, delivery }: Notification,
  list: Readonly<Record<string, string>> = {},
): Html {
  const fields = Object.entries(list);
  return html`<h3>${number}. ${type}</h3>
<p class="quiet">${time(at)}</p><p>${deliveryWords(delivery)}</p>
<form method="post" action="${paymentAddress(payment)}/notifications/${number}">${csrfField(session.csrf)}
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="actions"><button class="button plain">Send it again<span class="unseen"> notification ${number} of ${payment}</span></button></div></form>`;
}

function deliveryWords(delivery: Notification['delivery']): Html {
  switch (delivery.status) {
    case 'due': {
      const failed =
        delivery.lastError !== undefined &&
        html` The last of ${delivery.tries} tries${delivery.lastTriedAt && html`, ${time(delivery.lastTriedAt)},`} failed: <span class="differs">${delivery.lastError}</span>.`;
      // They go out one after the other: one whose time has come is on its way, or behind another.
      const next =
        Date.parse(delivery.at) > Date.now()
          ? html`next try ${time(delivery.at)}`
          : 'it is being sent, or waits for the notification before it';
      return html`Not acknowledged yet; ${next}.${failed}`;
    }
    case 'delivered':
      return html`Acknowledged ${time(delivery.at)}.`;
    case 'no_address':
      return html`Not sent: the merchant has no address for it.`;
    case 'abandoned':
      return html`<span class="differs">Given up</span> ${time(delivery.at)}, ${delivery.lastError === undefined ? 'without a try' : html`after the last try failed: ${delivery.lastError}`}.`;
  }
}
