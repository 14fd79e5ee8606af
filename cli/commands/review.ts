import { type Command, InvalidArgumentError } from 'commander';
import type { Force, Objection, Payment, PaymentReview, ResolveParams } from '../../client/index.js';
import { ask } from '../ask.js';
import { amountOf, describePayment, kindOf, note, print, printJson, table, timeOf } from '../output.js';
import { readListed } from '../read-listed.js';
import { EXIT, UsageError, untilDone } from '../run.js';
import { clientFor, paymentId, type TargetOptions, withTarget } from '../target.js';

interface DecisionOptions extends TargetOptions {
  readonly number: number;
  readonly why: string;
  readonly transId?: string;
  readonly force?: Force;
  readonly yes?: boolean;
}

type Action = ResolveParams['action'];

/** Each decision's effect, and the question that the operator confirms. */
const DECISIONS: Readonly<
  Record<Action, { readonly summary: string; readonly question: (payment: Payment) => string }>
> = {
  resend: {
    summary: 'send the payment to the provider once more: it has no transaction for it',
    question: (payment) =>
      `Send ${amountOf(payment)} once more (${kindOf(payment)} ${payment.id})? If the provider has taken it before, it is paid twice.`,
  },
  fail: {
    summary: 'call the payment FAILED: no money has moved, and none will',
    question: (payment) =>
      `Call ${payment.id} FAILED, so that ${amountOf(payment)} (${kindOf(payment)}) counts as not moved? Its merchant may pay again.`,
  },
  match: {
    summary: "match the payment with one of the provider's transactions",
    question: (payment) =>
      `Match this transaction with ${payment.id} (${kindOf(payment)})? The order is ${amountOf(payment)}. With a transaction of another amount, which takes force, that amount counts as moved.`,
  },
};

/** The command `review`, which lists payments for an operator to decide, with a subcommand for each decision. */
export function addReviewCommand(program: Command): void {
  const review = program
    .command('review')
    .summary('list payments in REVIEW, and decide on them (operators)')
    .description(
      'Lists the payments that an operator has to look into, oldest first. The key needs the scope review to decide. Read ' +
        'docs/operators.md before you do: a decision can move money.',
    );
  withTarget(review)
    .addHelpText(
      'after',
      `
Examples:
  sanaga review
  sanaga review match pay_5e0f… --number 1 --trans-id PbyCuFjOcKUumnR0 --why "found in the portal"
  sanaga review fail pay_5e0f… --number 1 --why "the provider confirms that there is none"

Exit code: 0 when the list is empty, or the decision was carried out; 1 when
there are payments in REVIEW, or the decision was refused; 3 when it isn't known,
or the decision waits for a second person.`,
    )
    .action((options: TargetOptions) => untilDone((stop) => list(options, stop), options));

  for (const [action, { summary }] of Object.entries(DECISIONS) as [Action, (typeof DECISIONS)[Action]][]) {
    const decision = review
      .command(action)
      .summary(summary)
      .description(`Decides on a payment in REVIEW: ${summary}. You are asked to confirm it, with the amount.`)
      .argument('<id>', 'col_… or pay_…')
      .requiredOption('--number <number>', 'the number of the review that you decide on', readNumber)
      .requiredOption('--why <text>', 'your reason, which is kept with the payment and shown to its merchant')
      .option(
        '--force <objections>',
        'overrule what a refusal has named, such as too_early,no_answer; all: whatever comes up',
        readForce,
      )
      .option('--yes', "don't ask");
    if (action === 'match') decision.requiredOption('--trans-id <id>', "the provider's id of the transaction");
    withTarget(decision).action((id: string, _: object, command: Command) => {
      // Options of `review` itself, such as --url, can come before the decision.
      const options = command.optsWithGlobals<DecisionOptions>();
      return untilDone((stop) => decide(action, id, options, stop), options);
    });
  }
  addReject(review);
}

/** The command `review reject`. */
function addReject(review: Command): void {
  const reject = review
    .command('reject')
    .summary('void a decision that waits for a second person, or to be sent')
    .description(
      "Voids the decision that waits for a second person: your own, to withdraw it, or somebody else's. Or takes back a resend that waits to be sent.",
    )
    .argument('<id>', 'pay_…')
    .requiredOption('--number <number>', 'the number of the review that it was made on', readNumber)
    .requiredOption('--why <text>', 'your reason, which operators see');
  withTarget(reject).action((given: string, _: object, command: Command) => {
    const options = command.optsWithGlobals<DecisionOptions>();
    return untilDone(async (stop) => {
      const sanaga = await clientFor(options);
      const rejection = { review: options.number, why: options.why };
      const after = await sanaga.payments.rejectDecision(paymentId(given), rejection, { signal: stop });
      if (options.json) printJson(after);
      else print(describePayment(after));
      return after.review?.proposed === undefined ? EXIT.ok : EXIT.unknown;
    }, options);
  });
}

async function list(options: TargetOptions, stop: AbortSignal): Promise<number> {
  const sanaga = await clientFor(options);
  const payments: Payment[] = [];
  const unreadable: string[] = [];
  const all = sanaga.payments.list(
    { status: 'REVIEW', limit: 100 },
    { signal: stop, onUnreadable: (id) => unreadable.push(id) },
  );
  const ids: string[] = [];
  for await (const { id } of all) ids.push(id);
  // A list has the newest first; what has waited longest is decided first.
  ids.reverse();
  // A list has neither the review nor the reason.
  for (const { id, payment } of await readListed(sanaga, ids, stop)) {
    if (payment === undefined) unreadable.push(id);
    else if (payment.status === 'REVIEW') payments.push(payment);
  }

  if (options.json) payments.forEach(printJson);
  else if (payments.length > 0) {
    print(reviewTable(payments));
    note(NEXT);
  } else note('No payment is in REVIEW.');
  for (const id of unreadable) note(`${id} may be in REVIEW, but can't be read at the moment: read it later.`);
  if (unreadable.length > 0) return EXIT.unknown;
  return payments.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Advice after a list. */
const NEXT = `
Before you decide on one, look at it ("sanaga get <payment>", "sanaga events <payment>") and at the provider's portal. Then:
  sanaga review match <payment> --number <review> --trans-id <transaction> --why <reason>   a transaction is this payment's
  sanaga review fail <payment> --number <review> --why <reason>                             no money has moved, and none will
  sanaga review resend <payment> --number <review> --why <reason>                           there is none: send it once more`;

function reviewTable(payments: readonly Payment[]): string {
  const head = ['Since (Douala)', 'Payment', 'Kind', 'Amount', 'Review', 'Decide from (Douala)', 'Merchant', 'Reason'];
  const rows = payments.map((payment) => [
    payment.review === undefined ? '' : timeOf(payment.review.since),
    payment.id,
    kindOf(payment),
    amountOf(payment),
    String(payment.review?.number ?? ''),
    payment.review === undefined ? '' : timeOf(payment.review.decideFrom),
    payment.merchant ?? '',
    payment.reason ?? '',
  ]);
  return table(head, rows, ['Amount', 'Review']);
}

async function decide(action: Action, given: string, options: DecisionOptions, stop: AbortSignal): Promise<number> {
  const id = paymentId(given);
  const sanaga = await clientFor(options);
  const { number, why, force, transId } = options;
  const decision = {
    review: number,
    why,
    ...(force && { force }),
    ...(action === 'match' ? { action, transId: transId ?? '' } : { action }),
  };
  if (!options.yes) {
    const payment = await sanaga.payments.retrieve(id, {}, { signal: stop });
    note(describePayment(payment));
    if (payment.review === undefined) {
      note(`\n${id} is not in REVIEW: there is nothing to decide.`);
      return EXIT.failed;
    }
    if (payment.review.number !== number) {
      throw new UsageError(
        `the review is number ${payment.review.number} by now, and not ${number}: there is new evidence. Look at it again.`,
      );
    }
    const question = [DECISIONS[action].question(payment), ...circumstances(payment.review, options)].join('\n');
    if (!(await confirmed(question, stop))) {
      note('Nothing was decided.');
      return EXIT.failed;
    }
  }
  const after = await sanaga.payments.resolve(id, decision, { signal: stop });
  if (options.json) printJson(after);
  else print(describePayment(after));
  const proposed = after.review?.proposed;
  if (proposed?.action === action && proposed.why === why) {
    note('This decision takes two people: it is kept, and carried out when somebody else has made the same.');
    return EXIT.unknown;
  }
  if (after.status !== 'REVIEW') return EXIT.ok;
  if (after.review?.number !== number) {
    note(`It is under review again, as number ${after.review?.number}: look at what is new.`);
    return EXIT.unknown;
  }
  note(`The provider hasn't answered yet: it isn't known whether this is carried out. See "sanaga get ${id}".`);
  return EXIT.unknown;
}

/** Lists the rest that the operator confirms: the transaction, the overruled objections, the second person's part. */
function circumstances({ secondPerson, proposed }: PaymentReview, { transId, force }: DecisionOptions): string[] {
  const overruled = force === true ? 'whatever comes up' : force && [...force].join(', ');
  return [
    transId && `The transaction is ${transId}.`,
    overruled && `You overrule ${overruled}.`,
    proposed &&
      `${proposed.by} has decided already (${proposed.action}): the same by you is carried out, and another decision takes its place.`,
    secondPerson &&
      !proposed &&
      'It takes two people: yours is kept, and carried out when somebody else has made the same.',
  ].filter((line) => typeof line === 'string' && line !== '') as string[];
}

/** @throws UsageError where nobody can be asked. */
async function confirmed(question: string, stop: AbortSignal): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(question, 'Confirm it with --yes', stop, '[y/N]'));
}

/** The API says which objections there are. */
function readForce(text: string): Force {
  if (text === 'all') return true;
  return text.split(',').map((objection) => objection.trim()) as readonly Objection[];
}

function readNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be the number of the review.');
  return Number(text);
}
