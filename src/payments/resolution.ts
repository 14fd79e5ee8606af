import type { Decision, Resolved } from './decision.js';
import { disagreement } from './disagreement.js';
import { isFinal } from './final.js';
import { findOwn } from './find-own.js';
import type { ListAnswer, StatusAnswer } from './outcome.js';
import type { TransId } from './payment-id.js';
import { accepted, type Change, failed, observed, type PaymentState } from './payment-state.js';
import type { Transaction } from './transaction.js';

/** What the provider says while an operator decides; what wasn't asked is left out. */
export interface Evidence {
  /** Of the transaction that the decision names, or else of the payment's own. */
  readonly status?: StatusAnswer | undefined;
  /** All that the provider lists for the payment's user. */
  readonly listed?: ListAnswer | undefined;
}

/** A decision carried out, or why it can't be, in words for the operator. */
export type Verdict =
  | { readonly kind: 'done'; readonly change: Change }
  | { readonly kind: 'refused'; readonly why: string };

/** Why a decision can't even be looked into, without asking the provider; `undefined` when it can. */
export function objection(state: PaymentState, { action }: Decision): string | undefined {
  if (action === 'match') return undefined;
  const [claim] = state.claims;
  if (claim !== undefined)
    return `a notification names ${claim} for it, and the provider has yet to say what that is; try again in a minute`;
  if (action === 'fail') return undefined;
  if (state.transId !== undefined)
    return `the provider has taken it as ${state.transId}: it can't be sent again`;
  if (state.held) return `the provider has a transaction for it: match that, or fail it (${state.reason})`;
  return state.ambiguity === undefined ? "it has ended once: it can't be sent again" : undefined;
}

/**
 * Carries out an operator's decision, if what the provider says at this moment doesn't speak against it. An operator
 * can be wrong, and money that moved because of it doesn't come back.
 */
export function resolve(state: PaymentState, resolved: Resolved, evidence: Evidence): Verdict {
  // A notification may have come in while the provider was asked.
  const why = objection(state, resolved.decision);
  if (why !== undefined) return refused(why);
  const verdict = decide(state, resolved, evidence);
  if (verdict.kind === 'refused') return verdict;
  const { change } = verdict;
  return { kind: 'done', change: { ...change, state: { ...change.state, resolved } } };
}

function decide(state: PaymentState, { decision, by, at }: Resolved, evidence: Evidence): Verdict {
  switch (decision.action) {
    case 'match':
      return match(state, decision.transId, evidence, at);
    case 'fail':
      return fail(state, by, evidence, at);
    case 'resend':
      return resend(state, evidence, at);
  }
}

function match(state: PaymentState, transId: TransId, { status }: Evidence, now: number): Verdict {
  if (status?.kind === 'unknown') return refused(`the provider doesn't know ${transId}: ${status.message}`);
  if (status?.kind !== 'found') return refused(`${transId} can't be looked up at the moment; try again`);
  const wrong = disagreement(state.order, status.transaction);
  if (wrong !== undefined) return refused(wrong);
  const { state: adopted } = accepted({ ...state, held: false }, { transId, link: state.link }, now);
  const change = observed(adopted, status.transaction, now);
  return { kind: 'done', change };
}

function fail(state: PaymentState, by: string, { status, listed }: Evidence, now: number): Verdict {
  if (state.transId !== undefined) {
    if (status?.kind !== 'found' && status?.kind !== 'unknown') {
      return refused(`${state.transId} can't be looked up at the moment; try again`);
    }
    if (status.kind === 'found' && !ended(state, status.transaction.status)) {
      return refused(`the provider has it as ${state.transId}, ${status.transaction.status}`);
    }
  }
  if (listed?.kind !== 'listed') return refused("the provider's list can't be read at the moment; try again");
  const alive = listed.transactions.filter((found) => mayBeIts(state, found) && !ended(state, found.status));
  if (alive.length > 0) {
    return refused(
      `the provider shows ${alive.map((found) => `${found.transId} (${found.status})`).join(', ')} for it`,
    );
  }
  return {
    kind: 'done',
    change: failed({ ...state, final: false }, `decided by ${by}: no money has moved`, now),
  };
}

function resend(state: PaymentState, { listed }: Evidence, now: number): Verdict {
  if (listed?.kind !== 'listed') return refused("the provider's list can't be read at the moment; try again");
  const finding = findOwn(state.order, listed.transactions);
  if (finding.kind === 'found') {
    const { transId, status } = finding.transaction;
    return refused(`the provider shows ${transId} (${status}) for it: match that`);
  }
  if (finding.kind !== 'absent') return refused(finding.reason);
  if (state.ambiguity === undefined) return refused("it has ended once: it can't be sent again");
  const ambiguity = { ...state.ambiguity, approved: true };
  const { reason: _decided, ...kept } = state;
  return {
    kind: 'done',
    change: { state: { ...kept, ambiguity, status: 'CREATED', held: false, updatedAt: now } },
  };
}

/** Made for the payment, or not saying what for: then it can't be ruled out, unless it isn't what was ordered. */
function mayBeIts({ order }: PaymentState, found: Transaction): boolean {
  if (found.externalId !== undefined) return found.externalId === order.id;
  return order.userId === undefined || disagreement(order, found) === undefined;
}

/** A status in which no money has moved and none will. */
function ended(state: PaymentState, status: Parameters<typeof isFinal>[1]): boolean {
  return status !== 'SUCCESSFUL' && isFinal(state.order, status);
}

function refused(why: string): Verdict {
  return { kind: 'refused', why };
}
