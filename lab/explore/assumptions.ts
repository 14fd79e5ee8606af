/**
 * What the exploration takes for granted of the world. Where one of these is false, the rules that lean on it may be
 * broken, however well the machine keeps them.
 */
export const ASSUMPTIONS = {
  A1: 'The list shows a transaction before a person may decide without insisting, and under the policy `resend` before the grace period is over (RESOLVE_AFTER, or AMBIGUOUS_GRACE, is longer than the lag of the list).',
  A2: 'A transaction that the list has not shown yet is not left out of it any more once its lag is over; one that it has shown may be missing from a later answer (after a reset, or with a new worker, one that it has shown since).',
  A3: 'A request makes two transactions only when its answer was lost (a gateway tried it twice), and the list shows the two at the same time. Where a notification was quicker than the list, or a refused decision read it, the second is found right after the end.',
  A4: "A 429 in the provider's own form was not taken, or the list shows its transaction without any lag.",
  A5: 'A link whose address nobody was given is not paid.',
  A6: 'The status and the list say what is or was true of a transaction: late, incomplete or not at all, but nothing made up. The one exception played is a final status that turns into SUCCESSFUL later.',
  A7: 'Within one minute no more than three status questions about a transaction are lost with their workers.',
  A8: 'The workflow of a payment link is not reset by hand once its address was given out: making a link is not guarded as moving money is.',
  A9: 'An operator who insists on matching a transaction of which the provider does not say whose it is knows that it is this payment’s.',
  A10: 'A workflow is reset by hand a minute after the last thing that it did, or later, and the list lags by less than that: the new run knows nothing of the old one’s questions, nor of what an operator insisted on.',
} as const;

/** The assumptions in a list, a line each, for docs/safety.md. */
export function describeAssumptions(): string {
  return Object.entries(ASSUMPTIONS)
    .map(([name, sentence]) => `- **${name}.** ${sentence}`)
    .join('\n');
}
