import type { TransId } from '../../src/payments/words/payment-id.js';
import { reviewOf } from '../../src/payments/words/payment-state.js';
import { MINUTE_MS } from '../../src/payments/words/time.js';
import type { DecideMove, Move, Person } from './move.js';
import { nextTransId } from './provider.js';
import { answerMoves, costly, mayOf, postMoves, reachable, turnOf } from './provider-moves.js';
import { type Approver, FOREIGN, type Setting } from './setting.js';
import type { Situation } from './situation.js';

/** All moves that are possible next. */
export function movesFrom(situation: Situation, setting: Setting): Move[] {
  const moves = allMovesFrom(situation, setting);
  return mayLoseWorker(situation) ? moves : moves.filter((move) => !losesWorker(move));
}

function losesWorker(move: Move): boolean {
  switch (move.kind) {
    case 'post':
      return move.outcome === 'lost';
    case 'status':
    case 'list':
    case 'expire':
    case 'resetCheck':
      return move.answer.kind === 'lost';
    default:
      return move.kind === 'workerLost';
  }
}

/** Reports whether losing this worker loses no more questions within a minute than may be lost (A7). */
function mayLoseWorker({ provider, recorded, todo, now }: Situation): boolean {
  if (provider.asked.length < LOST_QUESTIONS) return true;
  const known = recorded?.payment.recentQuestions ?? [];
  const isRecent = (at: number) => at > now - MINUTE_MS;
  return provider.asked.every(({ transId }) => {
    const asked = provider.asked.filter((one) => one.transId === transId && isRecent(one.at)).length;
    const kept = known.filter((one) => one.transId === transId && isRecent(one.at)).length;
    return asked - kept + (todo.kind === 'askStatus' && todo.transId === transId ? 1 : 0) <= LOST_QUESTIONS;
  });
}

/** Number of status questions about a transaction that may be lost with their workers within a minute (A7). */
const LOST_QUESTIONS = 3;

function allMovesFrom(situation: Situation, setting: Setting): Move[] {
  const { todo, provider } = situation;
  if (todo.kind === 'send') {
    const moves = postMoves(situation, setting);
    // A link is made within a workflow task, which messages don't wait for.
    if (setting.kind === 'link') return [...moves, ...messageMoves(situation, setting)];
    // It is about to be sent. What came in the same workflow task is heard before.
    if (todo.cause !== 'order' && situation.left.decisions > 0) moves.push(...recallMoves(situation));
    return situation.left.notifications > 0 ? [...moves, ...notificationMoves(situation, setting)] : moves;
  }
  const moves: Move[] = [...answerMoves(situation, setting), ...messageMoves(situation, setting)];
  if (provider.silent !== 'no') moves.push({ kind: 'answersAgain' });
  return moves;
}

/** Messages from outside, at any moment but while money is being sent. */
function messageMoves(situation: Situation, setting: Setting): Move[] {
  const { todo, left, delivering, recorded } = situation;
  const may = mayOf(situation, setting);
  const moves: Move[] = [];
  if (left.notifications > 0) moves.push(...notificationMoves(situation, setting));
  if (left.requests > 0) {
    for (const request of setting.requests) {
      // An ended payment is opened again for these two alone.
      if (todo.kind === 'end' && request !== 'recheck' && request !== 'resendNotification') continue;
      if (request === 'expire') moves.push(...unsure(situation, setting, { kind: 'request', request }));
      if (request !== 'resendNotification') moves.push({ kind: 'request', request });
      else if (situation.book.notifications > 0) moves.push({ kind: 'request', request, number: 1 });
    }
  }
  if (left.decisions > 0 && todo.kind !== 'end') {
    moves.push(...decisionMoves(situation, setting), ...approvalMoves(situation, setting));
  }
  // It begins when the workflow task is recorded that has asked for it.
  if (delivering !== undefined && (recorded === undefined || recorded.delivering !== undefined)) {
    moves.push({ kind: 'delivered', outcome: 'delivered' });
    if (may('merchantAway')) moves.push(costly({ kind: 'delivered', outcome: 'failed' }));
  }
  if (left.handOvers > 0 && todo.kind === 'wait' && delivering === undefined) moves.push({ kind: 'handOver' });
  if (may('workerLost') && recorded !== undefined) {
    if (!recorded.isFresh) moves.push(costly({ kind: 'workerLost' }));
    if ('request' in recorded.event) moves.push(costly({ kind: 'workerLost', forgets: true }));
  }
  moves.push(...resetMoves(situation, setting));
  return moves;
}

function resetMoves({ todo, left, payment, provider, recorded, mark }: Situation, { isMarked }: Setting): Move[] {
  if (left.resets === 0 || provider.wasReset) return [];
  if (isMarked && mark === undefined) return recorded === undefined && todo.kind === 'wait' ? [{ kind: 'mark' }] : [];
  if (payment.phase.kind === 'sending') return [];
  if (mark === undefined) return todo.kind === 'end' ? [] : [{ kind: 'reset', to: 'start' }];
  if (mark.event === undefined) return [];
  return [
    { kind: 'reset', to: 'mark' },
    { kind: 'reset', to: 'next' },
  ];
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
    const turn = turnOf(one, setting);
    if (turn !== undefined && may('turn'))
      moves.push(costly({ kind: 'notification', transId, status: turn, truth: turn }));
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
  const isAsked = situation.payment.phase.kind === 'held' && mayOf(situation, setting)('unchecked');
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
