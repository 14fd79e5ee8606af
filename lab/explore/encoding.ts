import { heldUntil } from '../../src/payments/machine/held.js';
import { LISTED_AFTER_MS } from '../../src/payments/machine/look-ups.js';
import { isForced, matchedTransId, type Resolution } from '../../src/payments/words/decision.js';
import type { TransId } from '../../src/payments/words/payment-id.js';
import type { PaymentState } from '../../src/payments/words/payment-state.js';
import type { Ambiguity, Inquiry, Phase, Review, Unsent } from '../../src/payments/words/phase.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/payments/words/time.js';
import { sendUntil } from './invariants.js';
import type { Situation } from './situation.js';

/** Texts that matter only for equality. */
const numbers = new Map<string, number>();

function numberOf(words: string | undefined): number {
  if (words === undefined) return 0;
  const known = numbers.get(words);
  if (known !== undefined) return known;
  numbers.set(words, numbers.size + 1);
  return numbers.size;
}

/**
 * Encodes a situation as a short text, different for situations with different futures: times are relative to now, and
 * those without further effect are left out.
 */
export function encode(situation: Situation): string {
  const { payment, todo, provider, book, left, now } = situation;
  let text = encodePayment(payment, now);
  text += `|${todo.kind}${todo.kind === 'askStatus' ? (todo.isClaim ? '!' : '.') : ''}`;
  text += `|${provider.silent}${provider.requests}/${provider.decisionsToSend}`;
  for (const one of provider.transactions) {
    text += `;${one.status}${one.before ?? ''}${future(one.listedFrom, now)}`;
    text += flags(one.isListed, one.isWrong, one.isGiven, one.hasTurned, one.isNotified, one.isDoubted ?? false);
    if (payment.order.kind === 'link') text += past(one.madeAt, now, 24 * HOUR_MS);
  }
  for (const { transId, at } of provider.asked) if (at > now - MINUTE_MS) text += `?${transId}${at - now}`;
  text += `|${left.troubles},${left.notifications},${left.requests},${left.decisions}|`;
  text += `|${Math.min(book.notifications, 1)}${book.told ?? ''}${book.gap ?? ''}`;
  text += shownText(book);
  for (const { kind, isCurrent, isInsisted, view, made } of book.open) {
    text += `&${kind}${flags(isCurrent, isInsisted)}${made?.by ?? ''}`;
    for (const one of view) text += `${one.transId}${one.status}`;
  }
  text += `|${book.isApproved ? 'a' : ''}${book.isStopped ?? ''}`;
  const { kind } = payment.phase;
  if (kind === 'held' || kind === 'waiting' || kind === 'sending') text += future(sendUntil(situation), now);
  if (book.proposed !== undefined) {
    const { what, by, review } = book.proposed;
    text += `p${what},${by},${payment.reviews - review}`;
  }
  text += `|${book.insisted ?? ''}${flags(book.isRechecked, book.isOwnHeard, book.isFailed, book.isNamed, book.isSearched, book.isThrottled ?? false, book.lookedAt === now, book.isUnnamed ?? false, book.isDisputed ?? false)}${book.disputed.join()}${book.named.join()}${paidText(now, book.reportedPaid)}${future(book.quietUntil, now)},${Math.min(book.unconfirmed, 4)}`;
  text += `${book.unissued.join()}${past(book.refusedSince ?? now, now, HOUR_MS)}${past(book.unsentSince ?? now, now, 5 * MINUTE_MS)}`;
  if (book.toAsk !== undefined) text += `a${book.toAsk.transId}${past(book.toAsk.since, now, HOUR_MS)}`;
  return text;
}

function shownText({ shown }: Situation['book']): string {
  let text = '';
  for (const one of shown)
    text += `;${one.transId}${one.status}${one.isPaid ? 'p' : ''}${one.isWrong ? 'w' : ''}${one.isAside ? 'a' : ''}${one.isOpen ? 'o' : ''}${one.isLeftOut ? 'l' : ''}${one.isHeard ? 'h' : ''}${one.decided ?? ''}`;
  return text;
}

function flags(...all: readonly boolean[]): string {
  let bits = 0;
  for (const one of all) bits = bits * 2 + (one ? 1 : 0);
  return `:${bits}`;
}

/** Encodes a time that matters while it is in the future. */
function future(at: number, now: number): string {
  return at > now ? `+${at - now}` : '_';
}

/** Encodes a time that matters for `forMs` after it. */
function past(at: number, now: number, forMs: number): string {
  return `-${Math.min(now - at, forMs)}`;
}

function paidText(
  now: number,
  reports: readonly { readonly transId: TransId; readonly at: number; readonly times?: number }[] = [],
): string {
  let text = '';
  for (const { transId, at, times = 0 } of reports) text += `t${transId}${times}${past(at, now, 36 * MINUTE_MS)}`;
  return text;
}

function shownOwn({ lastShown }: PaymentState): string {
  return lastShown === undefined ? '' : `${lastShown.transId}${lastShown.status}${lastShown.wasPaid ? 'p' : ''}`;
}

/** Encodes the payment alone: everything that its machine's next steps depend on. */
export function encodePayment(payment: PaymentState, now: number): string {
  const { phase, release, facts, sends, claims, terms } = payment;
  let text = encodePhase(payment, phase, now);
  if (release !== undefined)
    text += `R${release.approvals.map(({ by }) => by).join()}${flags(release.at === undefined)}`;
  text += `|${facts.link?.transId ?? ''}`;
  if (facts.expiresAt !== undefined) text += `e${now - facts.expiresAt > 24 * HOUR_MS ? 'o' : facts.expiresAt - now}`;
  text += `|${sends.count}${flags(sends.policySpent, sends.mayBeDouble, sends.isThrottled ?? false)}`;
  if (sends.gap !== undefined) text += `g${sends.gap.isRead ? '' : future(sends.gap.at + LISTED_AFTER_MS, now)}`;
  text += past(sends.lastAt ?? payment.createdAt, now, terms.resolveAfterMs);
  text += `|${Math.min(payment.reviews, 2)},${numberOf(payment.acceptedDifference)},${(payment.differences ?? []).map(({ words }) => numberOf(words)).join('.')},${shownOwn(payment)}${future(payment.quietUntil ?? 0, now)}|${future(claims.notBefore, now)}`;
  for (const one of claims.open) text += `;${one.transId}${future(one.nextAt, now)},${one.unanswered},${one.unknown}`;
  text += `|${claims.unconfirmed.join()}${claims.isNamed ? 'n' : ''}|${paidText(now, claims.paid)}`;
  for (const one of payment.others) text += `${one.transId}${one.status}/${one.decidedAs ?? ''};`;
  text += '|';
  for (const { transId, at } of payment.recentQuestions) if (at >= now - MINUTE_MS) text += `${transId}${at - now};`;
  text += '|';
  for (const one of payment.pendingRequests) text += `&${one.for}`;
  return text;
}

function encodePhase(payment: PaymentState, phase: Phase, now: number): string {
  const { terms } = payment;
  switch (phase.kind) {
    case 'held':
      return `h${phase.for.join()}${phase.for.map((one) => future(heldUntil(payment, phase, one), now)).join()}`;
    case 'sending':
      return `s${phase.cause}${ambiguity(payment, phase.ambiguity, now)}${unsent(payment, phase.unsent, now)}`;
    case 'waiting':
      return `w${phase.cause}${ambiguity(payment, phase.ambiguity, now)}${unsent(payment, phase.unsent, now)}${future(phase.until, now)}`;
    case 'searching':
    case 'following':
    case 'closing':
    case 'verifying':
      return encodeInquiry(payment, phase, now);
    case 'review':
      return encodeReview(payment, phase, now);
    case 'deciding': {
      const { resolution, step, moving, rounds, inView } = phase;
      return `d${encodeReview(payment, phase.review, now)}${decisionText(resolution)}${JSON.stringify(step)};${moving.join()};${rounds}/${inView.join()}`;
    }
    case 'ended': {
      let text = `e${phase.status}${phase.transId ?? ''}`;
      for (const check of phase.checks) {
        text += `${future(check.at, now)}${check.tries}${flags(check.isRecheck ?? false)}${check.asked?.join() ?? ''}/${check.heard?.join() ?? ''}`;
      }
      text += phase.outstanding?.join() ?? '';
      return `${text}${terms.ambiguousPolicy}`;
    }
  }
}

function encodeReview(payment: PaymentState, { number, why, held, inquiry, proposed }: Review, now: number): string {
  const text = `r${payment.reviews - number},${numberOf(why)}${flags(held)}${inquiry === undefined ? '' : encodeInquiry(payment, inquiry, now)}`;
  return proposed === undefined ? text : `${text}p${decisionText(proposed)}`;
}

function decisionText({ decision, force, by }: Resolution): string {
  return `${decision.action}${matchedTransId(decision) ?? ''}${flags(isForced(force))}${by}`;
}

function encodeInquiry(payment: PaymentState, inquiry: Inquiry, now: number): string {
  switch (inquiry.kind) {
    case 'searching': {
      const { clearing } = inquiry;
      const unissued = clearing === undefined ? '' : `${clearing.unissued.join()}${clearing.next}`;
      const last = past(inquiry.lastAt ?? 0, now, 10 * SECOND_MS);
      return `S${ambiguity(payment, inquiry.ambiguity, now)}${inquiry.lookUps}${last}${future(inquiry.nextAt, now)}${unissued}`;
    }
    case 'following': {
      const { transId, since, status, polling, end } = inquiry;
      let text = `F${transId}${status}${past(since, now, 24 * HOUR_MS)}${future(polling.nextAt, now)},${polling.asked},${polling.unanswered}`;
      text += flags(polling.hinted);
      return end === undefined ? text : `${text}${future(end.at, now)},${end.tries}`;
    }
    case 'closing':
      return `C${inquiry.next}${encodeInquiry(payment, inquiry.of, now)}`;
    case 'verifying': {
      const { of, interimStatus, outcome, since, lookUps, lastAt = 0, nextAt } = inquiry;
      const times = `${past(since, now, payment.terms.ambiguousGraceMs)}${past(lastAt, now, 10 * SECOND_MS)}${future(nextAt, now)}`;
      return `V${interimStatus}${outcome.status}${lookUps}${times}${encodeInquiry(payment, of, now)}`;
    }
  }
}

function ambiguity({ terms }: PaymentState, one: Ambiguity | undefined, now: number): string {
  if (one === undefined) return '';
  return `?${numberOf(one.reason)}${one.otherwise?.failureCode ?? ''}${unsent({ terms }, one.unsent, now)}${past(one.since, now, terms.ambiguousGraceMs)}`;
}

function unsent({ terms }: Pick<PaymentState, 'terms'>, one: Unsent | undefined, now: number): string {
  if (one === undefined) return '';
  return `u${one.tries}${one.hold}${one.wasThrottled ? 't' : ''}${past(one.begunAt, now, terms.sendByMs)}${past(one.since, now, 5 * MINUTE_MS)}`;
}
