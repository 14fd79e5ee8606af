import { type Command, InvalidArgumentError } from 'commander';
import type { Notification, NotificationDelivery } from '../../client/index.js';
import { describePayment, note, paint, print, printJson, table, timeOf } from '../output.js';
import { EXIT, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';

/** The command `notifications`, which lists what a merchant was notified of, with a subcommand that sends one again. */
export function addNotificationsCommand(program: Command): void {
  const notifications = program
    .command('notifications')
    .summary('list the notifications of a payment, and send one again')
    .description(
      'Lists what was sent to your webhook address about a payment, or is to be sent, and what became of it: oldest first.',
    )
    .argument('<id>', 'col_… or pay_…');
  withTarget(notifications)
    .addHelpText(
      'after',
      `
Examples:
  sanaga notifications col_2775d55233b9d4be2a8db3491967ed92
  sanaga notifications resend col_2775d55233b9d4be2a8db3491967ed92 1

Exit code: 0 when they were read.`,
    )
    .action((id: string, options: TargetOptions) => untilDone((stop) => list(id, options, stop), options));

  const resend = notifications
    .command('resend')
    .summary('send a notification again, whatever became of it')
    .description(
      'Sends a notification again, with the same webhook-id and the payment as it is now. No money moves.',
    )
    .argument('<id>', 'col_… or pay_…')
    .argument('<number>', 'the number of the notification in the list', readNumber);
  withTarget(resend)
    .addHelpText(
      'after',
      `
Example:
  sanaga notifications resend col_2775d55233b9d4be2a8db3491967ed92 1

Exit code: 0 when it is on its way, which "sanaga notifications" shows.`,
    )
    .action((id: string, number: number, _: object, command: Command) => {
      const options = command.optsWithGlobals<TargetOptions>();
      return untilDone((stop) => sendAgain(id, number, options, stop), options);
    });
}

async function list(given: string, options: TargetOptions, stop: AbortSignal): Promise<number> {
  const id = paymentId(given);
  const sanaga = await clientFor(options);
  const notifications = await sanaga.notifications.list(id, { signal: stop });
  if (options.json) notifications.forEach(printJson);
  else if (notifications.length > 0) print(notificationTable(notifications));
  else note(`There is no notification of ${id} yet.`);
  return EXIT.ok;
}

function notificationTable(notifications: readonly Notification[]): string {
  const rows = notifications.map(({ number, at, type, delivery }) => [
    String(number),
    timeOf(at),
    type,
    describeDelivery(delivery),
  ]);
  return table(['No.', 'When (Douala)', 'Type', 'Delivery'], rows, ['No.']);
}

function describeDelivery(delivery: NotificationDelivery): string {
  const at = timeOf(delivery.at);
  switch (delivery.status) {
    case 'delivered':
      return `${paint('green', 'delivered')} ${at}`;
    case 'no_address':
      return `${paint('yellow', 'not sent')}: no webhook address was set`;
    case 'due': {
      const { tries = 0, lastError } = delivery;
      const why = lastError === undefined ? '' : `, the last: ${lastError}`;
      const failed = tries === 0 ? '' : `; failed attempts: ${tries}${why}`;
      return `${paint('yellow', 'due')} ${at}${failed}`;
    }
    case 'abandoned':
      return `${paint('red', 'given up')} ${at}${delivery.lastError === undefined ? '' : `: ${delivery.lastError}`}`;
    default:
      return `${delivery.status} ${at}`;
  }
}

async function sendAgain(
  given: string,
  number: number,
  options: TargetOptions,
  stop: AbortSignal,
): Promise<number> {
  const id = paymentId(given);
  const sanaga = await clientFor(options);
  const payment = await sanaga.notifications.resend(id, number, { signal: stop });
  if (options.json) printJson(payment);
  else {
    print(describePayment(payment));
    note(`Notification ${number} is sent again.`);
  }
  return EXIT.ok;
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('It must be the number of the notification.');
  return Number(text);
}
