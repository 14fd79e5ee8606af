import type { Command } from 'commander';
import type { Payment, RequestOptions, Sanaga } from '../../client/index.js';
import { describePayment, note, print, printJson } from '../output.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';

interface End {
  readonly summary: string;
  readonly description: string;
  readonly prefix: 'col_' | 'pay_';
  readonly example: string;
  /** The message for an id of the other kind. */
  readonly otherwise: string;
  end(sanaga: Sanaga, id: string, request: RequestOptions): Promise<Payment>;
}

const ENDS: Readonly<Record<'expire' | 'cancel', End>> = {
  expire: {
    summary: 'end a link that nobody has paid, or withdraw a collection that was not sent',
    description:
      'Ends a payment link now, so that it can no longer be paid, or withdraws a collection that has not been sent.',
    prefix: 'col_',
    example: 'col_2775d55233b9d4be2a8db3491967ed92',
    otherwise: 'is a payout: "sanaga cancel" withdraws it',
    end: (sanaga, id, request) => sanaga.collections.expire(id, request),
  },
  cancel: {
    summary: 'withdraw a payout that was not sent',
    description: 'Withdraws a payout that has not been sent, such as one that waits for the provider to be reached.',
    prefix: 'pay_',
    example: 'pay_5e0f7c0b0f6b4d5f9c0f2a8db3491967',
    otherwise: 'is a collection: "sanaga expire" ends it',
    end: (sanaga, id, request) => sanaga.payouts.cancel(id, request),
  },
};

/** The commands that end a payment that nobody has paid or sent yet: `expire` and `cancel`. */
export function addEndCommands(program: Command): void {
  for (const [name, { summary, description, prefix, example, otherwise, end }] of Object.entries(ENDS)) {
    withTarget(program.command(name).summary(summary).description(description).argument('<id>', `${prefix}…`))
      .addHelpText(
        'after',
        `
Example:
  sanaga ${name} ${example}

Exit code: 0 when it has ended without moving money; 1 when it was refused: it
was paid or sent, or has ended before; 3 when it isn't known yet.`,
      )
      .action((given: string, options: TargetOptions) =>
        untilDone(async (stop) => {
          const id = paymentId(given);
          if (!id.startsWith(prefix)) throw new UsageError(`${id} ${otherwise}`);
          return shown(await end(await clientFor(options), id, { signal: stop }), options);
        }, options),
      );
  }
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
