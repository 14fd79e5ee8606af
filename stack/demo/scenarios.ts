import type { PaymentStatus } from '../../src/payments/words/payment.js';
import type { LedgerEntry } from './ledger.js';
import type { PaymentAnswer } from './merchant.js';

/** Actions on a payment that has been requested. */
export interface ScenarioActions {
  /** Opens a link and pays it from this phone. */
  pay(link: string, phone: string): Promise<void>;
  /** Opens a link and declines it. */
  decline(link: string): Promise<void>;
  /** Resolves when the merchant sees the payment as `is` says. */
  seen(payment: PaymentAnswer, is: (payment: PaymentAnswer) => boolean): Promise<void>;
  /** The merchant expires a link. */
  expire(payment: PaymentAnswer): Promise<void>;
  /** From now on, the provider's notifications of this payment are lost. */
  loseNotifications(payment: PaymentAnswer): Promise<void>;
}

/** One payment of the demo: what is requested, what happens then, and the status that it must end with. */
export interface Scenario {
  readonly name: string;
  readonly path: '/v1/collections' | '/v1/payouts' | '/v1/collections/:id/refunds';
  /** The name of an earlier scenario, whose payment is the one in the path: it is refunded once it has succeeded. */
  readonly refundOf?: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly expected: PaymentStatus;
  act?(payment: PaymentAnswer, actions: ScenarioActions): Promise<void>;
  /** Checks the provider's ledger further; returns the problems. */
  proof?(entry: LedgerEntry): string | undefined;
}

/** The sandbox's test numbers: the last three digits decide the outcome of a payment. */
const MOBILE_MONEY = { succeeds: '677000000', fails: '677000100' };
const ORANGE_MONEY = { succeeds: '699000000', fails: '699000100' };

const linkOf = ({ id, link }: PaymentAnswer): string => {
  if (link === undefined) throw new Error(`${id} has no link`);
  return link;
};

/** @param returnUrl where payers are sent back to */
export const scenarios = (returnUrl: string): readonly Scenario[] => [
  ...linkScenarios(returnUrl),
  ...DIRECT_SCENARIOS,
  ...PAYOUT_SCENARIOS,
  REFUND_SCENARIO,
];

const linkScenarios = (returnUrl: string): readonly Scenario[] => [
  {
    name: 'link, paid',
    path: '/v1/collections',
    body: { method: 'link', amount: 5_000, redirectUrl: returnUrl, message: 'Two tickets' },
    expected: 'SUCCESSFUL',
    act: (payment, { pay }) => pay(linkOf(payment), MOBILE_MONEY.succeeds),
  },
  {
    name: 'link, declined, then paid',
    path: '/v1/collections',
    body: { method: 'link', amount: 12_500, redirectUrl: returnUrl },
    expected: 'SUCCESSFUL',
    async act(payment, { decline, seen, pay }) {
      await decline(linkOf(payment));
      await seen(payment, ({ status, final }) => status === 'FAILED' && !final);
      await pay(linkOf(payment), ORANGE_MONEY.succeeds);
    },
    proof: ({ attempts }) => (attempts.length === 2 ? undefined : `it shows ${attempts.length} attempts instead of 2`),
  },
  {
    name: 'link, never paid: 24 h pass',
    path: '/v1/collections',
    body: { method: 'link', amount: 7_000 },
    expected: 'EXPIRED',
  },
  {
    name: 'link, expired by the merchant',
    path: '/v1/collections',
    body: { method: 'link', amount: 3_000 },
    expected: 'EXPIRED',
    act: (payment, { expire }) => expire(payment),
  },
  {
    name: 'link, paid, no webhook: polled',
    path: '/v1/collections',
    body: { method: 'link', amount: 9_900, redirectUrl: returnUrl },
    expected: 'SUCCESSFUL',
    async act(payment, { loseNotifications, pay }) {
      await loseNotifications(payment);
      await pay(linkOf(payment), MOBILE_MONEY.succeeds);
    },
    proof: ({ notifications }) =>
      notifications.every(({ acknowledged }) => !acknowledged) ? undefined : 'its webhook arrived after all',
  },
];

const DIRECT_SCENARIOS: readonly Scenario[] = [
  {
    name: 'direct payment that succeeds',
    path: '/v1/collections',
    body: { method: 'direct', amount: 2_500, phone: MOBILE_MONEY.succeeds },
    expected: 'SUCCESSFUL',
  },
  {
    name: 'direct payment that fails',
    path: '/v1/collections',
    body: { method: 'direct', amount: 2_500, phone: ORANGE_MONEY.fails },
    expected: 'FAILED',
  },
];

const PAYOUT_SCENARIOS: readonly Scenario[] = [
  {
    name: 'payout to a phone that succeeds',
    path: '/v1/payouts',
    body: { amount: 20_000, phone: MOBILE_MONEY.succeeds, medium: 'mobile money' },
    expected: 'SUCCESSFUL',
  },
  {
    name: 'payout to a phone that fails',
    path: '/v1/payouts',
    body: { amount: 20_000, phone: MOBILE_MONEY.fails, medium: 'mobile money' },
    expected: 'FAILED',
  },
  {
    name: 'payout to an account that succeeds',
    path: '/v1/payouts',
    body: { amount: 35_000, medium: 'platform', email: 'always.paid@example.com' },
    expected: 'SUCCESSFUL',
  },
  {
    name: 'payout to an account that fails',
    path: '/v1/payouts',
    body: { amount: 35_000, medium: 'platform', email: 'never.paid@example.com' },
    expected: 'FAILED',
  },
];

const REFUND_SCENARIO: Scenario = {
  name: 'refund of a part',
  path: '/v1/collections/:id/refunds',
  refundOf: 'direct payment that succeeds',
  body: { amount: 1_000, reason: 'One of two tickets was returned' },
  expected: 'SUCCESSFUL',
};
