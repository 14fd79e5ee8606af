import { type Command, InvalidArgumentError } from 'commander';
import type {
  Notification,
  NotificationDelivery,
  Sanaga,
  UnacknowledgedNotification,
  UnacknowledgedPage,
  UnacknowledgedParams,
} from '../../client/index.js';
import { amountOf, describePayment, note, paint, print, printJson, table, timeOf } from '../output.js';
import { EXIT, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';

/**
 * The command `notifications`, which lists a payment's, with subcommands for operators' lists and for sending one
 * again.
 */
export function addNotificationsCommand(program: Command): void {
  const notifications = program
    .command('notifications')
    .summary('list notifications to merchants, and send one again')
    .description(
      "Lists a payment's notifications to your webhook address, sent and pending, with their results, oldest first.",
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

  addUnacknowledged(notifications, 'due', {
    summary: 'list what merchants have not acknowledged yet (operators)',
    none: 'No notification is due.',
    read: (sanaga, params, signal) => sanaga.notifications.listDue(params, { signal }),
  });
  addUnacknowledged(notifications, 'given-up', {
    summary: 'list notifications that were given up after 72 hours, and not sent again (operators)',
    none: 'No notification was given up, or each was sent again.',
    read: (sanaga, params, signal) => sanaga.notifications.listAbandoned(params, { signal }),
  });

  const resend = notifications
    .command('resend')
    .summary('send a notification again, whatever became of it')
    .description('Sends a notification again, with the same webhook-id and the payment as it is now. No money moves.')
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

interface UnacknowledgedList {
  readonly summary: string;
  readonly none: string;
  readonly read: (sanaga: Sanaga, params: UnacknowledgedParams, signal: AbortSignal) => Promise<UnacknowledgedPage>;
}

/** A subcommand that lists notifications that merchants have not acknowledged, of all pages. */
function addUnacknowledged(notifications: Command, name: string, { summary, none, read }: UnacknowledgedList): void {
  const command = notifications
    .command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}, the oldest first.`);
  withTarget(command)
    .addHelpText(
      'after',
      `
Exit code: 0 when the list is empty, and 1 when it isn't.`,
    )
    .action((_: object, given: Command) => {
      const options = given.optsWithGlobals<TargetOptions>();
      return untilDone(async (stop) => {
        const sanaga = await clientFor(options);
        const found: UnacknowledgedNotification[] = [];
        let cursor: string | undefined;
        do {
          const page = await read(sanaga, cursor === undefined ? {} : { cursor }, stop);
          found.push(...page.data);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        if (options.json) found.forEach(printJson);
        else if (found.length > 0) print(unacknowledgedTable(found));
        else note(none);
        if (found.length > 0) note('To send one again: sanaga notifications resend <payment> <No.>');
        return found.length > 0 ? EXIT.failed : EXIT.ok;
      }, options);
    });
}

function unacknowledgedTable(found: readonly UnacknowledgedNotification[]): string {
  const head = ['Happened (Douala)', 'Payment', 'Merchant', 'Amount', 'No.', 'Type', 'Delivery'];
  const rows = found.map(({ payment, notification: { number, at, type, delivery } }) => [
    timeOf(at),
    payment.id,
    payment.merchant,
    amountOf(payment),
    String(number),
    type,
    describeDelivery(delivery),
  ]);
  return table(head, rows, ['Amount', 'No.']);
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

async function sendAgain(given: string, number: number, options: TargetOptions, stop: AbortSignal): Promise<number> {
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
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be the number of the notification.');
  return Number(text);
}
