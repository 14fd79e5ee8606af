/**
 * The outcome of a payment in the sandbox, decided by the payer's or recipient's phone number, or by the e-mail
 * address of a platform account.
 */
export type TestOutcome =
  | { readonly kind: 'settles'; readonly status: 'SUCCESSFUL' | 'FAILED'; readonly after: 'atOnce' | number }
  | { readonly kind: 'stays' };

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The last digit but two of a number, which selects its rule. */
export type TestDigit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';

type Rule = { readonly digit: TestDigit; readonly pattern: string } & (
  | { readonly status: 'SUCCESSFUL' | 'FAILED'; readonly unitMs?: number }
  | { readonly status: 'PENDING' }
);

/**
 * The test numbers. The last three digits decide: the first selects the rule, the other two are its delay, so that
 * 677 000 205 succeeds after five seconds. "At once" is immediate on the checkout page, and takes the settle delay
 * (1 s by default) for direct payments and payouts.
 */
export const TEST_NUMBERS: readonly Rule[] = [
  { digit: '0', pattern: '0xx', status: 'SUCCESSFUL' },
  { digit: '1', pattern: '1xx', status: 'FAILED' },
  { digit: '2', pattern: '2SS', status: 'SUCCESSFUL', unitMs: SECOND_MS },
  { digit: '3', pattern: '3SS', status: 'FAILED', unitMs: SECOND_MS },
  { digit: '4', pattern: '4MM', status: 'SUCCESSFUL', unitMs: MINUTE_MS },
  { digit: '5', pattern: '5MM', status: 'FAILED', unitMs: MINUTE_MS },
  { digit: '6', pattern: '6HH', status: 'SUCCESSFUL', unitMs: HOUR_MS },
  { digit: '7', pattern: '7HH', status: 'FAILED', unitMs: HOUR_MS },
  { digit: '8', pattern: '8xx', status: 'PENDING' },
  { digit: '9', pattern: '9xx', status: 'SUCCESSFUL' },
];

/** The outcome for a number, by {@link TEST_NUMBERS}. Delays are in ms of the sandbox's clock. */
export function outcomeOfNumber(digits: string): TestOutcome {
  const rule = TEST_NUMBERS.find(({ digit }) => digits.at(-3) === digit);
  if (rule === undefined || rule.status === 'PENDING') return { kind: 'stays' };
  const after = rule.unitMs === undefined ? 'atOnce' : Number(digits.slice(-2)) * rule.unitMs;
  return { kind: 'settles', status: rule.status, after };
}

/** The platform accounts with a fixed outcome: two for which payouts always succeed, two for which they always fail. */
export const TEST_ADDRESSES: Readonly<Record<string, 'SUCCESSFUL' | 'FAILED'>> = {
  'always.paid@example.com': 'SUCCESSFUL',
  'also.paid@example.com': 'SUCCESSFUL',
  'never.paid@example.com': 'FAILED',
  'also.never.paid@example.com': 'FAILED',
};

/**
 * The outcome of a payout to the platform account `email`: by {@link TEST_ADDRESSES}, else by `chance`, a number in
 * [0, 1) that succeeds below one half.
 */
export function outcomeOfAddress(email: string, chance: number): TestOutcome {
  const status = TEST_ADDRESSES[email.toLowerCase()] ?? (chance < 0.5 ? 'SUCCESSFUL' : 'FAILED');
  return { kind: 'settles', status, after: 'atOnce' };
}
