import type { TransId } from '../../src/payments/words/payment-id.js';
import { reviewOf } from '../../src/payments/words/payment-state.js';
import { MINUTE_MS } from '../../src/payments/words/time.js';
import type { DecideMove, Move, Person } from './move.js';
import { nextTransId } from './provider.js';
import { answerMoves, costly, mayOf, postMoves, reachable, turnsOf } from './provider-moves.js';
import { type Approver, FOREIGN, type Setting } from './setting.js';
import type { Situation } from './situation.js';

/** All moves that are possible next. */
export function movesFrom(situation: Situation, setting: Setting): Move[] {
  const moves = allMovesFrom(situation, setting);
  return mayLoseAnswer(situation) ? moves : moves.filter((move) => !losesAnswer(move));
}

function losesAnswer(move: Move): boolean {
  return (move.kind === 'status' || move.kind === 'list' || move.kind === 'expire') && move.answer.kind === 'lost';
}

/** Reports whether no more questions within a minute are lost than may be (A7). */
function mayLoseAnswer({ provider, payment, todo, now }: Situation): boolean {
  if (provider.asked.length < LOST_QUESTIONS) return true;
  const isRecent = (at: number) => at > now - MINUTE_MS;
  return provider.asked.every(({ transId }) => {
    const asked = provider.asked.filter((one) => one.transId === transId && isRecent(one.at)).length;
    const kept = payment.recentQuestions.filter((one) => one.transId === transId && isRecent(one.at)).length;
    return asked - kept + (todo.kind === 'askStatus' && todo.transId === transId ? 1 : 0) <= LOST_QUESTIONS;
  });
}

/** Number of status questions about a transaction that may be lost with their workers within a minute (A7). */
const LOST_QUESTIONS = 3;

function allMovesFrom(situation: Situation, setting: Setting): Move[] {
  const { todo, provider } = situation;
  // What has come in the same turn is heard before a request is on its way, and nothing while it is.
  const moves: Move[] = [
    ...(todo.kind === 'send' ? postMoves(situation, setting) : answerMoves(situation, setting)),
    ...messageMoves(situation, setting),
  ];
  for (const { transId, isDoubted } of provider.transactions)
    if (isDoubted) moves.push({ kind: 'lateReport', transId });
  if (mayFindGap(situation, setting)) {
    moves.push({ kind: 'gap' }, ...(todo.kind === 'send' ? [{ kind: 'gap', isInFlight: true } as const] : []));
  }
  if (provider.silent !== 'no' && todo.kind !== 'send') moves.push({ kind: 'answersAgain' });
  return moves;
}

/** Once an outcome was told, nothing would show that it was told by what a book knew that had gone back. */
function mayFindGap({ book }: Situation, { wasSentBefore, kind }: Setting): boolean {
  return wasSentBefore === true && kind === 'link' && book.gap === undefined && !book.final;
}

/** Messages from outside, at any moment but while a request is on its way. */
function messageMoves(situation: Situation, setting: Setting): Move[] {
  const { todo, left } = situation;
  const moves: Move[] = [];
  if (left.notifications > 0) moves.push(...notificationMoves(situation, setting));
  if (left.requests > 0) {
    for (const request of setting.requests) {
      // A payment that has ended is asked for a check alone.
      if (todo.kind === 'end' && request !== 'recheck') continue;
      if (request === 'expire') moves.push(...unsure(situation, setting, { kind: 'request', request }));
      moves.push({ kind: 'request', request });
    }
  }
  if (left.decisions > 0 && todo.kind === 'send' && todo.cause === 'operator') moves.push(...recallMoves(situation));
  if (left.decisions > 0 && todo.kind !== 'end') {
    moves.push(...decisionMoves(situation, setting), ...approvalMoves(situation, setting));
  }
  return moves;
}

function notificationMoves(situation: Situation, setting: Setting): Move[] {
  const { provider, now, book } = situation;
  const { kind } = setting;
  const may = mayOf(situation, setting);
  const moves = setting.foreign.flatMap((foreign) =>
    Array.from({ length: setting.copies ?? 1 }, (_, copy): Move => {
      const transId = `${FOREIGN[foreign]}${copy === 0 ? '' : copy + 1}` as TransId;
      return { kind: 'notification', transId, status: 'SUCCESSFUL' };
    }),
  );
  if (may('doubledLater') && book.final && kind !== 'link' && provider.transactions.length > 0) {
    const transId = nextTransId(provider);
    moves.push(costly({ kind: 'notification', transId, status: 'SUCCESSFUL', truth: 'SUCCESSFUL', isDoubled: true }));
  }
  for (const one of provider.transactions) {
    const { transId } = one;
    for (const status of reachable(one, setting, now)) {
      if (status !== 'CREATED' && status !== 'PENDING')
        moves.push({ kind: 'notification', transId, status, truth: status });
    }
    for (const turn of turnsOf(one, setting, may)) {
      moves.push(costly({ kind: 'notification', transId, status: turn, truth: turn }));
    }
    // A lie, or news of long ago.
    moves.push({
      kind: 'notification',
      transId,
      status: one.status === 'SUCCESSFUL' ? 'FAILED' : 'SUCCESSFUL',
    });
  }
  if (setting.namesAlone) {
    const [first] = provider.transactions;
    const isPaid = first !== undefined && reachable(first, setting, now).includes('SUCCESSFUL');
    moves.push({ kind: 'notification', status: 'SUCCESSFUL', ...(isPaid && { truth: 'SUCCESSFUL' }) });
  }
  return moves;
}

/**
 * Lists what people try with a payout that is held or was, also in vain: its clerk's own approval, under any name, and
 * late ones.
 */
function approvalMoves(situation: Situation, setting: Setting): Move[] {
  const { held, decisions } = setting;
  if (held === undefined || situation.payment.phase.kind === 'ended') return [];
  const clerks: readonly Approver[] = ['clerk', 'renamed clerk', 'Clérk'];
  const approvers: readonly Approver[] = decisions.has('second') ? ['manager', 'accountant'] : ['manager'];
  const rejection: Move = { kind: 'rejectPayout', by: 'manager' };
  return [
    ...[...clerks, ...approvers].map((by): Move => ({ kind: 'approve', by })),
    ...(decisions.has('outdated') ? [{ kind: 'approve', by: 'manager', isOther: true } as const] : []),
    rejection,
    ...unsure(situation, setting, rejection),
  ];
}

/** Lists a message that stops a held payout, where nobody says in time whether it was sent before. */
function unsure(
  situation: Situation,
  setting: Setting,
  move: Extract<Move, { kind: 'request' | 'rejectPayout' }>,
): Move[] {
  const isAsked = situation.payment.phase.kind === 'held' && mayOf(situation, setting)('unread');
  return isAsked ? [costly({ ...move, isUnsure: true })] : [];
}

/** Lists the ways for an operator to take back a decision that isn't carried out yet. */
function recallMoves({ payment: { phase, resolved } }: Situation): Move[] {
  const isOpen = phase.kind === 'waiting' || phase.kind === 'sending';
  return isOpen && resolved !== undefined ? [{ kind: 'reject', review: resolved.review, by: 'ops' }] : [];
}

function decisionMoves(situation: Situation, { decisions, foreign, terms }: Setting): Move[] {
  const { payment, provider, todo } = situation;
  const review = reviewOf(payment);
  const number = payment.reviews;
  if (review === undefined) {
    if (todo.kind !== 'wait') return [];
    return [{ kind: 'decide', action: 'fail', review: number, force: true, by: 'ops' }, ...recallMoves(situation)];
  }
  const areTwo = decisions.has('second') && terms.secondPersonAbove !== undefined;
  const people: readonly Person[] = areTwo ? ['ops', 'second'] : ['ops'];
  const forces = decisions.has('insist') ? [false, true] : [false];
  const numbers = decisions.has('outdated') && number > 1 ? [number, number - 1] : [number];
  const named = decisions.has('match') ? provider.transactions.map(({ transId }) => transId) : [];
  if (decisions.has('foreign')) named.push(...foreign.map((one) => FOREIGN[one] as TransId));
  const made = numbers.flatMap((of) =>
    forces.flatMap((force): Omit<DecideMove, 'by'>[] => [
      ...(decisions.has('resend') ? [{ kind: 'decide', action: 'resend', review: of, force } as const] : []),
      ...(decisions.has('fail') ? [{ kind: 'decide', action: 'fail', review: of, force } as const] : []),
      ...named
        .filter((transId) => !(force && transId === FOREIGN.nameless)) // assumption A8
        .map((transId) => ({ kind: 'decide', action: 'match', transId, review: of, force }) as const),
    ]),
  );
  const rejected: Move[] =
    areTwo && review.proposed !== undefined ? people.map((by) => ({ kind: 'reject', review: number, by })) : [];
  return [...people.flatMap((by) => made.map((move) => ({ ...move, by }))), ...rejected];
}
