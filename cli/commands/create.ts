import { type Command, InvalidArgumentError, Option } from 'commander';
import type {
  CollectionParams,
  CreatedPayment,
  Medium,
  Payment,
  PayoutParams,
  PhoneMedium,
  Sanaga,
} from '../../client/index.js';
import { describePayment, note, outcomeCode, print, printJson, underWayCode } from '../output.js';
import { UsageError, untilDone } from '../run.js';
import { clientFor, type TargetOptions, withTarget } from '../target.js';

interface OrderOptions extends TargetOptions {
  readonly email?: string;
  readonly name?: string;
  readonly externalId?: string;
  readonly userId?: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
  readonly wait?: number | true;
}

interface CollectOptions extends OrderOptions {
  readonly phone?: string;
  readonly medium?: PhoneMedium;
  readonly redirectUrl?: string;
  readonly expiresIn?: string;
}

interface PayoutOptions extends OrderOptions {
  readonly phone?: string;
  readonly medium?: Medium;
  readonly approval?: true;
  readonly sendAt?: string;
}

/** Duration of `--wait` without a value, in seconds. */
const WAIT_SECONDS = 300;

/** The commands that create payments: `collect` and `payout`. */
export function addCreateCommands(program: Command): void {
  const collect = program
    .command('collect')
    .summary("collect money, with a link or on the payer's phone")
    .description(
      "Collects money: with a payment link or, if you give --phone, with a request on the payer's phone. Without --wait, " +
        'the command ends as soon as the payment is created.',
    )
    .argument('<amount>', 'in XAF, such as 5000 or 5,000', readAmount)
    .option('--phone <number>', "ask for the money on this phone, and don't make a link")
    .option('--medium <medium>', '"mobile money" or "orange money"; only with --phone')
    .option('--redirect-url <url>', "where the payer's browser goes after paying; not with --phone")
    .option('--expires-in <duration>', 'how long the link can be paid, 10s to 24h; not with --phone');
  withOrderOptions(collect)
    .addHelpText(
      'after',
      help(`  sanaga collect 5000 --external-id order-1001
  sanaga collect 5,000 --phone "677 000 000" --wait
  sanaga collect 5000 --json | jq -r .link`),
    )
    .action((amount: number, options: CollectOptions) =>
      untilDone(
        (stop) =>
          create(options, stop, (sanaga, request) => sanaga.collections.create(toCollection(amount, options), request)),
        options,
      ),
    );

  const payout = program
    .command('payout')
    .summary('send money')
    .description(
      'Sends money to a phone, or to an account at the provider (--medium platform). Without --wait, the command ends as ' +
        'soon as the payment is created. Give an --idempotency-key of your own, such as the number of the refund: then you ' +
        'can run the command again without paying twice, whatever happened.',
    )
    .argument('<amount>', 'in XAF, such as 5000 or 5,000', readAmount)
    .option('--phone <number>', "the recipient's phone")
    .option('--medium <medium>', '"mobile money", "orange money", or "platform" with --email')
    .option('--approval', 'another person has to approve it before it is sent')
    .option('--send-at <time>', 'not before this time: 2026-12-24T08:00:00+01:00');
  withOrderOptions(payout)
    .addHelpText(
      'after',
      help(`  sanaga payout 2500 --phone 677000000 --idempotency-key wages-77
  sanaga payout 90,000 --phone 677000000 --approval --send-at 2026-12-24T08:00:00+01:00
  sanaga payout 2500 --medium platform --email always.paid@example.com --wait`),
    )
    .action((amount: number, options: PayoutOptions) =>
      untilDone(
        (stop) => create(options, stop, (sanaga, request) => sanaga.payouts.create(toPayout(amount, options), request)),
        options,
      ),
    );
}

function withOrderOptions(command: Command): Command {
  return withTarget(
    command
      .option('--email <address>', "the payer's or recipient's e-mail address")
      .option('--name <name>', "the payer's or recipient's name")
      .option('--external-id <id>', 'your own identifier of the payment')
      .option('--user-id <id>', 'your own identifier of the customer')
      .option('--message <text>', 'what the payment is for')
      .option('--metadata <name=value>', 'your own data; can be repeated', readMetadata)
      .option('--idempotency-key <key>', 'with the same key, a repeated command never pays twice', readKey)
      .addOption(waitOption()),
  );
}

export function waitOption(): Option {
  const what = `wait until it is final, for ${WAIT_SECONDS} s if you give no number`;
  return new Option('--wait [seconds]', what).argParser(readSeconds);
}

function help(examples: string): string {
  return `
Examples:
${examples}

Exit code: 0 when the payment was created or, with --wait, has succeeded; 1 when
it failed, now or under an earlier command with its key, or was refused; 2 when
the command line is wrong; 3 when it isn't known, under review or, with --wait,
not final yet.`;
}

/** Creates a payment, shows it and, with `--wait`, waits for its outcome. */
export async function create(
  options: Pick<OrderOptions, keyof TargetOptions | 'idempotencyKey' | 'wait'>,
  stop: AbortSignal,
  send: (
    sanaga: Sanaga,
    request: { readonly signal: AbortSignal; readonly idempotencyKey?: string },
  ) => Promise<CreatedPayment>,
): Promise<number> {
  const { json, idempotencyKey } = options;
  const wait = secondsOf(options.wait);
  const sanaga = await clientFor(options);
  const created = await send(sanaga, {
    signal: stop,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
  const show = (payment: Payment) => (json ? printJson(payment) : print(describePayment(payment)));
  if (created.replayed && !json) note('An earlier request with this Idempotency-Key created the payment.');
  if (wait === undefined) {
    show(created);
    if (created.held?.for.includes('approval') && !json)
      note(`\nAnother person has to approve it: sanaga approve ${created.id}`);
    return underWayCode(created, json);
  }
  // The link is needed before the outcome can come.
  if (!json) show(created);
  if (!json && !created.final) note(`\nWaiting for the outcome, at most ${wait} s…`);
  const outcome = created.final
    ? created
    : await sanaga.payments.waitForOutcome(created.id, { timeoutMs: wait * 1_000, signal: stop });
  if (json) show({ ...outcome, idempotencyKey: created.idempotencyKey } as CreatedPayment);
  else if (!created.final) print(describePayment(outcome));
  return outcomeCode(outcome);
}

function toCollection(amount: number, options: CollectOptions): CollectionParams {
  const { phone, medium, name, redirectUrl, expiresIn } = options;
  if (phone === undefined) {
    if (medium !== undefined || name !== undefined) throw new UsageError('--medium and --name need --phone');
    return {
      method: 'link',
      amount,
      ...common(options),
      ...(redirectUrl !== undefined && { redirectUrl }),
      ...(expiresIn !== undefined && { expiresIn }),
    };
  }
  if (redirectUrl !== undefined || expiresIn !== undefined) {
    throw new UsageError('--redirect-url and --expires-in are for links: leave --phone out');
  }
  return { method: 'direct', amount, phone, ...common(options), ...recipient(options) };
}

function toPayout(amount: number, options: PayoutOptions): PayoutParams {
  const { phone, medium, name, approval, sendAt } = options;
  return {
    amount,
    ...common(options),
    ...(approval && { approval }),
    ...(sendAt !== undefined && { sendAt }),
    ...(phone !== undefined && { phone }),
    ...(medium !== undefined && { medium }),
    ...(name !== undefined && { name }),
  };
}

function recipient<Of extends Medium>({ medium, name }: { readonly medium?: Of; readonly name?: string }) {
  return { ...(medium !== undefined && { medium }), ...(name !== undefined && { name }) };
}

function common({ email, externalId, userId, message, metadata }: OrderOptions) {
  return {
    ...(email !== undefined && { email }),
    ...(externalId !== undefined && { externalId }),
    ...(userId !== undefined && { userId }),
    ...(message !== undefined && { message }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** The value of `--wait`. */
export function secondsOf(wait: number | true | undefined): number | undefined {
  return wait === true ? WAIT_SECONDS : wait;
}

/** Whole XAF, with or without separators: `5000`, `5,000`, `5 000`. */
export function readAmount(text: string): number {
  if (!/^(\d+|\d{1,3}([, _]\d{3})+)$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number of XAF, such as 5000 or 5,000.');
  }
  return Number(text.replace(/[, _]/g, ''));
}

export function readKey(text: string): string {
  if (!/^[!-~]([ -~]{0,253}[!-~])?$/.test(text)) {
    throw new InvalidArgumentError('It must have 1 to 255 printable ASCII characters, and no space at its ends.');
  }
  return text;
}

function readSeconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of seconds.');
  return Number(text);
}

function readMetadata(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [name = '', ...value] = text.split('=');
  if (name === '' || value.length === 0) throw new InvalidArgumentError('It must be name=value.');
  return { ...before, [name]: value.join('=') };
}
