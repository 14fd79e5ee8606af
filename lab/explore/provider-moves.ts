import type { TransId } from '../../src/payments/words/payment-id.js';
import { transIdOf } from '../../src/payments/words/payment-state.js';
import type { ProviderStatus } from '../../src/payments/words/transaction.js';
import { sendUntil } from './invariants.js';
import type { ExpiryMove, ListMove, Move, NoAnswer, PostMove, StatusMove } from './move.js';
import { askedLately, isRepeated } from './provider.js';
import { FOREIGN, type Foreign, type Setting, type Trouble } from './setting.js';
import { type OwnTransaction, type Situation, transactionOf } from './situation.js';

type May = (trouble: Trouble) => boolean;

/** Counts a move as one of the story's troubles. */
export function costly(move: Move, troubles = 1): Move {
  return { ...move, troubles };
}

export function mayOf(situation: Situation, { troubles }: Setting): May {
  return (trouble) =>
    situation.left.troubles > 0 &&
    troubles.has(trouble) &&
    (trouble !== 'workerLost' || askedLately(situation).length < LOST_QUESTIONS);
}

/** Number of status questions lost with their workers within a minute (A7). */
const LOST_QUESTIONS = 3;

export function postMoves(situation: Situation, setting: Setting): Move[] {
  const may = mayOf(situation, setting);
  const { provider, left, payment } = situation;
  const plain = { kind: 'post', taken: 0, isLate: false, isWrong: false } as const;
  const isShown =
    setting.kind !== 'link' && provider.transactions.some(({ listedFrom }) => listedFrom <= situation.now);
  if (isShown && setting.wasSentBefore && payment.sends.count === 0) return [{ ...plain, outcome: 'shown' }];
  if (provider.silent === 'all') return [{ ...plain, outcome: 'ambiguous' }];
  if (isRepeated(situation, setting)) return [{ ...plain, outcome: 'rejected' }];
  const moves: (PostMove & Move)[] = [{ ...plain, outcome: 'accepted', taken: 1 }];
  const add = (trouble: Trouble, ...added: readonly PostMove[]) => {
    if (may(trouble)) moves.push(...added.map((move) => ({ ...move, troubles: 1 })));
  };
  add('wrongAmount', { ...plain, outcome: 'accepted', taken: 1, isWrong: true });
  add('rejected', { ...plain, outcome: 'rejected' });
  add('unauthorized', { ...plain, outcome: 'unauthorized' });
  add('notSent', { ...plain, outcome: 'notSent' });
  if (setting.kind !== 'link') add('unread', { ...plain, outcome: 'unread' });
  // The list is read before, and has shown nothing.
  if (setting.kind === 'payout' && !isShown) add('withheld', { ...plain, outcome: 'withheld' });
  add(
    'ambiguous',
    { ...plain, outcome: 'ambiguous' },
    { ...plain, outcome: 'ambiguous', taken: 1 },
    { ...plain, outcome: 'ambiguous', taken: 1, isLate: true },
  );
  if (left.troubles > 1 && may('wrongAmount') && may('ambiguous')) {
    moves.push({ ...plain, outcome: 'ambiguous', taken: 1, isWrong: true, troubles: 2 });
  }
  add(
    'takenTwice',
    { ...plain, outcome: 'ambiguous', taken: 2 },
    { ...plain, outcome: 'ambiguous', taken: 2, isLate: true },
    { ...plain, outcome: 'ambiguous', taken: 2, isLate: 'first' },
  );
  if (setting.terms.listedAfterMs !== undefined) {
    add(
      'takenTwice',
      { ...plain, outcome: 'ambiguous', taken: 2, isApart: true },
      { ...plain, outcome: 'ambiguous', taken: 2, isLate: true, isApart: true },
    );
  }
  add(
    'throttledPost',
    { ...plain, outcome: 'throttled' },
    { ...plain, outcome: 'throttled', taken: 1 },
    { ...plain, outcome: 'throttled', taken: 1, isLate: true },
  );
  if (setting.rejectsRepeated) add('throttledPost', { ...plain, outcome: 'throttled', taken: 1, isLate: 'unseen' });
  // The list may also be behind, and show it too late.
  if (isShown) moves.push({ ...plain, outcome: 'shown' });
  add(
    'workerLost',
    { ...plain, outcome: 'notSent' },
    { ...plain, outcome: 'doubted' },
    { ...plain, outcome: 'doubted', taken: 1 },
    { ...plain, outcome: 'doubted', taken: 1, isLate: true },
  );
  return moves;
}

/** Lists the statuses that a transaction may have come to by now, the present one first. */
export function reachable(transaction: OwnTransaction, { kind }: Setting, now: number): ProviderStatus[] {
  const { status, isGiven, madeAt } = transaction;
  if (kind === 'link') {
    if (status === 'SUCCESSFUL' || status === 'EXPIRED') return [status];
    const isOut = now >= madeAt + PROVIDER_LIFETIME_MS;
    const paid: ProviderStatus[] = !isGiven
      ? []
      : status === 'CREATED'
        ? ['PENDING', 'FAILED', 'SUCCESSFUL']
        : status === 'PENDING'
          ? ['FAILED', 'SUCCESSFUL']
          : ['SUCCESSFUL'];
    return isOut ? ['EXPIRED', ...paid.filter((one) => one === 'SUCCESSFUL')] : [status, ...paid];
  }
  switch (status) {
    case 'CREATED':
      return ['CREATED', 'PENDING', 'SUCCESSFUL', 'FAILED'];
    case 'PENDING':
      return ['PENDING', 'SUCCESSFUL', 'FAILED'];
    default:
      return [status];
  }
}

/** Reports whether the payer of a link whose attempt failed may be paying again. */
function mayTryAgain({ status, isGiven, madeAt }: OwnTransaction, { kind }: Setting, now: number): boolean {
  return kind === 'link' && status === 'FAILED' && isGiven && now < madeAt + PROVIDER_LIFETIME_MS;
}

const PROVIDER_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Lists the statuses that a final one turns to, when the provider's was none after all. */
export function turnsOf(
  { status, hasTurned, isGiven }: OwnTransaction,
  { kind }: Setting,
  may: May,
): readonly ProviderStatus[] {
  if (hasTurned) return [];
  const over = kind === 'link' ? 'EXPIRED' : 'FAILED';
  if (status === 'SUCCESSFUL') return may('takenBack') ? [over] : [];
  if (status !== over || !may('turn')) return [];
  if (kind !== 'link') return ['SUCCESSFUL', 'PENDING'];
  return isGiven ? ['SUCCESSFUL'] : [];
}

export function answerMoves(situation: Situation, setting: Setting): Move[] {
  const { todo } = situation;
  switch (todo.kind) {
    case 'askStatus':
      return statusMoves(situation, setting, todo.transId);
    case 'lookUp':
      return listMoves(situation, setting);
    case 'expire':
      return expiryMoves(situation, setting, todo.transId);
    case 'wait': {
      const to = nextTime(situation);
      const over = sendUntil(situation);
      const { kind } = situation.payment.phase;
      const isToBeSent = kind === 'held' || kind === 'waiting';
      const mayComeLate = isToBeSent && over > situation.now && mayOf(situation, setting)('workersAway');
      return [
        ...(to === undefined ? [] : [{ kind: 'time', to } as const]),
        ...(mayComeLate ? [costly({ kind: 'time', to: over })] : []),
      ];
    }
    default:
      return [];
  }
}

/** Returns the next deadline, of the machine or of its world. */
function nextTime({ now, todo, payment, provider, book }: Situation): number | undefined {
  const times = provider.transactions.map(({ listedFrom }) => listedFrom);
  if (todo.kind === 'wait' && todo.until !== undefined) times.push(Math.max(todo.until, now + 1));
  if (book.status === 'REVIEW') {
    times.push((payment.sends.lastAt ?? payment.createdAt) + payment.terms.resolveAfterMs, book.quietUntil);
  }
  const later = times.filter((at) => at > now);
  return later.length === 0 ? undefined : Math.min(...later);
}

function noAnswers(may: May, silences: readonly ('status' | 'all')[]): NoAnswer[] {
  const answers: NoAnswer[] = [];
  if (may('noAnswer')) answers.push({ kind: 'unavailable' });
  if (may('silence')) answers.push(...silences.map((silence) => ({ kind: 'unavailable', silence }) as const));
  if (may('throttled')) answers.push({ kind: 'throttled' });
  if (may('unauthorizedQuestion')) answers.push({ kind: 'unauthorized' });
  if (may('workerLost')) answers.push({ kind: 'lost' });
  return answers;
}

function foreignOf(transId: TransId): Foreign | undefined {
  return (Object.keys(FOREIGN) as Foreign[]).find((kind) => FOREIGN[kind] === transId[0]);
}

function statusMoves(situation: Situation, setting: Setting, transId: TransId): Move[] {
  const { provider, now } = situation;
  const may = mayOf(situation, setting);
  const move = (answer: StatusMove['answer'], truth?: ProviderStatus): StatusMove => ({
    kind: 'status',
    truth,
    answer,
  });
  const foreign = foreignOf(transId);
  if (provider.silent !== 'no' || foreign === 'silent') return [move({ kind: 'unavailable' })];
  const others = noAnswers(may, ['status', 'all']).map((answer) => costly(move(answer)));
  if (may('workerLost')) others.push(costly(move({ kind: 'heldBack' })));
  // Several runs at once have asked, each in vain.
  if (may('workerLost') && askedLately(situation).length === 0) {
    others.push(costly(move({ kind: 'lost', times: LOST_QUESTIONS })));
  }
  if (foreign !== undefined && foreign !== 'unknown') return [move({ kind: 'foreign', whose: foreign }), ...others];
  const own = transactionOf(provider, transId);
  if (own === undefined) return [move({ kind: 'unknown' }), ...others];
  const moves: Move[] = reachable(own, setting, now).map((status) =>
    move({ kind: 'found', status, isBare: false }, status === own.status ? undefined : status),
  );
  if (may('triesAgain') && mayTryAgain(own, setting, now))
    moves.push(costly(move({ kind: 'found', status: 'PENDING', isBare: false }, 'PENDING')));
  if (may('fieldsLeftOut')) {
    for (const status of reachable(own, setting, now)) {
      moves.push(costly(move({ kind: 'found', status, isBare: true }, status === own.status ? undefined : status)));
    }
  }
  if (may('unknownStatus') && now < own.madeAt + KNOWN_AFTER_MS) moves.push(costly(move({ kind: 'unknown' })));
  if (may('olderStatus') && own.before !== undefined && own.before !== own.status) {
    moves.push(costly(move({ kind: 'found', status: own.before, isBare: false })));
  }
  for (const turn of turnsOf(own, setting, may)) {
    moves.push(costly(move({ kind: 'found', status: turn, isBare: false }, turn)));
  }
  return [...moves, ...others];
}

/** The provider may deny knowing a transaction for this long after it was made, in ms: a day (A6). */
const KNOWN_AFTER_MS = 24 * 60 * 60 * 1000;

function listMoves(situation: Situation, setting: Setting): Move[] {
  const { provider, payment, now } = situation;
  const may = mayOf(situation, setting);
  const move = (answer: ListMove['answer'], truth?: ListMove['truth']): ListMove => ({
    kind: 'list',
    truth,
    answer,
  });
  if (provider.silent === 'all') return [move({ kind: 'unavailable' })];
  const all = { kind: 'listed', without: [], isBare: false } as const;
  const visible = provider.transactions.filter(({ listedFrom }) => listedFrom <= now);
  const isRefused = setting.refusesUnknown === true && visible.length === 0;
  const moves: Move[] = [move(isRefused ? { kind: 'refused' } : all)];
  const named = transIdOf(payment);
  for (const one of visible) {
    const { transId } = one;
    for (const status of reachable(one, setting, now)) {
      if (status !== one.status) moves.push(move(all, { transId, status }));
    }
    for (const turn of turnsOf(one, setting, may)) moves.push(costly(move(all, { transId, status: turn })));
    if (may('triesAgain') && mayTryAgain(one, setting, now))
      moves.push(costly(move(all, { transId, status: 'PENDING' })));
    if (may('flappingList') && (one.isListed || (one.isGiven && !one.isEarlier) || transId === named))
      moves.push(costly(move({ ...all, without: [transId] })));
    if (may('olderStatus') && one.before !== undefined && one.before !== one.status)
      moves.push(costly(move({ ...all, older: transId })));
  }
  if (may('fieldsLeftOut') && visible.length > 0) moves.push(costly(move({ ...all, isBare: true })));
  const listed = visible.filter(({ isListed }) => isListed).map(({ transId }) => transId);
  if (may('flappingList') && listed.length > 1) moves.push(costly(move({ ...all, without: listed })));
  if (may('disputedList')) moves.push(costly(move({ ...all, isDisputed: true })));
  if (may('refusedList')) moves.push(costly(move({ kind: 'refused' })));
  return [...moves, ...noAnswers(may, ['all']).map((answer) => costly(move(answer)))];
}

function expiryMoves(situation: Situation, setting: Setting, transId: TransId): Move[] {
  const { provider, now } = situation;
  const may = mayOf(situation, setting);
  const move = (answer: ExpiryMove['answer'], truth?: ProviderStatus): ExpiryMove => ({
    kind: 'expire',
    truth,
    answer,
  });
  const own = transactionOf(provider, transId);
  const silent = provider.silent === 'all';
  if (own === undefined) return [move(silent ? { kind: 'unavailable' } : { kind: 'refused' })];
  const moves: Move[] = [];
  const statuses = reachable(own, setting, now);
  if (silent) return [move({ kind: 'unavailable' })];
  if (statuses.includes('SUCCESSFUL')) moves.push(move({ kind: 'refused' }, 'SUCCESSFUL'));
  if (statuses[0] === 'EXPIRED') moves.push(move({ kind: 'alreadyExpired' }, 'EXPIRED'));
  else if (own.status !== 'SUCCESSFUL') {
    moves.push(move({ kind: 'expired' }, 'EXPIRED'));
    if (may('expiryLost'))
      moves.push(costly(move({ kind: 'unavailable' }, 'EXPIRED')), costly(move({ kind: 'refused' })));
    if (may('workerLost')) moves.push(costly(move({ kind: 'lost' }, 'EXPIRED')));
  }
  return [...moves, ...noAnswers(may, ['all']).map((answer) => costly(move(answer)))];
}
