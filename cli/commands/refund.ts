import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import type { PhoneMedium, RefundParams, Refunds } from '../../client/index.js';
import { note, statusOf, table, timeOf, xaf } from '../output.js';
import { UsageError, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';
import { create, readAmount, readKey, waitOption } from './create.js';

interface RefundOptions extends TargetOptions {
  readonly reason: string;
  readonly amount?: number;
  readonly phone?: string;
  readonly medium?: PhoneMedium;
  readonly idempotencyKey?: string;
  readonly wait?: number | true;
}

/** The command `refund`, which pays a collection back. */
export function addRefundCommand(program: Command): void {
  const refund = program
    .command('refund')
    .summary('pay a collection back, whole or in part')
    .description(
      'Pays a collection back to the number that paid it, or that its link names for refunds: all that is left of it, or ' +
        '--amount. Before, it shows what was collected and refunded. The same command, run again, is the same refund: it ' +
        'never pays twice. The key needs the scope refunds.',
    )
    .argument('<id>', 'col_…')
    .requiredOption('--reason <text>', 'why, which is kept with the refund')
    .option('--amount <amount>', 'in XAF, such as 5000 or 5,000; by default, all that is left', readAmount)
    .option('--phone <number>', "another number than the payer's: the refund waits for an approval")
    .option('--medium <medium>', '"mobile money" or "orange money"')
    .option('--idempotency-key <key>', 'for a second refund of the same amount and reason', readKey)
    .addOption(waitOption());
  withTarget(refund)
    .addHelpText(
      'after',
      `
Examples:
  sanaga refund col_2775d55233b9d4be2a8db3491967ed92 --reason "out of stock"
  sanaga refund col_2775d… --amount 2,500 --reason "one of two was broken" --wait

Exit code: 0 when the refund was created or, with --wait, has succeeded; 1 when
it failed, now or under an earlier command with its key, or was refused; 2 when
the command line is wrong; 3 when it isn't known, under review or, with --wait,
not final yet, as while it waits for an approval.`,
    )
    .action((id: string, options: RefundOptions) => untilDone((stop) => refundOf(id, options, stop), options));
}

async function refundOf(given: string, options: RefundOptions, stop: AbortSignal): Promise<number> {
  const id = paymentId(given);
  if (!id.startsWith('col_')) throw new UsageError(`${id} is a payout: only a collection can be refunded`);
  const { json, idempotencyKey } = options;
  const params = toRefund(options);
  if (!json) {
    const sanaga = await clientFor(options);
    note(describeRefunds(await sanaga.collections.refunds(id, { signal: stop })));
    if (params.phone !== undefined) note("To another number than the payer's, a refund waits for an approval.");
  }
  const key = idempotencyKey ?? keyOf(id, params);
  return await create({ ...options, idempotencyKey: key }, stop, async (sanaga, request) => {
    const created = await sanaga.collections.refund(id, params, request);
    if (!json && created.replayed && idempotencyKey === undefined) note(ANOTHER);
    if (!json && created.held !== undefined) note(HELD);
    return created;
  });
}

const ANOTHER = 'This command has made the refund before. For a second one, give an --idempotency-key.';

const HELD = 'Nothing was sent yet: the refund waits for an approval. "sanaga approvals" lists it.';

function toRefund({ amount, phone, medium, reason }: RefundOptions): RefundParams {
  return {
    reason,
    ...(amount !== undefined && { amount }),
    ...(phone !== undefined && { phone }),
    ...(medium !== undefined && { medium }),
  };
}

/** Makes the key of a refund from all that it says, so that the same command can't refund twice. */
function keyOf(id: string, { amount, phone = '', medium, reason }: RefundParams): string {
  const digits = phone.replace(/\D/g, '').replace(/^(00)?237/, '');
  const said = JSON.stringify([id, amount ?? null, digits, medium ?? null, reason.trim()]);
  return `refund-${createHash('sha256').update(said).digest('hex').slice(0, 32)}`;
}

/** The refunds of a collection, and their sums. */
function describeRefunds({ collection, collected, refunded, refunding, refundable, data }: Refunds): string {
  const known = collected === undefined ? 'not known' : xaf(collected);
  const sums = `${collection}: collected ${known}, refunded ${xaf(refunded)}, being refunded ${xaf(refunding)}, refundable ${xaf(refundable)}`;
  if (data.length === 0) return sums;
  const rows = data.map((refund) => [
    timeOf(refund.createdAt),
    refund.id,
    xaf(refund.amount),
    statusOf(refund),
    refund.refundReason ?? '',
  ]);
  return `${sums}\n${table(['Created (Douala)', 'Refund', 'Amount', 'Status', 'Reason'], rows, ['Amount'])}`;
}
