import type { Command } from 'commander';
import type { Payment } from '../../client/index.js';
import { describePayment, note, print, printJson } from '../output.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';

/** The commands that end what nobody has paid or sent yet: `expire` and `cancel`. */
export function addEndCommands(program: Command): void {
  withTarget(
    program
      .command('expire')
      .summary('end a link that nobody has paid, or withdraw a collection that was not sent')
      .description(
        'Ends a payment link now, so that it can no longer be paid, or withdraws a collection that has not been sent.',
      )
      .argument('<id>', 'col_…'),
  )
    .addHelpText('after', help('expire', 'col_2775d55233b9d4be2a8db3491967ed92'))
    .action((given: string, options: TargetOptions) =>
      untilDone(async (stop) => {
        const id = idOf(given, 'col_', 'is a payout: "sanaga cancel" withdraws it');
        const sanaga = await clientFor(options);
        return shown(await sanaga.collections.expire(id, { signal: stop }), options);
      }, options),
    );

  withTarget(
    program
      .command('cancel')
      .summary('withdraw a payout that was not sent')
      .description(
        'Withdraws a payout that has not been sent, such as one that waits for the provider to be reached.',
      )
      .argument('<id>', 'pay_…'),
  )
    .addHelpText('after', help('cancel', 'pay_5e0f7c0b0f6b4d5f9c0f2a8db3491967'))
    .action((given: string, options: TargetOptions) =>
      untilDone(async (stop) => {
        const id = idOf(given, 'pay_', 'is a collection: "sanaga expire" ends it');
        const sanaga = await clientFor(options);
        return shown(await sanaga.payouts.cancel(id, { signal: stop }), options);
      }, options),
    );
}

function help(name: string, id: string): string {
  return `
Example:
  sanaga ${name} ${id}

Exit code: 0 when it has ended without moving money; 1 when it was refused: it
was paid or sent, or has ended before; 3 when it isn't known yet.`;
}

/** @throws UsageError for an id of the other kind */
function idOf(given: string, prefix: 'col_' | 'pay_', otherwise: string): string {
  const id = paymentId(given);
  if (!id.startsWith(prefix)) throw new UsageError(`${id} ${otherwise}`);
  return id;
}

function shown(payment: Payment, { json }: TargetOptions): number {
  if (json) printJson(payment);
  else print(describePayment(payment));
  if (!payment.final) {
    if (!json) note(`It isn't known yet what became of it: sanaga get ${payment.id} --wait`);
    return EXIT.unknown;
  }
  return payment.status === 'SUCCESSFUL' ? EXIT.failed : EXIT.ok;
}
