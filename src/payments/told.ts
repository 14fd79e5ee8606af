import type { TransId } from './payment-id.js';
import { type PaymentState, type Told, transIdOf } from './payment-state.js';

const MINUTE_MS = 60_000;

/**
 * Pauses before the provider is asked again about a transaction that it doesn't know or doesn't confirm, in ms: a
 * notification can be ahead of its records. After the last one, what the notification has said counts no more.
 */
export const CONFIRM_PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS] as const;

/** For how long a notification may be ahead of the provider's records, in ms. Only the first one of a transaction counts. */
const CONFIRMED_WITHIN_MS = CONFIRM_PAUSES_MS.reduce((sum, pause) => sum + pause, 0);

/** How many further transactions are remembered that notifications have called SUCCESSFUL, however many are forged. */
const MAX_TOLD = 5;

/** Remembers the first notification that calls a transaction SUCCESSFUL. */
export function withTold(payment: PaymentState, transId: TransId, now: number): PaymentState {
  const { reports } = payment;
  const { told = [] } = reports;
  if (told.some((one) => one.transId === transId)) return payment;
  const ownId = transIdOf(payment);
  const isOwn = (one: Told) => one.transId === ownId;
  const all = [...told, { transId, at: now }];
  const further = all.filter((one) => !isOwn(one)).slice(-MAX_TOLD);
  return { ...payment, reports: { ...reports, told: [...all.filter(isOwn), ...further] } };
}

/**
 * Until when the provider may still confirm that a transaction is SUCCESSFUL, as a notification has said, in ms since the epoch;
 * `undefined` when none has, or that is over.
 */
export function toldUntil({ reports }: PaymentState, transId: TransId, now: number): number | undefined {
  const told = reports.told?.find((one) => one.transId === transId);
  const until = told && told.at + CONFIRMED_WITHIN_MS;
  return until !== undefined && now < until ? until : undefined;
}

/** The payment's transactions that notifications have called SUCCESSFUL, and that the provider may still confirm. */
export function toldIn(payment: PaymentState, now: number): readonly TransId[] {
  const { reports, others } = payment;
  const { told: all = [] } = reports;
  const ownId = transIdOf(payment);
  return all
    .map(({ transId }) => transId)
    .filter((told) => told === ownId || others.some(({ transId }) => transId === told))
    .filter((told) => toldUntil(payment, told, now) !== undefined);
}
