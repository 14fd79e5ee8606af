import type { TestDigit } from '../test-outcome.js';

/** Mistakes in the form that a payer can correct. */
export type FormError =
  | 'noAction'
  | 'unreadable'
  | 'noPhone'
  | 'badPhone'
  | 'badMedium'
  | 'unknownOperator'
  | 'badEmail';

/** The reason why the last attempt failed: the payer declined or withdrew it, or the operator declined it. */
export type Failure = 'declinedByPayer' | 'withdrawnByPayer' | 'declinedByOperator';

/** Everything that the checkout page says, in one language. Amounts and times come formatted. */
export interface Texts {
  readonly currency: string;
  readonly inDouala: (time: string) => string;
  readonly sandbox: string;
  readonly noRealMoney: string;
  readonly footer: string;

  readonly amount: string;
  readonly merchant: string;
  readonly purpose: string;
  readonly reference: string;

  readonly form: {
    readonly title: (amount: string, merchant: string) => string;
    readonly titleAfterError: (title: string) => string;
    readonly payee: (merchant: string) => string;
    readonly whatYouPay: string;
    readonly howYouPay: string;
    readonly payBy: string;
    readonly mayEndSooner: string;
    readonly phone: string;
    readonly forExample: string;
    readonly medium: string;
    readonly detectMedium: string;
    readonly email: string;
    readonly optional: string;
    readonly pay: (amount: string) => string;
    readonly decline: string;
  };
  readonly errors: Readonly<Record<FormError, string>>;
  readonly failures: Readonly<Record<Failure, { readonly text: string; readonly title: (title: string) => string }>>;
  readonly tryAgain: string;

  readonly testNumbers: string;
  readonly testNumbersHint: (example: string) => string;
  /** The effect of a test number, by the digit that selects its rule. */
  readonly testOutcomes: Readonly<Record<TestDigit, string>>;

  readonly pending: {
    readonly title: (amount: string, merchant: string) => string;
    readonly heading: string;
    /** @param number the masked number, when it is known */
    readonly asked: (number: string | undefined) => string;
    readonly updates: string;
    readonly checkNow: string;
    readonly wrongNumber: string;
    readonly useAnother: string;
  };
  readonly receipt: {
    readonly title: (amount: string, merchant: string) => string;
    readonly heading: string;
    readonly thanks: (merchant: string) => string;
    readonly headingAgain: string;
    readonly notChargedAgain: string;
    readonly paidWith: string;
    readonly paidOn: string;
    readonly operatorReference: string;
    readonly returnTo: (merchant: string) => string;
  };
  readonly expired: {
    readonly heading: string;
    readonly atItsTime: (time: string) => string;
    readonly earlier: string;
    readonly askAgain: (merchant: string) => string;
  };
  readonly notFound: { readonly heading: string; readonly text: string };
}
