import type { Command } from 'commander';
import type { Balance, PaymentKind } from '../../client/index.js';
import { note, print, printJson, table, timeOf, xaf } from '../output.js';
import { EXIT, untilDone } from '../run.js';
import { clientFor, type TargetOptions, withTarget } from '../target.js';
import { readAmount } from './create.js';

interface BalanceOptions extends TargetOptions {
  readonly below?: number;
}

const SERVICES: readonly PaymentKind[] = ['collection', 'payout'];

/** The command `balance`: shows the balances at the provider. */
export function addBalanceCommand(program: Command): void {
  const command = program
    .command('balance')
    .summary('show the balances at the provider')
    .description("Shows your services' balances at the provider. The key needs the scope balance, approve or review.");
  command.addArgument(command.createArgument('[service]', 'this one alone').choices(SERVICES));
  command.option('--below <amount>', 'exit with 1 when one is below this amount, in XAF', readAmount);
  withTarget(command)
    .addHelpText(
      'after',
      `
Examples:
  sanaga balance
  sanaga balance payout --json | jq .balance
  sanaga balance payout --below 500000 || echo "top it up"

Exit code: 0 when it was read; with --below, 1 when it is below; 3 when the
provider can't say at the moment.`,
    )
    .action((service: PaymentKind | undefined, options: BalanceOptions) =>
      untilDone((stop) => balance(service === undefined ? SERVICES : [service], options, stop), options),
    );
}

async function balance(services: readonly PaymentKind[], options: BalanceOptions, stop: AbortSignal): Promise<number> {
  const sanaga = await clientFor(options);
  const balances: Balance[] = [];
  for (const service of services) balances.push(await sanaga.balance.retrieve({ service }, { signal: stop }));
  if (options.json) balances.forEach(printJson);
  else {
    const rows = balances.map(({ service, serviceName, balance: amount, asOf }) => [
      service,
      serviceName,
      xaf(amount),
      timeOf(asOf),
    ]);
    print(table(['Service', 'Name', 'Balance', 'As of (Douala)'], rows, ['Balance']));
  }
  const { below } = options;
  const low = below === undefined ? [] : balances.filter(({ balance: amount }) => amount < below);
  for (const { service } of low) note(`The balance of ${service} is low: below ${xaf(below ?? 0)}.`);
  return low.length > 0 ? EXIT.failed : EXIT.ok;
}
