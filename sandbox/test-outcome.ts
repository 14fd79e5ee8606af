/**
 * What a payment is going to come to in the sandbox: decided by the payer's or recipient's number, or by the
 * e-mail address of a platform account.
 */
export type TestOutcome =
  | { readonly kind: 'settles'; readonly status: 'SUCCESSFUL' | 'FAILED'; readonly after: 'atOnce' | number }
  | { readonly kind: 'stays' };

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

type Rule = { readonly digit: string; readonly pattern: string; readonly comesTo: string } & (
  | { readonly status: 'SUCCESSFUL' | 'FAILED'; readonly unitMs?: number }
  | { readonly status: 'PENDING' }
);

/**
 * The test numbers. The last three digits decide: the first of them chooses the rule, the other two count (so that
 * 677 000 205 succeeds after five seconds). "At once" is at once on the checkout page, and after the settle delay
 * (1 s unless set) for direct payments and payouts.
 */
export const TEST_NUMBERS: readonly Rule[] = [
  { digit: '0', pattern: '0xx', comesTo: 'succeeds at once', status: 'SUCCESSFUL' },
  { digit: '1', pattern: '1xx', comesTo: 'fails at once', status: 'FAILED' },
  { digit: '2', pattern: '2SS', comesTo: 'succeeds after SS seconds', status: 'SUCCESSFUL', unitMs: SECOND },
  { digit: '3', pattern: '3SS', comesTo: 'fails after SS seconds', status: 'FAILED', unitMs: SECOND },
  { digit: '4', pattern: '4MM', comesTo: 'succeeds after MM minutes', status: 'SUCCESSFUL', unitMs: MINUTE },
  { digit: '5', pattern: '5MM', comesTo: 'fails after MM minutes', status: 'FAILED', unitMs: MINUTE },
  { digit: '6', pattern: '6HH', comesTo: 'succeeds after HH hours', status: 'SUCCESSFUL', unitMs: HOUR },
  { digit: '7', pattern: '7HH', comesTo: 'fails after HH hours', status: 'FAILED', unitMs: HOUR },
  { digit: '8', pattern: '8xx', comesTo: 'stays PENDING until it is settled by hand', status: 'PENDING' },
  { digit: '9', pattern: '9xx', comesTo: 'succeeds at once', status: 'SUCCESSFUL' },
];

/** What the number `digits` comes to, by {@link TEST_NUMBERS}. Times are in ms of the sandbox's clock. */
export function outcomeOfNumber(digits: string): TestOutcome {
  const rule = TEST_NUMBERS.find(({ digit }) => digits.at(-3) === digit);
  if (rule === undefined || rule.status === 'PENDING') return { kind: 'stays' };
  const after = rule.unitMs === undefined ? 'atOnce' : Number(digits.slice(-2)) * rule.unitMs;
  return { kind: 'settles', status: rule.status, after };
}

/** The platform accounts with a fixed outcome: two that always receive, two that never do. */
export const TEST_ADDRESSES: Readonly<Record<string, 'SUCCESSFUL' | 'FAILED'>> = {
  'always.paid@example.com': 'SUCCESSFUL',
  'also.paid@example.com': 'SUCCESSFUL',
  'never.paid@example.com': 'FAILED',
  'also.never.paid@example.com': 'FAILED',
};

/**
 * What a payout to the platform account `email` comes to: as {@link TEST_ADDRESSES} says, or by chance. `chance` is
 * in [0, 1); below one half succeeds.
 */
export function outcomeOfAddress(email: string, chance: number): TestOutcome {
  const status = TEST_ADDRESSES[email.toLowerCase()] ?? (chance < 0.5 ? 'SUCCESSFUL' : 'FAILED');
  return { kind: 'settles', status, after: 'atOnce' };
}
