import { WorkflowUpdateFailedError } from '@temporalio/client';
import { PaymentNotFound, PaymentTooLarge, Stopped, TooManyUpdates } from '../engine/errors.js';
import { keepUnmatched, readUnmatched } from '../engine/provider-notifications.js';
import { recheckPayment } from '../engine/reopen-payment.js';
import type { UpdateContext } from '../engine/update-payment.js';
import type { PaymentId } from '../payments/words/payment-id.js';
import type { Finding } from '../reconciliation/reconciliation.js';
import type { Difference } from '../reconciliation/statement.js';

/**
 * Payments that one statement checks at most, and transactions that it shows on the desk: a person has to look at each.
 */
const MAX_CHECKED = 200;
const MAX_SHOWN = 50;

type Handled = Omit<Difference, keyof Finding>;

/**
 * Acts on a day's findings. A payment that differs compares itself with the provider's records, as it does when an
 * operator asks for it: if its outcome is contradicted, it goes to REVIEW. A transaction that belongs to no payment is
 * shown to operators.
 *
 * It may be done again: a payment that is checked twice is the same, and a transaction is shown once.
 */
export async function followUpFindings(
  context: UpdateContext,
  day: string,
  findings: readonly Finding[],
  onProgress: () => void,
): Promise<Difference[]> {
  const checked = new Map<PaymentId, Handled>();
  const shown = await showUnknown(context, day, findings);
  const differences: Difference[] = [];
  for (const finding of findings) {
    const { kind, paymentId, status } = finding;
    if (kind === 'only_at_provider') {
      differences.push({ ...finding, handling: shown.has(finding) ? 'unmatched' : 'noted' });
    } else if (status === 'REVIEW' || paymentId === undefined) {
      differences.push({ ...finding, handling: 'under_review' });
    } else {
      const handled = checked.get(paymentId) ?? (await check(context, paymentId, checked.size));
      checked.set(paymentId, handled);
      differences.push({ ...finding, ...handled });
    }
    onProgress();
  }
  return differences;
}

/** A finding on a day that isn't over: it is shown, and nothing is done, because payments are still under way. */
export function noted(finding: Finding): Difference {
  return { ...finding, handling: finding.status === 'REVIEW' ? 'under_review' : 'noted' };
}

async function check(context: UpdateContext, id: PaymentId, before: number): Promise<Handled> {
  if (before >= MAX_CHECKED) {
    return { handling: 'not_checked', problem: `more than ${MAX_CHECKED} payments of the day differ` };
  }
  try {
    const answer = await recheckPayment(context, id, { role: 'statement' });
    return { handling: 'checked', statusAfter: answer?.value.payment.status };
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    return { handling: 'not_checked', problem };
  }
}

/** Errors that stay as they are when the payment is checked again. */
const LASTING = [Stopped, PaymentNotFound, PaymentTooLarge, TooManyUpdates];

/** Explains why a payment can't be checked; `undefined` for a cause that may be over at the next try. */
function problemOf(error: unknown): string | undefined {
  if (error instanceof WorkflowUpdateFailedError) return error.cause?.message ?? error.message;
  return LASTING.some((Lasting) => error instanceof Lasting) ? (error as Error).message : undefined;
}

/** Puts transactions that no payment knows among the unmatched notifications, first those that have moved money. */
async function showUnknown(
  context: UpdateContext,
  day: string,
  findings: readonly Finding[],
): Promise<ReadonlySet<Finding>> {
  const unknown = findings.filter(({ kind }) => kind === 'only_at_provider');
  if (unknown.length === 0) return new Set();
  const kept = await readUnmatched(context);
  const known = new Set(kept.map(({ transId, status }) => `${transId} ${status}`));
  const shown = unknown.toSorted((one, other) => rank(one) - rank(other)).slice(0, MAX_SHOWN);
  for (const { transId, providerStatus: status, externalId } of shown) {
    if (transId === undefined || status === undefined || known.has(`${transId} ${status}`)) continue;
    const at = new Date().toISOString();
    await keepUnmatched(context, { transId, status, externalId, at, statement: day });
  }
  return new Set(shown);
}

function rank({ providerStatus }: Finding): number {
  if (providerStatus === 'SUCCESSFUL') return 0;
  return providerStatus === 'PENDING' ? 1 : 2;
}
