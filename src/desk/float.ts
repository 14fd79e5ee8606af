import { setTimeout as pause } from 'node:timers/promises';
import { type Html, html } from '../http/html.js';
import { CURRENCY } from '../payments/words/limits.js';
import type { OperatorApi } from './api-client.js';
import { type Part, partOf, type Visit } from './visit.js';
import { amount, time } from './words.js';

/** Time that a page waits for the balance, in ms. The provider may take longer to answer. */
const ANSWER_LIMIT_MS = 3_000;

const UNKNOWN = "It isn't known what the payout account holds";

const LATE: Part<never> = { kind: 'missing', why: "The provider hasn't answered yet." };

/**
 * Warns that the payout account holds less than it should, or that it isn't known what it holds. Shows nothing while
 * it holds enough, and asks for nothing where no level is set.
 */
export async function floatBox({ api, floatWarnBelow }: Visit): Promise<Html | undefined> {
  if (floatWarnBelow === undefined) return undefined;
  const read = await payoutBalance(api);
  if (read.kind === 'missing') return box(UNKNOWN, html`${read.why}`);
  const { balance, asOf } = read.value;
  if (balance >= floatWarnBelow) return undefined;
  const level = amount(floatWarnBelow);
  return box(
    `The payout account holds ${amount(balance)}`,
    html`That is less than ${level}, as of ${time(asOf)}. Payouts beyond it fail: have it topped up.`,
  );
}

/** Asks for the balance of the payout service, in XAF; it is missing where the provider doesn't tell it soon. */
export async function payoutBalance(
  api: OperatorApi,
): Promise<Part<{ readonly balance: number; readonly asOf: string }>> {
  const read = await Promise.race([partOf(api.balance('payout')), pause(ANSWER_LIMIT_MS, LATE, { ref: false })]);
  if (read.kind === 'missing' || read.value.currency === CURRENCY) return read;
  return { kind: 'missing', why: `The provider tells it in ${read.value.currency}.` };
}

function box(title: string, text: Html): Html {
  return html`<div class="notice" role="alert"><strong>${title}</strong><p>${text}</p></div>`;
}
