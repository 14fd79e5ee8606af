import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  ApiError,
  ConnectionError,
  type Payment,
  type PaymentSummary,
  type Sanaga,
  UnexpectedResponseError,
} from '../../client/index.js';
import { Interrupted } from '../../stack/processes/stop-signal.js';
import { amountOf, kindOf, note, outcomeCode, paint, print, printJson, statusOf, timeOf } from '../output.js';
import { untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';

/** The command that follows payments as they change. */
export function addWatchCommand(program: Command): void {
  withTarget(
    program
      .command('watch')
      .summary('follow a payment until it is final, or all of them')
      .description(
        'Shows each change of a payment as it happens, until the payment is final. Without an id, shows the changes of all ' +
          'recent payments, until you press Ctrl-C.',
      )
      .argument('[id]', 'col_… or pay_…'),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga watch col_2775d55233b9d4be2a8db3491967ed92
  sanaga watch

Exit code: 0 when the payment has succeeded, 1 when it has failed or expired,
130 after Ctrl-C.`,
    )
    .action((id: string | undefined, options: TargetOptions) =>
      untilDone(async (stop) => {
        const sanaga = await clientFor(options);
        const watching =
          id === undefined ? watchAll(sanaga, options, stop) : watchOne(sanaga, paymentId(id), options, stop);
        return await watching.catch((error: unknown) => {
          // Ctrl-C is how it is ended.
          if (stop.reason instanceof Interrupted) return stop.reason.exitCode;
          throw error;
        });
      }, options),
    );
}

/** Intervals of reading one payment and all payments, in ms. */
const EVERY_MS = { one: 1_000, all: 2_000 } as const;

/** Number of the latest payments to watch. */
const WATCHED = 50;

async function watchOne(
  sanaga: Sanaga,
  id: string,
  { json = false }: TargetOptions,
  stop: AbortSignal,
): Promise<number> {
  const shown = changes(json, ({ status, final, reason, transId }) => [status, final, reason, transId]);
  // A wrong id or key ends it at once; what fails later may be over soon.
  let payment = await sanaga.payments.retrieve(id, {}, { signal: stop });
  for (;;) {
    shown.show(payment);
    if (payment.final) return outcomeCode(payment);
    await pause(EVERY_MS.one, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
    payment =
      (await shown.unlessAway(() => sanaga.payments.retrieve(id, {}, { signal: stop, maxRetries: 0 }))) ?? payment;
  }
}

async function watchAll(sanaga: Sanaga, { json = false }: TargetOptions, stop: AbortSignal): Promise<number> {
  // The rest of what a list has comes later, when the payment is recorded.
  const shown = changes(json, ({ status, final, transId }) => [status, final, transId]);
  const readAll = () => sanaga.payments.list({ limit: WATCHED }, { signal: stop, maxRetries: 0 });
  const first = await readAll();
  if (!json) note('Watching all payments. Ctrl-C ends it.');
  first.data.forEach(shown.remember);
  for (;;) {
    await pause(EVERY_MS.all, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
    const page = await shown.unlessAway(readAll);
    for (const payment of [...(page?.data ?? [])].reverse()) shown.show(payment);
  }
}

/** Shows each payment when it has changed, and once when Sanaga is away. */
function changes(json: boolean, partsOf: (payment: PaymentSummary) => readonly unknown[]) {
  const seen = new Map<string, string>();
  let isAway = false;
  const stateOf = (payment: PaymentSummary) => JSON.stringify(partsOf(payment));
  return {
    remember: (payment: PaymentSummary) => seen.set(payment.id, stateOf(payment)),
    show(payment: PaymentSummary): void {
      const state = stateOf(payment);
      if (seen.get(payment.id) === state) return;
      seen.set(payment.id, state);
      if (json) printJson(payment);
      else print(changeLine(payment));
    },
    async unlessAway<Result>(call: () => Promise<Result>): Promise<Result | undefined> {
      try {
        const result = await call();
        if (isAway) note('Sanaga is back.');
        isAway = false;
        return result;
      } catch (error) {
        if (!isOutage(error)) throw error;
        if (!isAway) note(`${error.message} Trying again…`);
        isAway = true;
        return undefined;
      }
    },
  };
}

/** A change, with the payment's time or, in a list that doesn't have it yet, the time at which it was seen. */
function changeLine(payment: PaymentSummary & Pick<Payment, 'link'>): string {
  const { id, reason, link, updatedAt = new Date().toISOString(), externalId, final } = payment;
  const more = reason ?? (final ? undefined : link);
  return [
    paint('dim', timeOf(updatedAt)),
    id,
    amountOf(payment),
    kindOf(payment),
    statusOf(payment),
    ...(externalId === undefined ? [] : [externalId]),
    ...(more === undefined ? [] : [paint('dim', more)]),
  ].join('  ');
}

function isOutage(error: unknown): error is Error {
  if (error instanceof ConnectionError) return true;
  const isAnswer = error instanceof ApiError || error instanceof UnexpectedResponseError;
  return isAnswer && (error.status >= 500 || error.status === 429);
}
