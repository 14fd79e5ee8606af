import { type Command, InvalidArgumentError } from 'commander';
import type { Payment, Sanaga } from '../../client/index.js';
import { ask } from '../ask.js';
import { amountOf, describePayment, note, print, printJson, table, timeOf, underWayCode, xaf } from '../output.js';
import { readListed } from '../read-listed.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';
import { readAmount } from './create.js';

interface ApproveOptions extends TargetOptions {
  readonly amount?: number;
}

interface RejectOptions extends TargetOptions {
  readonly why: string;
}

/** The commands for payouts that wait for another person's approval: `approvals`, `approve` and `reject`. */
export function addApprovalCommands(program: Command): void {
  withTarget(
    program
      .command('approvals')
      .summary('list payouts that wait for an approval')
      .description(
        'Lists the payouts that wait for the approval of another person than the one who ordered them: those that end first are first.',
      ),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga approvals
  sanaga approvals --json | jq -s 'map(.amount) | add'

Exit code: 0 when the list is empty; 1 when there are payouts in it; 3 when it
isn't known.`,
    )
    .action((options: TargetOptions) => untilDone((stop) => list(options, stop), options));
  addApprove(program);
  addReject(program);
}

function addApprove(program: Command): void {
  withTarget(
    program
      .command('approve')
      .summary('approve a payout that waits for it')
      .description(
        'Approves a payout that another person has ordered, after showing it. You are asked to repeat its amount. The key needs the scope approve. It is sent at once, or on its date.',
      )
      .argument('<id>', 'pay_…')
      .option('--amount <amount>', "the payout's amount in XAF, and don't ask", readAmount),
  )
    .addHelpText(
      'after',
      `
Examples:
  sanaga approve pay_5e0f…
  sanaga approve pay_5e0f… --amount 90,000

Exit code: 0 when it was approved; 1 when it was refused, or the amount is another
one; 2 when there is no terminal to ask in; 3 when it isn't known.`,
    )
    .action((id: string, options: ApproveOptions) => untilDone((stop) => approve(id, options, stop), options));
}

function addReject(program: Command): void {
  withTarget(
    program
      .command('reject')
      .summary('reject a payout that is held, so that it is not sent')
      .description('Ends a payout that waits for an approval or its date: it is FAILED, and was not sent.')
      .argument('<id>', 'pay_…')
      .requiredOption('--why <text>', 'your reason, which is kept with the payment and shown to its merchant'),
  )
    .addHelpText(
      'after',
      `
Example:
  sanaga reject pay_5e0f… --why "this invoice was paid in October"

Exit code: 0 when it has ended unsent; 1 when it was refused: it was released, or
has ended before; 3 when it isn't known.`,
    )
    .action((id: string, options: RejectOptions) => untilDone((stop) => reject(id, options, stop), options));
}

type Held = Payment & { readonly held: NonNullable<Payment['held']> };

function waits(payment: Payment): payment is Held {
  return payment.held?.for.includes('approval') === true;
}

async function list(options: TargetOptions, stop: AbortSignal): Promise<number> {
  const sanaga = await clientFor(options);
  const { waiting, unread } = await readWaiting(sanaga, stop);
  if (options.json) waiting.forEach(printJson);
  else if (waiting.length > 0) {
    print(approvalTable(waiting));
    note(NEXT);
  } else if (unread.length === 0) note('No payout waits for an approval.');
  for (const id of unread) note(`${id} may wait, too, but can't be read at the moment: read it later.`);
  if (unread.length > 0) return EXIT.unknown;
  return waiting.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Reads each of the list, which has neither the recipient nor who ordered it. */
async function readWaiting(sanaga: Sanaga, stop: AbortSignal) {
  const unread: string[] = [];
  const ids: string[] = [];
  const all = sanaga.payments.list(
    { held: 'approval', limit: 100 },
    { signal: stop, onUnreadable: (id) => unread.push(id) },
  );
  for await (const { id } of all) ids.push(id);
  const waiting: Held[] = [];
  for (const { id, payment } of await readListed(sanaga, ids, stop)) {
    if (payment === undefined) unread.push(id);
    else if (waits(payment)) waiting.push(payment);
  }
  return { waiting: waiting.sort((one, other) => one.held.until.localeCompare(other.held.until)), unread };
}

/** Advice after a list. */
const NEXT = `
  sanaga approve <payment>               asks for the amount, and sends it at once or on its date
  sanaga reject <payment> --why <reason>  it is FAILED, and was not sent`;

function approvalTable(payouts: readonly Held[]): string {
  // An operator's list has everybody's.
  const isOperators = payouts.some(({ merchant }) => merchant !== undefined);
  const head = ['Until (Douala)', 'Payment', 'Amount', 'Recipient', 'Ordered by', 'To be sent (Douala)'];
  const rows = payouts.map(({ held, id, orderedBy, merchant, ...payout }) => [
    timeOf(held.until),
    id,
    amountOf(payout),
    [held.name, payout.phone, held.email].filter((one) => one !== undefined).join(', '),
    orderedBy ?? '',
    held.sendAt === undefined ? 'at once' : timeOf(held.sendAt),
    ...(isOperators ? [merchant ?? ''] : []),
  ]);
  return table(isOperators ? [...head, 'Merchant'] : head, rows, ['Amount']);
}

/** Approves what was shown: its digest goes along. */
async function approve(given: string, options: ApproveOptions, stop: AbortSignal): Promise<number> {
  const id = payoutId(given);
  const sanaga = await clientFor(options);
  const payment = await sanaga.payments.retrieve(id, {}, { signal: stop });
  if (!options.json) note(describePayment(payment));
  if (!waits(payment)) {
    note(`${id} doesn't wait for an approval: nothing was approved.`);
    return EXIT.failed;
  }
  const amount = options.amount ?? (await askAmount(payment, stop));
  if (amount !== payment.amount) {
    const typed = amount === undefined ? 'that is no amount' : `the amount is not ${xaf(amount)}`;
    note(`Nothing was approved: ${typed}, and the payout is of ${xaf(payment.amount)}.`);
    return EXIT.failed;
  }
  const after = await sanaga.payouts.approve(id, { digest: payment.held.digest }, { signal: stop });
  if (options.json) printJson(after);
  else print(describePayment(after));
  return waits(after) ? unknown(id) : underWayCode(after, options.json);
}

async function askAmount(payment: Payment, stop: AbortSignal): Promise<number | undefined> {
  const question = `Repeat the amount to approve it, in XAF:`;
  const typed = await ask(`${amountOf(payment)}. ${question}`, 'Give it with --amount', stop);
  try {
    return readAmount(typed);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return undefined;
    throw error;
  }
}

async function reject(given: string, options: RejectOptions, stop: AbortSignal): Promise<number> {
  const id = payoutId(given);
  const sanaga = await clientFor(options);
  const after = await sanaga.payouts.reject(id, { why: options.why }, { signal: stop });
  if (options.json) printJson(after);
  else print(describePayment(after));
  if (!after.final) return unknown(id);
  return after.status === 'SUCCESSFUL' ? EXIT.failed : EXIT.ok;
}

function unknown(id: string): number {
  note(`It is not known yet what became of it: sanaga get ${id}`);
  return EXIT.unknown;
}

function payoutId(given: string): string {
  const id = paymentId(given);
  if (!id.startsWith('pay_')) throw new UsageError(`${id} is a collection: only payouts are approved`);
  return id;
}
